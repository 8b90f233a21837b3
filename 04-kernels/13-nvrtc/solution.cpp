// Keep compiled images on disk.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

// Returns the image for a key: the content of the file <folder>/<key>.ptx if the file exists and is not empty, and
// otherwise the result of compile(), which is then stored there. A failed compilation (an empty image) is returned and
// not stored. Other processes may read the file at any time; they find the whole image or none. No other file remains
// in the folder. If the folder cannot be written, the image is returned anyway.
std::string image_of(const std::string& folder, const std::string& key, const std::function<std::string()>& compile) {
  const std::string path = folder + "/" + key + ".ptx";
  std::ifstream kept(path, std::ios::binary);
  std::ostringstream content;
  if (kept && content << kept.rdbuf()) return content.str();  // `<<` fails if it writes no bytes

  const std::string image = compile();
  if (image.empty()) return image;
  const std::string own = path + "." + std::to_string(getpid());
  std::ofstream file(own, std::ios::binary);
  file << image;
  file.close();
  if (!file || std::rename(own.c_str(), path.c_str()) != 0) std::remove(own.c_str());
  return image;
}
