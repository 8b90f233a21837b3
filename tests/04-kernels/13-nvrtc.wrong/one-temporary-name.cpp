// Rejected with: "two processes never write to the same file"
// Renames, but all processes use one temporary name: one of them can rename a half-written file of another.
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
  const std::string own = path + ".tmp";
  std::ofstream file(own, std::ios::binary);
  file << image;
  file.close();
  if (!file || std::rename(own.c_str(), path.c_str()) != 0) std::remove(own.c_str());
  return image;
}
