// Rejected with: "only the image remains in the folder"
// Links the temporary file to the final name, so the temporary file of every process remains.
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
  std::ofstream(own, std::ios::binary) << image;
  if (link(own.c_str(), path.c_str()) != 0) return image;
  return image;
}
