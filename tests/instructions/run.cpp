// Runs every case on the device at hand, simulated or real: hundreds of small kernels to a module, 512 threads each,
// the later warps partly masked.
#include "tests/catch.hpp"
#include "tests/instructions/chains.hpp"
#include "tests/instructions/convert.hpp"
#include "tests/instructions/device.hpp"
#include "tests/instructions/open.hpp"
#include "tests/instructions/video.hpp"

#include <algorithm>
#include <memory>

namespace {

using namespace instructions;

constexpr std::size_t kCasesInModule = 300;
constexpr u32 kColumn = kThreads * 8;  // bytes of one operand: 8 a thread

std::string bits_type(const Kind& k) { return k.register_bits == 1 ? ".pred" : ".b" + std::to_string(k.register_bits); }

// A kernel (in, out): loads the sources, runs the instruction if the last column of `in` is set, stores the
// destinations.
std::string kernel(const Case& c, std::size_t index) {
  const Operands o = operands(c);
  std::ostringstream s;
  s << ".visible .entry k" << index << "(.param .u64 in, .param .u64 out) {\n"
    << "  .reg .b64 %in, %out, %offset;\n  .reg .b32 %thread, %word;\n  .reg .pred %go;\n"
    << "  mov.u32 %thread, %tid.x;\n  mul.wide.u32 %offset, %thread, 8;\n"
    << "  ld.param.u64 %in, [in];\n  add.u64 %in, %in, %offset;\n"
    << "  ld.param.u64 %out, [out];\n  add.u64 %out, %out, %offset;\n";
  std::vector<std::string> results, arguments;
  for (std::size_t k = 0; k < o.destinations.size(); ++k) {
    const Kind& d = o.destinations[k];
    const std::string name = is_text(c) ? "%d" : "%d" + std::to_string(k);
    s << "  .reg " << bits_type(d) << " " << name << ";\n";
    if (d.register_bits == 1)
      s << "  setp.eq.u32 " << name << ", 0, 0;\n";
    else if (d.register_bits == 8)  // which mov does not write
      s << "  mov.b32 %word, " << (kUntouched & mask(8)) << ";\n  cvt.u8.u32 " << name << ", %word;\n";
    else
      s << "  mov.b" << d.register_bits << " " << name << ", " << i64(kUntouched & mask(d.register_bits)) << ";\n";
    results.push_back(name + (d.selector.empty() ? "" : "." + d.selector));
  }
  for (std::size_t k = 0; k < o.sources.size(); ++k) {
    const Kind& a = o.sources[k];
    const std::string name = "%a" + std::to_string(k), place = "[%in+" + std::to_string(kColumn * k) + "]";
    if (!a.literal.empty()) {
      arguments.push_back(a.literal);
      continue;
    }
    s << "  .reg " << bits_type(a) << " " << name << ";\n";
    if (a.register_bits == 1)
      s << "  ld.global.b32 %word, " << place << ";\n  setp.ne.u32 " << name << ", %word, 0;\n";
    else
      s << "  ld.global.b" << a.register_bits << " " << name << ", " << place << ";\n";
    arguments.push_back(name + (a.selector.empty() ? "" : "." + a.selector));
  }
  s << "  ld.global.b32 %word, [%in+" << kColumn * o.sources.size() << "];\n  setp.ne.u32 %go, %word, 0;\n";
  if (is_text(c)) {
    s << "  @!%go bra done;\n  " << c.form << "\ndone:\n";
  } else {
    s << "  @%go " << c.form << " ";
    for (std::size_t k = 0; k < results.size(); ++k) s << (k ? "|" : "") << results[k];
    for (const std::string& a : arguments) s << ", " << a;
    s << ";\n";
  }
  for (std::size_t k = 0; k < o.destinations.size(); ++k) {
    const Kind& d = o.destinations[k];
    const std::string name = is_text(c) ? "%d" : "%d" + std::to_string(k),
                      place = "[%out+" + std::to_string(kColumn * k) + "]";
    if (d.register_bits == 1)
      s << "  selp.b32 %word, 1, 0, " << name << ";\n  st.global.b32 " << place << ", %word;\n";
    else
      s << "  st.global.b" << d.register_bits << " " << place << ", " << name << ";\n";
  }
  s << "  ret;\n}\n";
  return s.str();
}

std::string hex(u64 x) {
  std::ostringstream s;
  s << "0x" << std::hex << x;
  return s.str();
}

// What the device made of one case: the first disagreement, or an empty text.
std::string judge(const Case& c, const std::vector<std::vector<u64>>& in, const u64* out) {
  const Operands o = operands(c);
  for (u32 thread = 0; thread < kThreads; ++thread) {
    std::vector<u64> arguments;
    for (const auto& column : in) arguments.push_back(column[thread]);
    if (!executes(thread) && !guard_holds(c)) continue;
    const u64 want = c.reference(arguments.data());
    u32 shift = 0;
    for (std::size_t k = 0; k < o.destinations.size(); ++k) {
      const u32 width = o.destinations[k].register_bits;
      const u64 got = out[k * kThreads + thread];
      const u64 expected = (executes(thread) ? want >> shift : kUntouched) & mask(width);
      shift += width;
      if (executes(thread) ? c.same(got, expected) : got == expected) continue;
      std::string text = c.form + " (" + c.operands + ")";
      for (const u64 a : arguments) text += " " + hex(a);
      return text + " = " + hex(got) + ", not " + hex(expected) +
             (executes(thread) ? "" : ": it was not to be touched");
    }
  }
  return "";
}

// Runs some cases in one module. False if the module does not load; then the log says why.
bool run(const Case* cases, std::size_t count, int architecture, std::string& log) {
  std::string text = header(Device::ptx_version(83), architecture);
  for (std::size_t k = 0; k < count; ++k) text += kernel(cases[k], k);
  const CUmodule module = load(text, log);
  if (module == nullptr) return false;
  std::vector<std::vector<std::vector<u64>>> in;
  std::vector<u64> host_in;
  std::vector<std::size_t> start;
  for (std::size_t k = 0; k < count; ++k) {
    in.push_back(inputs(cases[k]));
    start.push_back(host_in.size());
    for (const auto& column : in.back()) host_in.insert(host_in.end(), column.begin(), column.end());
    for (u32 thread = 0; thread < kThreads; ++thread) host_in.push_back(executes(thread));
  }
  std::vector<u64> host_out(count * 2 * kThreads);
  CUdeviceptr device_in = 0, device_out = 0;
  CU_CHECK(cuMemAlloc(&device_in, host_in.size() * 8));
  CU_CHECK(cuMemAlloc(&device_out, host_out.size() * 8));
  CU_CHECK(cuMemcpyHtoD(device_in, host_in.data(), host_in.size() * 8));
  CU_CHECK(cuMemsetD8(device_out, 0, host_out.size() * 8));
  for (std::size_t k = 0; k < count; ++k) {
    CUfunction function = nullptr;
    CU_CHECK(cuModuleGetFunction(&function, module, ("k" + std::to_string(k)).c_str()));
    CUdeviceptr from = device_in + start[k] * 8, to = device_out + k * 2 * kColumn;
    void* parameters[] = {&from, &to};
    CU_CHECK(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, parameters, nullptr));
  }
  CU_CHECK(cuMemcpyDtoH(host_out.data(), device_out, host_out.size() * 8));
  for (std::size_t k = 0; k < count; ++k) {
    const std::string wrong = judge(cases[k], in[k], host_out.data() + k * 2 * kThreads);
    CHECK(wrong == "");
  }
  CU_CHECK(cuMemFree(device_out));
  CU_CHECK(cuMemFree(device_in));
  CU_CHECK(cuModuleUnload(module));
  return true;
}

