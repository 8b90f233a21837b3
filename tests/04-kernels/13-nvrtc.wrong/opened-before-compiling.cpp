// Rejected with: "a failed compilation is not stored"
// Opens the file before compiling. If the compiler fails, an empty file remains.
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

  const std::string own = path + "." + std::to_string(getpid());
  std::ofstream file(own, std::ios::binary);
  const std::string image = compile();
  if (image.empty()) return image;
  file << image;
  file.close();
  if (!file || std::rename(own.c_str(), path.c_str()) != 0) std::remove(own.c_str());
  return image;
}
