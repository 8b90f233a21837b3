// The cache of compiled PTX in a folder, and modules whose kernels are translated when they are wanted. What driver 580
// does was asked of an H200. Every load is in a process of its own, as it is for a service that is started again.
#include "tests/conformance/scenario.hpp"

#include <filesystem>
#include <functional>

namespace fs = std::filesystem;

namespace {

// Two kernels that share a variable.
const std::string kText = R"(.version 7.0
.target sm_75
.address_size 64
.global .align 4 .u32 shared_by_both = 5;
.visible .entry writes(.param .u64 out) {
  .reg .u32 %r;
  ld.global.u32 %r, [shared_by_both];
  add.u32 %r, %r, 2;
  st.global.u32 [shared_by_both], %r;
  ret;
}
.visible .entry reads(.param .u64 out) {
  .reg .u64 %a;
  .reg .u32 %r;
  ld.param.u64 %a, [out];
  ld.global.u32 %r, [shared_by_both];
  st.global.u32 [%a], %r;
  ret;
}
)";

const std::string kWithACall = kText + R"(
.func (.reg .u32 twice) doubled(.reg .u32 once) { add.u32 twice, once, once; ret; }
.visible .entry calls(.param .u64 out) {
  .reg .u64 %a;
  .reg .u32 %r;
  ld.param.u64 %a, [out];
  mov.u32 %r, 21;
  call.uni (%r), doubled, (%r);
  st.global.u32 [%a], %r;
  ret;
}
)";

struct Folder {
  fs::path path = fs::temp_directory_path() / ("jit-cache-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string cache() const { return path / "cache"; }
};

struct Kept {
  int files = 0;
  std::uintmax_t bytes = 0;
};

Kept kept_in(const fs::path& folder) {
  Kept kept;
  if (!fs::exists(folder)) return kept;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    ++kept.files;
    kept.bytes += entry.file_size();
  }
  return kept;
}

// Calls a function in a child of this process, in which cuInit has not been called, and returns what the function does.
int in_a_process(const std::vector<conformance::Variable>& variables, const std::function<int()>& function) {
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [name, value] : variables) setenv(name, value, 1);
    _exit(function());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

CUresult load(CUmodule* module, const std::string& text, float* milliseconds = nullptr) {
  CUjit_option option = CU_JIT_WALL_TIME;
  void* value = nullptr;
  const CUresult result = cuModuleLoadDataEx(module, text.c_str(), 1, &option, &value);
  if (milliseconds != nullptr) std::memcpy(milliseconds, &value, sizeof *milliseconds);
  return result;
}

constexpr int kCompiled = 1, kFromCache = 2, kFailed = 3;

// Whether the text was compiled or came from the cache, in a new process with these variables.
int start(const std::vector<conformance::Variable>& variables, const std::string& text) {
  return in_a_process(variables, [&] {
    conformance::context();
    CUmodule module = nullptr;
    float milliseconds = -1;
    if (load(&module, text, &milliseconds) != CUDA_SUCCESS) return kFailed;
    return milliseconds == 0 ? kFromCache : kCompiled;
  });
}

unsigned launched(CUmodule module, const char* name) {
  CUfunction kernel = nullptr;
  CUdeviceptr out = 0;
  unsigned number = 0;
  CU_CHECK(cuModuleGetFunction(&kernel, module, name));
  CU_CHECK(cuMemAlloc(&out, sizeof number));
  CU_CHECK(cuMemsetD32(out, 0, 1));
  void* arguments[] = {&out};
  CU_CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(&number, out, sizeof number));
  CU_CHECK(cuMemFree(out));
  return number;
}

}  // namespace

FRESH_CASE("The next process finds in the cache's folder what one has compiled", "[module]") {
  const Folder folder;
  const std::string path = folder.cache() + "/made/for/it";
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}}, kText) == kCompiled);
  const Kept first = kept_in(path);
  CHECK(first.files > 0);
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}}, kText) == kFromCache);
  CHECK(kept_in(path).files == first.files);
}

FRESH_CASE("Another text is compiled, even if only a comment differs", "[module]") {
  const Folder folder;
  const std::string path = folder.cache();
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}}, kText) == kCompiled);
  const Kept first = kept_in(path);
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}}, "// another\n" + kText) == kCompiled);
  CHECK(kept_in(path).files == first.files + 1);
}

