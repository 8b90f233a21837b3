// Checks the learner's link_files() (exercise of 04-kernels/14-linking).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <string>
#include <vector>

CUmodule link_files(const std::vector<std::string>& files, std::string* log);

namespace {

const std::string kKernel = cu::image("check.ptx");  // from 14-linking.cu
const std::string kSquare = cu::image("../../../../04-kernels/14-linking/square.ptx");
const std::string kRoot = cu::image("../../../../04-kernels/14-linking/root.ptx");

int created = 0, destroyed = 0;  // linkers

// A context, and the results of linking in it.
struct Linking {
  cu::Context context;
  std::string log = "as before";

  // Links the files, and returns curve(x) + 1 as computed by their kernel.
  float value(const std::vector<std::string>& files, float x) {
    CUmodule module = link_files(files, &log);
    REQUIRE(module != nullptr);
    CUfunction kernel;
    CU_CHECK(cuModuleGetFunction(&kernel, module, "curve_of"));
    cu::Memory memory(sizeof x);
    CU_CHECK(cuMemcpyHtoD(memory.address, &x, sizeof x));
    void* arguments[] = {&memory.address};
    CU_CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    CU_CHECK(cuMemcpyDtoH(&x, memory.address, sizeof x));
    CU_CHECK(cuModuleUnload(module));
    return x;
  }
};

}  // namespace

// The solution's calls come through these functions.
CUresult CUDAAPI cuLinkCreate(unsigned int count, CUjit_option* options, void** values, CUlinkState* linker) {
  if (Refusal::meets("cuLinkCreate")) return kRefused;
  ++created;
  return DRIVERS(cuLinkCreate)(count, options, values, linker);
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState linker) {
  ++destroyed;
  return DRIVERS(cuLinkDestroy)(linker);
}

MAY_BE_REFUSED(cuLinkComplete, (CUlinkState linker, void** image, std::size_t* bytes), (linker, image, bytes))
MAY_BE_REFUSED(cuModuleLoadData, (CUmodule * module, const void* image), (module, image))
MAY_BE_REFUSED(cuModuleLoadDataEx,
               (CUmodule * module, const void* image, unsigned int count, CUjit_option* options, void** values),
               (module, image, count, options, values))

TEST_CASE_METHOD(Linking, "two files become one module") {
  CHECK(value({kKernel, kSquare}, 9) == 82);
  CHECK(value({kKernel, kRoot}, 9) == 4);
  CHECK(log.empty());
}

TEST_CASE_METHOD(Linking, "the order of the files does not matter") { CHECK(value({kSquare, kKernel}, 3) == 10); }

TEST_CASE_METHOD(Linking, "an undefined function is reported") {
  CHECK_THROWS_AS(link_files({kKernel}, &log), cu::Error);
}

TEST_CASE_METHOD(Linking, "the log names the undefined function") {
  CHECK_THROWS_AS(link_files({kKernel}, &log), cu::Error);
  CAPTURE(log);
  CHECK(log.find("curve") != std::string::npos);
}

TEST_CASE_METHOD(Linking, "a missing file is reported") {
  CHECK_THROWS_AS(link_files({kKernel, cu::image("no-such-file.ptx")}, &log), cu::Error);
}

TEST_CASE_METHOD(Linking, "the linker is destroyed after a success") {
  created = destroyed = 0;
  CHECK(value({kKernel, kSquare}, 3) == 10);
  CHECK(created == 1);
  CHECK(destroyed == created);
}

TEST_CASE_METHOD(Linking, "the linker is destroyed after a failure") {
  created = destroyed = 0;
  CHECK_THROWS_AS(link_files({kKernel}, &log), cu::Error);
  CHECK(created == 1);
  CHECK(destroyed == created);
}

TEST_CASE_METHOD(Linking, "every call is checked, and the linker is destroyed when one fails") {
  created = destroyed = 0;
  const auto solution = [&] { cuModuleUnload(link_files({kKernel, kSquare}, &log)); };
  CHECK(ignored_failure({"cuLinkCreate", "cuLinkComplete", "cuModuleLoadData", "cuModuleLoadDataEx"}, solution) == "");
  CHECK(destroyed == created);
}
