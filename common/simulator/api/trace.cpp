// CUDASIM_TRACE=api: each driver call on one line of stderr, with its arguments by name, its result, and the calling
// thread's context stack after it. Threads are numbered in the order of their first calls, and indented by that.
#include "common/simulator/api/guard.hpp"
#include "common/simulator/state/thread.hpp"

#include <string.h>

#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace cudasim {

void print_number(std::string& out, long long value) { out += std::to_string(value); }
void print_unsigned(std::string& out, unsigned long long value) { out += std::to_string(value); }

void print_real(std::string& out, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  out += text;
}

void print_pointer(std::string& out, const void* value) {
  if (value == nullptr) {
    out += "null";
    return;
  }
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(value));
  out += text;
}

void print_text(std::string& out, const char* value) {
  if (value == nullptr) {
    out += "null";
    return;
  }
  constexpr std::size_t kShown = 40;
  std::string_view text(value, ::strnlen(value, kShown + 1));
  out += '"';
  for (const char c : text.substr(0, kShown)) out += c == '\n' ? ' ' : c;
  out += text.size() > kShown ? "…\"" : "\"";
}

namespace {

// The next of the names that the macro wrote: "ctx, flags".
std::string_view next_name(std::string_view& names) {
  const auto comma = names.find(',');
  const std::string_view name = names.substr(0, comma);
  names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  while (!names.empty() && names.front() == ' ') names.remove_prefix(1);
  return name;
}

}  // namespace

void trace_call(const char* function, const char* names, const Argument* arguments, std::size_t count,
                CUresult result) {
  const Thread& thread = this_thread();
  std::string line((thread.number - 1) * 4, ' ');
  line += std::to_string(thread.number) + ": " + function + "(";
  std::string_view rest = names;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) line += ", ";
    line += next_name(rest);
    line += "=";
    arguments[i].print(line, arguments[i].value, result == CUDA_SUCCESS);
  }
  line += ") -> ";
  line += error_name(result);
  line += "  [";
  for (const CUcontext context : thread.stack) {
    if (line.back() != '[') line += ' ';
    print_pointer(line, context);
  }
  line += "]\n";
  std::fputs(line.c_str(), stderr);
}

}  // namespace cudasim