FRESH_CASE("Nothing is kept if the cache is disabled, too small, or cannot be written", "[module]") {
  const Folder folder;
  const std::string path = folder.cache(), below_a_file = "/proc/version/cache";
  for (int again = 0; again < 2; ++again) {
    CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}, {"CUDA_CACHE_DISABLE", "1"}}, kText) == kCompiled);
    CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}, {"CUDA_CACHE_MAXSIZE", "100"}}, kText) == kCompiled);
    CHECK(start({{"CUDA_CACHE_PATH", below_a_file.c_str()}}, kText) == kCompiled);
    CHECK(start({{"CUDA_CACHE_PATH", ""}}, kText) == kCompiled);
  }
  CHECK(kept_in(path).files <= 1);  // an index, perhaps
}

FRESH_CASE("The cache's variables count as cuInit found them", "[module]") {
  const Folder folder;
  const std::string path = folder.cache(), later = path + "-later";
  const int ended = in_a_process({{"CUDA_CACHE_PATH", path.c_str()}}, [&] {
    CU_CHECK(cuInit(0));
    setenv("CUDA_CACHE_PATH", later.c_str(), 1);
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    conformance::context();
    CUmodule module = nullptr;
    return load(&module, kText) == CUDA_SUCCESS ? kCompiled : kFailed;
  });
  CHECK(ended == kCompiled);
  CHECK(kept_in(path).files > 0);
  CHECK(kept_in(later).files == 0);
}

FRESH_CASE("The oldest entries make room for new ones", "[module]") {
  const Folder folder;
  const std::string path = folder.cache();
  constexpr std::uintmax_t kMost = 20000, kIndex = 4096;
  const std::string most = std::to_string(kMost);
  for (int i = 0; i < 30; ++i) {
    const std::string text = "// " + std::to_string(i) + std::string(1000, '.') + "\n" + kText;
    CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}, {"CUDA_CACHE_MAXSIZE", most.c_str()}}, text) == kCompiled);
  }
  const Kept kept = kept_in(path);
  CHECK(kept.files > 1);
  CHECK(kept.bytes <= kMost + kIndex);
  const std::string last = "// 29" + std::string(1000, '.') + "\n" + kText;
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}, {"CUDA_CACHE_MAXSIZE", most.c_str()}}, last) == kFromCache);
}

FRESH_CASE("An entry that is damaged is compiled again", "[module]") {
  const Folder folder;
  const std::string path = folder.cache();
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}}, kText) == kCompiled);
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().filename() != "index") {
      fs::resize_file(entry.path(), entry.file_size() / 2);
    }
  }
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}}, kText) == kCompiled);
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}}, kText) == kFromCache);
}

FRESH_CASE("What comes from the cache computes the same, loaded lazily or eagerly", "[module]") {
  const Folder folder;
  const std::string path = folder.cache();
  for (const std::string& text : {kText, kWithACall}) {
    for (const char* mode : {"LAZY", "LAZY", "EAGER"}) {  // the first of them compiles
      const int wrong = in_a_process({{"CUDA_CACHE_PATH", path.c_str()}, {"CUDA_MODULE_LOADING", mode}}, [&] {
        conformance::context();
        CUmodule module = nullptr;
        CU_CHECK(load(&module, text));
        CUmoduleLoadingMode loading{};
        CU_CHECK(cuModuleGetLoadingMode(&loading));
        int failures = (loading == CU_MODULE_EAGER_LOADING) != (std::strcmp(mode, "EAGER") == 0);
        failures += launched(module, "writes") != 0;
        failures += launched(module, "reads") != 7;
        if (text != kText) failures += launched(module, "calls") != 42;
        CUfunction none = nullptr;
        failures += cuModuleGetFunction(&none, module, "neither") != CUDA_ERROR_NOT_FOUND;
        CUdeviceptr variable = 0;
        std::size_t bytes = 0;
        failures += cuModuleGetGlobal(&variable, &bytes, module, "shared_by_both") != CUDA_SUCCESS || bytes != 4;
        unsigned count = 0, number = 0;
        CU_CHECK(cuMemcpyDtoH(&number, variable, sizeof number));
        CU_CHECK(cuModuleGetFunctionCount(&count, module));
        failures += number != 7;
        failures += count != (text == kText ? 2u : 3u);
        return failures;
      });
      CAPTURE(mode, text == kText);
      CHECK(wrong == 0);
    }
  }
}

