// Checks the exercise of 01-driver-init/09-first-seconds. Each start is a process of its own, as it is for a service.
#include "01-driver-init/09-first-seconds/source.hpp"
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace fs = std::filesystem;

CUmodule start_service(const Source& source, const std::string& volume, std::string* warning);

namespace {

// A kernel that stores its number.
std::string kernel(int number) {
  return ".visible .entry op" + std::to_string(number) +
         "(.param .u64 out) {\n  .reg .u64 %a;\n  .reg .u32 %n;\n  ld.param.u64 %a, [out];\n  mov.u32 %n, " +
         std::to_string(number) + ";\n  st.global.u32 [%a], %n;\n  ret;\n}\n";
}

Source source(std::vector<int> order = {1, 2, 3}) {
  Source made{".version 7.0\n.target sm_75\n.address_size 64\n", {}};
  for (const int number : order) made.kernels.push_back(kernel(number));
  return made;
}

// A folder that keeps its files from one start to the next.
struct Volume {
  fs::path path;
  explicit Volume(const std::string& name = "volume")
      : path(fs::temp_directory_path() / ("first-seconds-" + name + "-" + std::to_string(getpid()))) {
    fs::create_directories(path);
  }
  ~Volume() { fs::remove_all(path); }

  // The driver stores one file for each text that it has compiled, and perhaps an index.
  int files() const {
    const auto all = fs::recursive_directory_iterator(path);
    return static_cast<int>(
        std::count_if(begin(all), end(all), [](const auto& each) { return each.is_regular_file(); }));
  }
};

int run(CUmodule module, const std::string& name) {
  CUfunction function;
  CUdeviceptr out;
  int number = 0;
  CU_THROW(cuModuleGetFunction(&function, module, name.c_str()));
  CU_THROW(cuMemAlloc(&out, sizeof number));
  void* arguments[] = {&out};
  CU_THROW(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_THROW(cuMemcpyDtoH(&number, out, sizeof number));
  return number;
}

struct Started {
  bool works;  // the three kernels compute what they should
  std::string warning;
};

// Starts the service in a new process. `variable`: what the deployment has set CUDA_CACHE_PATH to, if anything.
Started start(const std::string& volume, const Source& with = source(), const char* variable = nullptr) {
  const Child child = in_a_child([&] {
    unsetenv("CUDA_CACHE_DISABLE");
    unsetenv("CUDA_CACHE_PATH");
    if (variable != nullptr) setenv("CUDA_CACHE_PATH", variable, 1);
    std::string warning = "the warning of an earlier start";
    const CUmodule module = start_service(with, volume, &warning);
    const bool works = run(module, "op1") == 1 && run(module, "op2") == 2 && run(module, "op3") == 3;
    return (works ? "y" : "n") + warning;
  });
  if (!child.threw.empty()) FAIL("start_service threw: " << child.threw);
  if (child.returned.empty()) FAIL("the process of the service has ended: status " << child.status);
  return {child.returned[0] == 'y', child.returned.substr(1)};
}

}  // namespace

TEST_CASE("every start has all kernels") {
  const Volume volume;
  for (int starts = 0; starts < 2; ++starts) {
    const Started started = start(volume.path);
    CHECK(started.works);
    CHECK(started.warning == "");
  }
}

TEST_CASE("the first start stores what it has compiled on the volume") {
  const Volume volume;
  start(volume.path);
  CHECK(volume.files() > 0);
}

TEST_CASE("a second start compiles nothing") {
  const Volume volume;
  start(volume.path);
  const int files = volume.files();
  REQUIRE(files > 0);
  start(volume.path);
  CHECK(volume.files() == files);
}

TEST_CASE("a start that gets the kernels in another order compiles nothing") {
  const Volume volume;
  start(volume.path, source({1, 2, 3}));
  const int files = volume.files();
  REQUIRE(files > 0);
  CHECK(start(volume.path, source({3, 1, 2})).works);
  CHECK(volume.files() == files);
}

TEST_CASE("a folder that the deployment has chosen is used") {
  const Volume volume, chosen("chosen");
  CHECK(start(volume.path / "not-this", source(), chosen.path.c_str()).works);
  CHECK(chosen.files() > 0);
  CHECK_FALSE(fs::exists(volume.path / "not-this"));
}

TEST_CASE("if the cache cannot be written, the service starts, and the warning names the folder") {
  const Started started = start("/proc/version");  // a file, so that not even root can create a folder in it
  CHECK(started.works);
  CHECK(started.warning.find("/proc/version") != std::string::npos);
}

TEST_CASE("the warning names a folder of the deployment, too") {
  const Volume volume;
  const Started started = start(volume.path, source(), "/proc/version/chosen");
  CHECK(started.works);
  CHECK(started.warning.find("/proc/version/chosen") != std::string::npos);
}

TEST_CASE("a start leaves nothing on the volume but the cache") {
  const Volume volume;
  start(volume.path);
  const int files = volume.files();
  for (int starts = 0; starts < 3; ++starts) start(volume.path);
  CHECK(volume.files() == files);
}
