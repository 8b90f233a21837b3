// Rejected with: "a failed compilation is not stored"
// A failed compilation leaves an empty file, so this source is never compiled again.
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
  const std::string own = path + "." + std::to_string(getpid());
  std::ofstream(own, std::ios::binary) << image << (image.empty() ? "failed" : "");
  std::rename(own.c_str(), path.c_str());
  return image;
}