FRESH_CASE("What the linker has made is loaded lazily and computes the same", "[module]") {
  conformance::context();
  CUlinkState linker = nullptr;
  void* image = nullptr;
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &linker));
  CU_CHECK(cuLinkAddData(linker, CU_JIT_INPUT_PTX, const_cast<char*>(kText.c_str()), kText.size() + 1, "text", 0,
                         nullptr, nullptr));
  CU_CHECK(cuLinkComplete(linker, &image, nullptr));
  CUmodule module = nullptr;
  ANSWERS(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  CU_CHECK(cuLinkDestroy(linker));
  CHECK(launched(module, "writes") == 0);
  CHECK(launched(module, "reads") == 7);
  CUfunction kernels[2] = {};
  CU_CHECK(cuModuleEnumerateFunctions(kernels, 2, module));
  CHECK(kernels[0] != kernels[1]);
}

FRESH_CASE("A function that was only enumerated is loaded when it is launched, or by name", "[module]",
           {"CUDA_CACHE_DISABLE", "1"}) {
  conformance::context();
  CUmodule module = nullptr;
  CU_CHECK(load(&module, kText));
  CUfunction kernels[2] = {}, named = nullptr;
  CU_CHECK(cuModuleEnumerateFunctions(kernels, 2, module));
  const auto loaded = [](CUfunction kernel) {
    CUfunctionLoadingState state{};
    CU_CHECK(cuFuncIsLoaded(&state, kernel));
    return state == CU_FUNCTION_LOADING_STATE_LOADED;
  };
  CHECK_FALSE(loaded(kernels[0]));
  CHECK_FALSE(loaded(kernels[1]));
  int registers = 0;
  CU_CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernels[0]));
  CHECK_FALSE(loaded(kernels[0]));
  ANSWERS(cuFuncLoad(kernels[0]), CUDA_SUCCESS);
  CHECK(loaded(kernels[0]));
  CUdeviceptr out = 0;
  CU_CHECK(cuMemAlloc(&out, 4));
  void* arguments[] = {&out};
  ANSWERS(cuLaunchKernel(kernels[1], 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  CHECK(loaded(kernels[1]));
  ANSWERS(cuModuleGetFunction(&named, module, "reads"), CUDA_SUCCESS);
  CHECK(loaded(named));
}

FRESH_CASE("Loaded eagerly, every function is loaded, in whichever case the mode is written", "[module]",
           {"CUDA_MODULE_LOADING", "eager"}, {"CUDA_CACHE_DISABLE", "1"}) {
  conformance::context();
  CUmodule module = nullptr;
  CU_CHECK(load(&module, kText));
  CUfunction kernels[2] = {};
  CU_CHECK(cuModuleEnumerateFunctions(kernels, 2, module));
  for (const CUfunction kernel : kernels) {
    CUfunctionLoadingState state{};
    ANSWERS(cuFuncIsLoaded(&state, kernel), CUDA_SUCCESS);
    CHECK(state == CU_FUNCTION_LOADING_STATE_LOADED);
  }
}

FRESH_CASE("With CUDA_DISABLE_PTX_JIT, PTX is loaded from the cache or not at all", "[module]") {
  const Folder folder;
  const std::string path = folder.cache();
  const auto load_without_jit = [&] {
    conformance::context();
    CUmodule module = nullptr;
    return static_cast<int>(load(&module, kText));
  };
  CHECK(start({{"CUDA_CACHE_PATH", path.c_str()}}, kText) == kCompiled);
  CHECK(in_a_process({{"CUDA_CACHE_PATH", path.c_str()}, {"CUDA_DISABLE_PTX_JIT", "1"}}, load_without_jit) ==
        CUDA_SUCCESS);
  CHECK(in_a_process({{"CUDA_CACHE_DISABLE", "1"}, {"CUDA_DISABLE_PTX_JIT", "1"}}, load_without_jit) ==
        CUDA_ERROR_JIT_COMPILATION_DISABLED);
}