void check(const Cases& cases) {
  const Device device;
  const int architecture = device.architecture();
  for (std::size_t k = 0; k < cases.size(); k += kCasesInModule) {
    const std::size_t count = std::min(kCasesInModule, cases.size() - k);
    std::string log;
    if (run(&cases[k], count, architecture, log)) continue;
    // One of them does not load. On an older device that may be; which, the cases on their own tell.
    for (std::size_t n = k; n < k + count; ++n) {
      if (run(&cases[n], 1, architecture, log) || architecture < 90) continue;
      CAPTURE(cases[n].form, cases[n].operands);
      CHECK(log == "");
    }
  }
}

}  // namespace

TEST_CASE("integer instructions") { check(integer_cases()); }
TEST_CASE("carry chains and packing") { check(chain_cases()); }
TEST_CASE("floating-point instructions") { check(float_cases()); }
TEST_CASE("half-precision instructions") { check(half_cases()); }
TEST_CASE("comparisons and selections") { check(compare_cases()); }
TEST_CASE("conversions") { check(convert_cases()); }
TEST_CASE("video instructions") { check(video_cases()); }

TEST_CASE("a program's own rounding mode does not reach its kernels") {
  std::fesetround(FE_UPWARD);
  const Device device;
  std::string log;
  const CUmodule module = load(
      header(60, 60) +
          ".visible .entry k(.param .u64 out) {\n.reg .b64 %out, %at;\n.reg .b32 %x, %y;\nld.param.u64 %out, [out];\n"
          "mov.u32 %x, %tid.x;\nmul.wide.u32 %at, %x, 4;\nadd.u64 %out, %out, %at;\n"
          "cvt.rn.f32.u32 %y, %x;\nmul.f32 %y, %y, 0f00000000;\nadd.f32 %y, %y, 0f3F800000;\n"
          "add.f32 %y, %y, 0f33000000;\nst.global.b32 [%out], %y;\nret;\n}\n",
      log);
  REQUIRE(log == "");
  CUfunction function = nullptr;
  CU_CHECK(cuModuleGetFunction(&function, module, "k"));
  CUdeviceptr out = 0;
  std::vector<float> sums(kThreads);
  CU_CHECK(cuMemAlloc(&out, kThreads * 4));
  void* parameters[] = {&out};
  CU_CHECK(cuLaunchKernel(function, 64, 1, 1, kThreads, 1, 1, 0, nullptr, parameters, nullptr));
  CU_CHECK(cuMemcpyDtoH(sums.data(), out, kThreads * 4));
  std::fesetround(FE_TONEAREST);
  CHECK(std::all_of(sums.begin(), sums.end(), [](float sum) { return sum == 1.0f; }));
  CU_CHECK(cuMemFree(out));
  CU_CHECK(cuModuleUnload(module));
}
