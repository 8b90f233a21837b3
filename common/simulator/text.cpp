#include "common/simulator/text.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cudasim {
namespace {

// Breaks a sentence at blanks so that it fits the width. The lines after the first are indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t kWidth = 100;
  std::string out;
  std::size_t column = indent, begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    if (column > indent && column + (end - begin) > kWidth) {
      if (!out.empty() && out.back() == ' ') out.pop_back();
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    out.append(text, begin, end - begin);
    column += end - begin + 1;
    if (end < text.size()) {
      if (text[end] == '\n') {
        out += "\n" + std::string(indent, ' ');
        column = indent;
      } else {
        out += ' ';
      }
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string row(const char* title, const std::string& text) {
  char head[16];
  std::snprintf(head, sizeof head, "  %-9s", title);
  return head + wrapped(text, 11) + "\n";
}

// __cxa_demangle reads a plain name as a type: "rd" is "double restrict".
std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

namespace {

// `text` without what is between `open` and `close`, but for an ellipsis.
std::string without(const std::string& text, char open, char close) {
  std::string rest;
  u32 depth = 0;
  for (const char c : text) {
    if (c == close && depth != 0 && --depth == 0) rest += "…";
    if (depth == 0) rest += c;
    if (c == open) ++depth;
  }
  return depth == 0 ? rest : text;
}

}  // namespace

std::string readable(const std::string& name) {
  constexpr std::size_t kLong = 120;
  std::string text = demangled(name);
  if (text.size() <= kLong || text == name) return text;
  text = without(text, '<', '>');
  if (text.size() <= kLong) return text;
  const std::size_t parameters = text.find('(', text.rfind('>') == std::string::npos ? 0 : text.rfind('>'));
  return parameters == std::string::npos ? text : text.substr(0, parameters) + "(…)";
}

std::string coordinates(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string members(const char* one, u32 set) {
  std::string text = one;
  if (__builtin_popcount(set) != 1) text += "s";
  const char* separator = " ";
  for (u32 i = 0; i < 32; ++i) {
    if ((set >> i & 1) == 0) continue;
    u32 last = i;
    while (last + 1 < 32 && (set >> (last + 1) & 1) != 0) ++last;
    text += separator + std::to_string(i);
    if (last == i + 1) text += ", " + std::to_string(last);
    if (last > i + 1) text += " to " + std::to_string(last);
    separator = ", ";
    i = last;
  }
  return text;
}

std::string plain_name(std::string name) {
  for (const char* end : {"_ptsz", "_ptds", "_v2", "_v3", "_v4"}) {
    const std::size_t at = name.rfind(end);
    if (at != std::string::npos && at != 0 && name.size() - at == std::strlen(end))
      return plain_name(name.substr(0, at));
  }
  return name;
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace cudasim
