// Rejected with: "the folder may be on another disk than the temporary files"
// rename works only within one file system. If /tmp is another one, nothing is ever stored.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
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
  char own[] = "/tmp/image-XXXXXX";
  const int opened = mkstemp(own);
  if (opened >= 0) close(opened);
  std::ofstream file(own, std::ios::binary);
  file << image;
  file.close();
  if (!file || std::rename(own, path.c_str()) != 0) std::remove(own);
  return image;
}
