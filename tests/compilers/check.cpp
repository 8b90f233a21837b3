// The same sources, compiled to PTX by every available compiler with the flags that matter, give the results of the
// host's compiler. The build puts <source>.<variant>.ptx beside this binary; the variants of a missing compiler are
// skipped and named.
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/compilers/library.hpp"
#include "tests/compilers/sources/language.h"
#include "tests/instructions/device.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using instructions::Device;
using language::u32;
using language::u64;
using Expected = u64 (*)(const u32* in, u32 index);

constexpr u32 kThreads = 128, kBlocks = 3, kCount = kThreads * kBlocks;

std::vector<u32> inputs() {
  std::vector<u32> in(kCount);
  for (u32 k = 0; k < kCount; ++k) in[k] = k < 16 ? k : k < 20 ? ~0u - k : language::mixed(k);
  return in;
}

struct Program {
  const char* name;
  Expected expected;
  u64 tolerance = 0;  // for what is computed approximately: units in the last place of a whole number
};

#define ALONE(name) {#name, [](const u32* in, u32 i) -> u64 { return language::name(in[i]); }}
constexpr Program kLanguage[] = {ALONE(templates),     ALONE(integers),   ALONE(wide),
                                 ALONE(wide_division), ALONE(structures), ALONE(recursion),
                                 ALONE(pointers),      ALONE(virtuals),   ALONE(control),
                                 ALONE(local_arrays),  ALONE(mixed),      {"together", library::together}};
constexpr Program kExact[] = {ALONE(exact_floats)};

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

#define OF_LIBRARY(name) {#name, library::name}
constexpr Program kLibrary[] = {{"math_double", library::math_double, 3},
                                OF_LIBRARY(half_precision),
                                OF_LIBRARY(intrinsics),
                                OF_LIBRARY(inline_ptx),
                                OF_LIBRARY(groups),
                                OF_LIBRARY(large_groups),
                                OF_LIBRARY(cub_block),
                                OF_LIBRARY(atomics),
                                OF_LIBRARY(barriers),
                                OF_LIBRARY(pipelines),
                                OF_LIBRARY(matrix),
                                OF_LIBRARY(dynamic_shared),
                                OF_LIBRARY(heap),
                                OF_LIBRARY(standard)};
constexpr Program kFloats[] = {{"math_float", library::math_float, 2}};

// Runs the programs of one image. Kernels that it does not have are left out if `some`.
void check_text(const std::string& text, const Program* programs, std::size_t count, bool some) {
  REQUIRE(text != "");
  const Device device;
  std::string log;
  const CUmodule module = instructions::load(text, log);
  REQUIRE(log == "");
  const std::vector<u32> in = inputs();
  CUdeviceptr from = 0, to = 0;
  CU_CHECK(cuMemAlloc(&from, kCount * 4));
  CU_CHECK(cuMemAlloc(&to, kCount * 8));
  CU_CHECK(cuMemcpyHtoD(from, in.data(), kCount * 4));
  std::size_t found = 0;
  for (const Program* p = programs; p < programs + count; ++p) {
    CAPTURE(p->name);
    CUfunction function = nullptr;
    const CUresult has = cuModuleGetFunction(&function, module, p->name);
    if (some && has == CUDA_ERROR_NOT_FOUND) continue;
    REQUIRE(has == CUDA_SUCCESS);
    ++found;
    u32 n = kCount;
    void* parameters[] = {&from, &to, &n};
    CU_CHECK(cuMemsetD8(to, 0xee, kCount * 8));
    CU_CHECK(cuLaunchKernel(function, kBlocks, 1, 1, kThreads, 1, 1, kThreads * 12, nullptr, parameters, nullptr));
    std::vector<u64> out(kCount);
    REQUIRE(cuMemcpyDtoH(out.data(), to, kCount * 8) == CUDA_SUCCESS);
    u32 wrong = 0;
    std::string first;
    for (u32 k = 0; k < kCount; ++k) {
      const u64 want = p->expected(in.data(), k), difference = out[k] - want;
      if (difference <= p->tolerance || 0 - difference <= p->tolerance) continue;
      if (wrong++ == 0)
        first = "thread " + std::to_string(k) + ": " + std::to_string(out[k]) + ", not " + std::to_string(want);
    }
    CAPTURE(wrong);
    CHECK(first == "");
  }
  CHECK(found > 0);
  CU_CHECK(cuMemFree(from));
  CU_CHECK(cuMemFree(to));
  CU_CHECK(cuModuleUnload(module));
}

void check(const std::string& image, const Program* programs, std::size_t count, bool some = false) {
  CAPTURE(image);
  check_text(read(cu::image(image)), programs, count, some);
}

