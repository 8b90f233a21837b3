// Rejected with: "another process finds the whole image or none"
// The file is visible from its first byte on, so a reader can get a part of it.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

std::string image_of(const std::string& folder, const std::string& key, const std::function<std::string()>& compile) {
  const std::string path = folder + "/" + key + ".ptx";
  std::ifstream kept(path, std::ios::binary);
  std::ostringstream content;
  if (kept && content << kept.rdbuf()) return content.str();

  const std::string image = compile();
  if (image.empty()) return image;
  std::ofstream(path, std::ios::binary) << image;
  return image;
}
