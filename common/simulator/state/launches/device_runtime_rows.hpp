// The functions of the device runtime as rows of a table: device_runtime.cpp implements them, device_runtime_ptx.cpp
// writes a PTX function for each.
#pragma once
#include "common/simulator/types.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cudasim::device_runtime {

struct Caller;  // a thread in a call

constexpr u32 kMostArgumentBytes = 96;

// A parameter: its place behind those before it.
struct Parameter {
  u32 offset, size, align;
  bool array;  // of bytes, as PTX passes a struct
};

struct Row {
  const char* name;  // behind "cuda" or "__cudaCDP2"
  u32 result_bytes;
  bool takes_stream;
  std::vector<Parameter> parameters;
  u64 (*call)(Caller& caller, const std::byte* arguments);
};

const std::vector<Row>& rows();

// The names and sentences of all errors, each with a 0 behind it: the contents of the global variable kErrorTable.
const std::string& error_words_text();
constexpr const char* kErrorTable = "cudasim_errors";

}  // namespace cudasim::device_runtime
