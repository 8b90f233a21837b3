// Keep compiled images on disk.
#include <functional>
#include <string>

// The image of this key: what lies in the file <folder>/<key>.ptx, if that is not empty, or else what compile()
// returns, which is then kept there. A failed compilation (an empty image) is returned and not kept. Other processes
// may look for the file at any moment: they find the whole image or none, and nothing else stays in the folder. If the
// folder cannot be written, the image is returned all the same.
std::string image_of(const std::string& folder, const std::string& key, const std::function<std::string()>& compile) {
  // Your code here.
  (void)folder, (void)key, (void)compile;
  return "";
}
