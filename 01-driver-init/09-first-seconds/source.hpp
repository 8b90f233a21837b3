// The PTX of a service, in parts.
#pragma once
#include <string>
#include <vector>

struct Source {
  std::string header;                // .version, .target, .address_size
  std::vector<std::string> kernels;  // one text each, in any order
};
