// Runs one instruction on lists of operands, a thread for each: for tests of special values.
#pragma once
#include "tests/catch.hpp"
#include "tests/instructions/case.hpp"
#include "tests/instructions/device.hpp"

namespace instructions {

// The registers of an operand's and of the result's size: %a, %b, %c and %d.
struct Shape {
  int operands;
  int bytes;  // of each operand
  int result_bytes;
};

// `body` makes %d of %a, %b and %c. The operands of thread i are in[i * operands …]; what comes back is by thread.
inline std::vector<u64> results_of(const Shape& shape, const std::string& body, const std::vector<u64>& in,
                                   int version = 78, int target = 90, const std::string& before = "") {
  constexpr unsigned kBlock = 128;
  const auto type = [](int bytes) { return ".b" + std::to_string(8 * bytes); };
  const unsigned count = unsigned(in.size()) / unsigned(shape.operands);
  std::string text =
      header(version, target) + before + ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {\n";
  text += ".reg " + type(shape.bytes) + " %a, %b, %c; .reg " + type(shape.result_bytes) + " %d;\n";
  text +=
      ".reg .b64 %in, %out, %w, %x<4>; .reg .b32 %t, %u, %n, %r<4>; .reg .b16 %h<4>; .reg .pred %p;\n"
      "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];\n"
      "mov.u32 %t, %ctaid.x; mov.u32 %u, %ntid.x; mul.lo.u32 %t, %t, %u; mov.u32 %u, %tid.x; add.u32 %t, %t, %u;\n"
      "setp.ge.u32 %p, %t, %n; @%p ret;\n";
  text += "mul.wide.u32 %w, %t, " + std::to_string(8 * shape.operands) + "; add.u64 %in, %in, %w;\n";
  const char* names[] = {"%a", "%b", "%c"};
  for (int i = 0; i < shape.operands; ++i)
    text += "ld.global" + type(shape.bytes) + " " + names[i] + ", [%in+" + std::to_string(8 * i) + "];\n";
  text += "mul.wide.u32 %w, %t, 8; add.u64 %out, %out, %w;\n" + body + "\nst.global" + type(shape.result_bytes) +
          " [%out], %d;\nret;\n}\n";
  CAPTURE(text);
  std::string log;
  const CUmodule module = load(text, log);
  CHECK(log == "");
  std::vector<u64> results(count);
  if (module == nullptr) return results;
  CUfunction kernel = nullptr;
  CU_CHECK(cuModuleGetFunction(&kernel, module, "k"));
  CUdeviceptr from = 0, to = 0;
  CU_CHECK(cuMemAlloc(&from, in.size() * 8));
  CU_CHECK(cuMemAlloc(&to, count * 8));
  CU_CHECK(cuMemcpyHtoD(from, in.data(), in.size() * 8));
  CU_CHECK(cuMemsetD8(to, 0, count * 8));
  unsigned n = count;
  void* parameters[] = {&from, &to, &n};
  CU_CHECK(cuLaunchKernel(kernel, (count + kBlock - 1) / kBlock, 1, 1, kBlock, 1, 1, 0, nullptr, parameters, nullptr));
  CU_CHECK(cuMemcpyDtoH(results.data(), to, count * 8));
  CU_CHECK(cuMemFree(from));
  CU_CHECK(cuMemFree(to));
  CU_CHECK(cuModuleUnload(module));
  return results;
}

inline std::string hex_of(u64 x) { return (std::ostringstream() << std::hex << x).str(); }

}  // namespace instructions