// Every image of a source that was built.
std::vector<std::string> variants(const std::string& source, const std::string& compiler) {
  std::vector<std::string> found;
  std::stringstream names(read(cu::image("variants.txt")));
  for (std::string name; names >> name;) {
    if (name.rfind(source + "." + compiler, 0) == 0) found.push_back(name);
  }
  return found;
}
bool is_fast(const std::string& image) { return image.find("fast") != std::string::npos; }

void check_language(const std::string& image, bool some) {
  check(image, kLanguage, std::size(kLanguage), some);
  if (!is_fast(image)) check(image, kExact, std::size(kExact));
}

// The runtime compiler, of which only the documented interface is used. What it makes of language.cu, or why it did
// not.
std::string by_nvrtc(void* library, std::vector<const char*> options) {
  using Program = struct OpaqueProgram*;
  const auto call = [library](const char* name, auto... arguments) {
    const auto function = reinterpret_cast<int (*)(decltype(arguments)...)>(dlsym(library, name));
    return function == nullptr ? -1 : function(arguments...);
  };
  const std::string source = read(cu::image("sources/language.cu")), header = read(cu::image("sources/language.h"));
  const char* const headers[] = {header.c_str()};
  const char* const names[] = {"language.h"};
  Program program = nullptr;
  if (call("nvrtcCreateProgram", &program, source.c_str(), "language.cu", 1, &headers[0], &names[0]) != 0) return "";
  std::string ptx;
  std::size_t size = 0;
  if (call("nvrtcCompileProgram", program, int(options.size()), options.data()) == 0 &&
      call("nvrtcGetPTXSize", program, &size) == 0) {
    ptx.resize(size);
    call("nvrtcGetPTX", program, ptx.data());
  } else if (call("nvrtcGetProgramLogSize", program, &size) == 0) {
    ptx.resize(size);
    call("nvrtcGetProgramLog", program, ptx.data());
  }
  call("nvrtcDestroyProgram", &program);
  return ptx;
}
// NVRTC opens its builtins by their name, and CUDA 13's does not say where they are: beside it. What is open is found.
void open_builtins(const std::filesystem::path& library) {
  std::error_code none;  // a name alone: the loader finds both
  for (const auto& file : std::filesystem::directory_iterator(library.parent_path(), none))
    if (file.path().filename().string().rfind("libnvrtc-builtins.so", 0) == 0) dlopen(file.path().c_str(), RTLD_NOW);
}
void* nvrtc() {
  std::stringstream places(read(cu::image("nvrtc.txt")));
  void* library = nullptr;
  for (std::string path; library == nullptr && std::getline(places, path);) {
    open_builtins(path);
    library = dlopen(path.c_str(), RTLD_NOW);
  }
  return library;
}

}  // namespace

TEST_CASE("NVRTC's PTX gives what the host computes") {
  void* const library = nvrtc();
  if (library == nullptr) SKIP_TEST("libnvrtc was not found");
  const std::vector<std::vector<const char*>> variants = {
      {"--std=c++17", "--gpu-architecture=compute_80", "--device-int128"},
      {"--std=c++17", "--gpu-architecture=compute_90", "--device-int128", "--device-debug"}};
  int major = 0, minor = 0;
  const auto version = reinterpret_cast<int (*)(int*, int*)>(dlsym(library, "nvrtcVersion"));
  REQUIRE((version != nullptr && version(&major, &minor) == 0));
  for (const auto& options : variants) {
    // NVRTC 12.4 says of its own code, made to be debugged: "Broken module found, compilation aborted!"
    if (major < 13 && options.size() == 4) continue;
    CAPTURE(options.size());
    check_text(by_nvrtc(library, options), kLanguage, std::size(kLanguage), false);
  }
}

TEST_CASE("GCC's OpenMP target regions run") {
  const std::string program = cu::image("openmp");
  if (std::ifstream(program).fail()) SKIP_TEST("GCC with offloading to nvptx-none was not found");
  // Everything on the device, or it is a failure.
  setenv("PROGRAM", program.c_str(), 1);  // its path may have anything in it
  CHECK(std::system("OMP_TARGET_OFFLOAD=MANDATORY \"$PROGRAM\"") == 0);
}

TEST_CASE("nvcc's PTX of the language gives what the host computes, whatever the flags") {
  if (variants("language", "nvcc").empty()) SKIP_TEST("nvcc was not found");
  for (const std::string& image : variants("language", "nvcc")) check_language(image, false);
}

TEST_CASE("nvcc's PTX of the toolkit's headers gives what the host computes") {
  if (variants("library", "nvcc").empty()) SKIP_TEST("nvcc was not found");
  for (const std::string& image : variants("library", "nvcc")) {
    check(image, kLibrary, std::size(kLibrary));
    if (!is_fast(image)) check(image, kFloats, std::size(kFloats));
  }
}

TEST_CASE("clang's PTX gives what the host computes, whatever the flags") {
  if (variants("language", "clang").empty()) SKIP_TEST("clang++ with a back end for PTX was not found");
  for (const std::string& image : variants("language", "clang")) check_language(image, true);
}
