// A machine with several CUDA installations, as the loader sees it.
#pragma once
#include <map>
#include <string>
#include <vector>

using Folders = std::vector<std::string>;

// A program or a library.
struct Binary {
  std::vector<std::string> needs;  // sonames, "libcudnn.so.9" for example
  Folders rpath, runpath;
};

struct Machine {
  std::map<std::string, Binary> files;       // the libraries, by path: "/opt/cuda/lib/libcudnn.so.9"
  Folders ld_library_path;
  std::map<std::string, std::string> cache;  // ldconfig's: soname to path
};

// The path of each library that a program loads, by soname; "" for a library that is not found.
std::map<std::string, std::string> loaded(const Machine& machine, const Binary& program);
