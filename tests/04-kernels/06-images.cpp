// Checks the learner's load_first() (exercise of 04-kernels/06-images).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

CUresult load_first(CUmodule* module, const std::vector<std::string>& images, std::string* log);

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// The text of 06-images.cu's image, with every `from` replaced.
std::string ptx(const std::string& from = "", const std::string& to = "") {
  std::string text = read(cu::image("check.ptx"));
  if (from.empty()) return text;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

const std::string kGood = ptx();
const std::string kOtherName = ptx("answer", "reply");
const std::string kFuture = ptx(".version ", ".version 9");
const std::string kMisspelt = ptx("st.global", "stt.global");

struct Loading {
  cu::Context context;
  cu::Module module;
  std::string log = "as before";

  CUresult load(const std::vector<std::string>& images) { return load_first(&module.handle, images, &log); }

  bool has(const char* name) {
    CUfunction function;
    return module.handle != nullptr && cuModuleGetFunction(&function, module.handle, name) == CUDA_SUCCESS;
  }

  // Machine code that cannot run on this device, whichever it is: the lesson's build made it for several.
  std::string for_another_gpu() {
    int major;
    CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, context.device));
    const std::string file = major == 7 ? "kernels.sm_80.cubin" : "kernels.sm_75.cubin";
    return read(cu::image("../../../../04-kernels/06-images/" + file));
  }
};

}  // namespace

MAY_BE_REFUSED(cuModuleLoadData, (CUmodule * module, const void* image), (module, image))
MAY_BE_REFUSED(cuModuleLoadDataEx,
               (CUmodule * module, const void* image, unsigned int count, CUjit_option* options, void** values),
               (module, image, count, options, values))

TEST_CASE_METHOD(Loading, "of two images that fit, the first is loaded") {
  CHECK(load({kGood, kOtherName}) == CUDA_SUCCESS);
  CHECK(has("answer"));
  CHECK(log.empty());
}

TEST_CASE_METHOD(Loading, "machine code for another GPU is skipped") {
  const std::string cubin = for_another_gpu();
  REQUIRE(!cubin.empty());
  CHECK(load({cubin, kGood}) == CUDA_SUCCESS);
  CHECK(has("answer"));
}

TEST_CASE_METHOD(Loading, "PTX for a newer driver is skipped") {
  CHECK(load({kFuture, kGood}) == CUDA_SUCCESS);
  CHECK(has("answer"));
  CHECK(log.empty());
}

TEST_CASE_METHOD(Loading, "an image with a mistake ends the search") {
  CHECK(load({kFuture, kMisspelt, kGood}) == CUDA_ERROR_INVALID_PTX);
  CHECK_FALSE(has("answer"));
}

TEST_CASE_METHOD(Loading, "the compiler's message about the mistake is in the log") {
  load({kMisspelt});
  CAPTURE(log);
  CHECK(log.find("stt") != std::string::npos);
}

TEST_CASE_METHOD(Loading, "if no image fits, the last error code is returned") {
  CHECK(load({for_another_gpu(), kFuture}) == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CHECK(load({kFuture, for_another_gpu()}) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(load({}) == CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_CASE_METHOD(Loading, "if no image ended the search with an error, the log is empty") {
  load({kFuture});
  CHECK(log == "");
  log = "as before";
  load({});
  CHECK(log == "");
}

TEST_CASE_METHOD(Loading, "a failure with another cause also ends the search") {
  for (const char* call : {"cuModuleLoadData", "cuModuleLoadDataEx"}) {
    const Refusal refusal(call);
    const CUresult result = load({kGood, kGood});
    INFO(refusal.message() << " for the first of two images, and load_first returned " << cu::name(result));
    if (refusal.met()) CHECK(result == kRefused);
    if (module.handle != nullptr) CU_CHECK(cuModuleUnload(std::exchange(module.handle, nullptr)));
  }
}
