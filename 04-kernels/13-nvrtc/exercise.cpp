// Keep compiled images on disk.
#include <functional>
#include <string>

// Returns the image for a key: the content of the file <folder>/<key>.ptx if the file exists and is not empty, and
// otherwise the result of compile(), which is then stored there. A failed compilation (an empty image) is returned and
// not stored. Other processes may read the file at any time; they find the whole image or none. No other file remains
// in the folder. If the folder cannot be written, the image is returned anyway.
std::string image_of(const std::string& folder, const std::string& key, const std::function<std::string()>& compile) {
  // Your code here.
  (void)folder, (void)key, (void)compile;
  return "";
}
