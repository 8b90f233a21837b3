// Scalar video instructions: results of an H200 (driver 580), one for each form and choice of destination; where it
// differs from the manual, one that shows the difference. Other GPUs may compose them differently and are not compared.
#include "tests/catch.hpp"
#include "tests/instructions/device.hpp"

#include <cstdint>

namespace {

using u32 = std::uint32_t;

struct Answer {
  const char* text;  // of %d0, which holds nothing before, and %a0 to %a2
  u32 in[3], out;
};
constexpr Answer kAnswers[] = {
#include "tests/instructions/video_answers.inc"
};

}  // namespace

TEST_CASE("scalar video instructions return what an H200 returns") {
  const instructions::Device device;
  constexpr std::size_t kInModule = 200;
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 4 * kInModule));
  for (std::size_t first = 0; first < std::size(kAnswers); first += kInModule) {
    const std::size_t count = std::min(kInModule, std::size(kAnswers) - first);
    std::string text = instructions::header(63, 75), log;
    for (std::size_t k = 0; k < count; ++k) {
      text += ".visible .entry k" + std::to_string(k) +
              "(.param .u32 a, .param .u32 b, .param .u32 c, .param .u64 out) {\n.reg .b32 %a0, %a1, %a2, %d0;\n"
              ".reg .b64 %out;\nld.param.u32 %a0, [a];\nld.param.u32 %a1, [b];\nld.param.u32 %a2, [c];\n"
              "ld.param.u64 %out, [out];\n" +
              std::string(kAnswers[first + k].text) + "\nst.global.u32 [%out], %d0;\nret;\n}\n";
    }
    const CUmodule module = instructions::load(text, log);
    REQUIRE(log == "");
    for (std::size_t k = 0; k < count; ++k) {
      CUfunction function = nullptr;
      CU_CHECK(cuModuleGetFunction(&function, module, ("k" + std::to_string(k)).c_str()));
      Answer answer = kAnswers[first + k];
      CUdeviceptr at = out + 4 * k;
      void* parameters[] = {&answer.in[0], &answer.in[1], &answer.in[2], &at};
      CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    }
    std::vector<u32> got(count);
    CU_CHECK(cuMemcpyDtoH(got.data(), out, 4 * count));
    CU_CHECK(cuModuleUnload(module));
    for (std::size_t k = 0; k < count && (device.simulated() || device.architecture() == 90); ++k) {
      const Answer& answer = kAnswers[first + k];
      CAPTURE(answer.text, answer.in[0], answer.in[1], answer.in[2]);
      CHECK(got[k] == answer.out);
    }
  }
  CU_CHECK(cuMemFree(out));
}
