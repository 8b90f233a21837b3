// The kernels of a service: 200 copies of the one in kernels.cu, as the text of one PTX image.
#pragma once
#include "common/image.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace service {

constexpr int kKernels = 200;

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// PTX contains a float as the hexadecimal digits of its bits.
inline std::string as_ptx(float number) {
  unsigned bits;
  std::memcpy(&bits, &number, sizeof bits);
  char text[12];
  std::snprintf(text, sizeof text, "0f%08X", bits);
  return text;
}

// Kernel number k is called opk, and computes the square root of k² · x.
inline std::string ptx(int kernels = kKernels) {
  const std::string one = read(cu::image("kernels.ptx"));
  const std::size_t begin = one.find(".visible"), end = one.rfind('}') + 1;
  std::string all = one.substr(0, begin);
  for (int k = 1; k <= kernels; ++k) {
    const std::string named = replaced(one.substr(begin, end - begin), "op", "op" + std::to_string(k));
    all += replaced(named, as_ptx(1234567), as_ptx(static_cast<float>(k * k))) + "\n";
  }
  return all + one.substr(end);  // the name of the source file, which the line numbers refer to
}

}  // namespace service
