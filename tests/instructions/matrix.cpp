// Runs the matrix cases on the device at hand: a kernel and a warp for each.
#include "tests/instructions/matrix.hpp"

#include "tests/catch.hpp"
#include "tests/instructions/device.hpp"

namespace {

using namespace instructions;

std::string kernel(const MatrixCase& c, std::size_t index) {
  return ".visible .entry k" + std::to_string(index) +
         "(.param .u64 in, .param .u64 out) {\n.reg .b64 %in, %out, %at;\n.reg .b32 %lane;\nld.param.u64 %in, [in];\n"
         "ld.param.u64 %out, [out];\nmov.u32 %lane, %tid.x;\n" +
         c.text + "ret;\n}\n";
}

// The first byte that differs, in words; an empty text if none does.
std::string run(const MatrixCase& c, CUfunction function) {
  CUdeviceptr in = 0, out = 0;
  CU_CHECK(cuMemAlloc(&in, c.in.size() + 1));
  CU_CHECK(cuMemAlloc(&out, c.out.size()));
  CU_CHECK(cuMemsetD8(out, 0, c.out.size()));
  if (!c.in.empty()) CU_CHECK(cuMemcpyHtoD(in, c.in.data(), c.in.size()));
  void* parameters[] = {&in, &out};
  CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  std::vector<u8> got(c.out.size());
  CU_CHECK(cuMemcpyDtoH(got.data(), out, got.size()));
  CU_CHECK(cuMemFree(out));
  CU_CHECK(cuMemFree(in));
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k] == c.out[k]) continue;
    return "byte " + std::to_string(k) + " is " + std::to_string(got[k]) + ", not " + std::to_string(c.out[k]);
  }
  return "";
}

void check(const std::vector<MatrixCase>& cases) {
  const Device device;
  const int architecture = device.architecture();
  for (const MatrixCase& c : cases) {
    std::string log;
    const CUmodule module = load(header(Device::ptx_version(87), architecture) + kernel(c, 0), log);
    CAPTURE(c.text);
    if (module == nullptr) {
      if (architecture >= 90 && !too_new(log)) CHECK(log == "");
      continue;  // an older device has not all of them, nor has an older driver
    }
    CUfunction function = nullptr;
    CU_CHECK(cuModuleGetFunction(&function, module, "k0"));
    CHECK(run(c, function) == "");
    CU_CHECK(cuModuleUnload(module));
  }
}

}  // namespace

TEST_CASE("mma multiplies the matrices that the manual's fragments hold") { check(mma_cases()); }
TEST_CASE("mma.sp multiplies a matrix that is stored without its zeros") { check(sparse_cases()); }
TEST_CASE("wmma loads, multiplies and stores matrices in every layout") { check(wmma_cases()); }
TEST_CASE("ldmatrix, stmatrix and movmatrix put each element in its lane") { check(move_cases()); }
