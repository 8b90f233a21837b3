// Rejected with: "an image that cannot be written completely is returned, and no file remains"
// If the disk is full, every process leaves another incomplete file.
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
  const std::string own = path + "." + std::to_string(getpid());
  std::ofstream file(own, std::ios::binary);
  file << image;
  file.close();
  if (file) std::rename(own.c_str(), path.c_str());
  return image;
}
