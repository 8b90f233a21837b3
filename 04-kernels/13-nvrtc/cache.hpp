// Images on disk, by key. Any number of processes may use one folder at the same time.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// Everything that the image depends on, in one number (FNV-1a), as a file name. A zero byte ends each part.
inline std::string key_of(const char* source, const std::vector<const char*>& options, int major, int minor) {
  unsigned long long hash = 14695981039346656037ull;
  auto add = [&hash](const std::string& part) {
    for (const char c : part + '\0') hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  };
  add(source);
  for (const char* option : options) add(option);
  add(std::to_string(major) + "." + std::to_string(minor));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", hash);
  return text;
}

struct Cache {
  std::string folder;

  std::string path(const std::string& key) const { return folder + "/" + key + ".ptx"; }

  // The image of this key; empty if there is none.
  std::string find(const std::string& key) const {
    std::ifstream file(path(key), std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
  }

  // Writes under a name that no other process uses, then renames: a reader sees the whole image or none. If two
  // processes store the same image, the second replaces the first with an identical file.
  void store(const std::string& key, const std::string& image) const {
    const std::string own = path(key) + "." + std::to_string(getpid());
    std::ofstream file(own, std::ios::binary);
    file << image;
    file.close();
    if (!file || std::rename(own.c_str(), path(key).c_str()) != 0)
      std::remove(own.c_str());  // a failure to store is not an error
  }
};
