// The device runtime as a module of PTX: a function for each row, which passes its arguments to the simulator, and the
// kernels that copy and fill memory.
#include "common/simulator/exec/builtins.hpp"
#include "common/simulator/state/launches/children.hpp"
#include "common/simulator/state/launches/device_runtime.hpp"
#include "common/simulator/state/launches/device_runtime_rows.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace cudasim {

using namespace device_runtime;

namespace {

// Kernels that no module lists (kRuntimeKernels): byte `at` of `bytes`, then as many further on as there are threads.
// NAME is one's, PARAMETERS, LOAD and STORE its own part.
constexpr const char* kOwnKernel = R"(
.visible .entry NAME(PARAMETERS.param .u64 width, .param .u64 height, .param .u64 bytes)
{
  .reg .b64 %width, %height, %bytes, %at, %step, %column, %row, %slice, %place, %number;
  .reg .b32 %x, %y, %z;
  .reg .b16 %byte;
  .reg .pred %more;
  ld.param.u64 %width, [width];
  ld.param.u64 %height, [height];
  ld.param.u64 %bytes, [bytes];
  mov.u32 %x, %ntid.x;
  mov.u32 %y, %ctaid.x;
  mov.u32 %z, %tid.x;
  mul.wide.u32 %at, %x, %y;
  cvt.u64.u32 %step, %z;
  add.u64 %at, %at, %step;
  mov.u32 %y, %nctaid.x;
  mul.wide.u32 %step, %x, %y;
LOOP:
  setp.lt.u64 %more, %at, %bytes;
  @!%more ret;
  rem.u64 %column, %at, %width;
  div.u64 %row, %at, %width;
  div.u64 %slice, %row, %height;
  rem.u64 %row, %row, %height;
BODY  add.u64 %at, %at, %step;
  bra LOOP;
}
)";

// %place in memory, of which the kernel has parameters THING, THING_pitch and THING_slice.
constexpr const char* kPlace = R"(  ld.param.u64 %number, [THING];
  add.u64 %place, %number, %column;
  ld.param.u64 %number, [THING_pitch];
  mad.lo.u64 %place, %row, %number, %place;
  ld.param.u64 %number, [THING_slice];
  mad.lo.u64 %place, %slice, %number, %place;
)";
constexpr const char* kMemory = ".param .u64 THING, .param .u64 THING_pitch, .param .u64 THING_slice, ";

std::string filled_in(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string own_kernel(const char* name, const std::string& parameters, const std::string& body) {
  return filled_in(filled_in(filled_in(kOwnKernel, "NAME", name), "PARAMETERS", parameters), "BODY", body);
}

std::string own_kernels() {
  const auto to = [](const char* text) { return filled_in(text, "THING", "to"); };
  const auto from = [](const char* text) { return filled_in(text, "THING", "from"); };
  return own_kernel("cudasim_copy", to(kMemory) + from(kMemory),
                    from(kPlace) + "  ld.u8 %byte, [%place];\n" + to(kPlace) + "  st.u8 [%place], %byte;\n") +
         own_kernel("cudasim_fill", to(kMemory) + ".param .u64 value, ",
                    to(kPlace) + "  ld.param.u64 %number, [value];\n  st.u8 [%place], %number;\n");
}

std::string number(u64 value) { return std::to_string(value); }

// A function that hands its arguments on, as bytes one behind the other, with the row's number.
std::string as_ptx(std::size_t index, const std::string& name) {
  const Row& row = rows()[index];
  const std::string result = ".b" + number(row.result_bytes * 8);
  std::string text = ".visible .func (.param " + result + " result) " + name + "(";
  std::string pass;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const Parameter& p = row.parameters[i];
    const std::string parameter = "p" + number(i);
    const u32 word = p.array ? p.align : p.size;
    text += i == 0 ? "" : ", ";
    text += p.array ? ".param .align " + number(p.align) + " .b8 " + parameter + "[" + number(p.size) + "]"
                    : ".param .b" + number(p.size * 8) + " " + parameter;
    for (u32 at = 0; at < p.size; at += word) {
      const std::string type = ".b" + number(word * 8) + " ", with = word == 8 ? "%wide" : "%word";
      pass += "  ld.param" + type + with + ", [" + parameter + "+" + number(at) + "];\n";
      pass += "  st.param" + type + "[arguments+" + number(p.offset + at) + "], " + with + ";\n";
    }
  }
  text += ")\n{\n  .reg .b64 %wide;\n  .reg .b32 %word;\n";
  text += "  .param .b32 row;\n  .param .align 8 .b8 arguments[" + number(kMostArgumentBytes) + "];\n";
  text += "  .param .b64 answer;\n  st.param.b32 [row], " + number(index) + ";\n" + pass;
  text += "  call.uni (answer), " + std::string(kDeviceRuntimeCall) + ", (row, arguments);\n";
  text += "  ld.param.b64 %wide, [answer];\n";
  if (row.result_bytes == 8) return text + "  st.param.b64 [result], %wide;\n  ret;\n}\n";
  return text + "  cvt.u32.u64 %word, %wide;\n  st.param.b32 [result], %word;\n  ret;\n}\n";
}

std::string head() {
  const std::string& words = error_words_text();
  std::string bytes;
  for (const char each : words) bytes += number(static_cast<unsigned char>(each)) + ",";
  bytes.pop_back();
  return ".version 7.0\n.target sm_70\n.address_size 64\n.global .b8 " + std::string(kErrorTable) + "[" +
         number(words.size()) + "] = {" + bytes + "};\n.visible .global .align 16 .b8 " + kChildTable + "[" +
         number(kPlaces * sizeof(ChildPlace)) + "];\n.extern .func (.param .b64 answer) " + kDeviceRuntimeCall +
         "(.param .b32 row, .param .align 8 .b8 arguments[" + number(kMostArgumentBytes) + "]);\n";
}

}  // namespace

// The compilers of CUDA 12 and later write names of the second kind.
std::string device_runtime_module(const std::function<bool(const std::string& name)>& wanted) {
  std::string functions;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    for (const char* prefix : {"cuda", "__cudaCDP2"}) {
      for (const char* suffix : {"", "_ptsz"}) {
        const std::string name = std::string(prefix) + rows()[i].name + suffix;
        if ((*suffix == 0 || rows()[i].takes_stream) && wanted(name)) functions += as_ptx(i, name);
      }
    }
  }
  return functions.empty() ? "" : head() + own_kernels() + functions;
}

}  // namespace cudasim
