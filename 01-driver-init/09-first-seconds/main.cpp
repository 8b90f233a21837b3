// Starts a service with 200 kernels seven times, each time in a new process, and shows which step takes how long.
#include "common/cu.hpp"
#include "service.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// What a process of the service does first. Prints the milliseconds of its four steps.
int start(const std::string& image) {
  const auto begin = Clock::now();
  CU_CHECK(cuInit(0));
  const auto initialized = Clock::now();
  cu::Primary context;
  const auto created = Clock::now();
  cu::Module module(image);
  const auto loaded = Clock::now();
  // The first request uses one of the kernels.
  const CUfunction op = module.function("op7");
  float x = 4;
  cu::Memory memory(sizeof x);
  CU_CHECK(cuMemcpyHtoD(memory.address, &x, sizeof x));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(op, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(&x, memory.address, sizeof x));
  const auto answered = Clock::now();

  const auto print = [](Clock::duration step) {
    std::printf("%.3f ", std::chrono::duration<double, std::milli>(step).count());
  };
  print(initialized - begin), print(created - initialized), print(loaded - created), print(answered - loaded);
  return std::abs(x - 14) < 0.01f ? 0 : 1;
}

// Compiles PTX to machine code for device 0. A build machine would use nvcc -cubin instead.
int compile(const std::string& ptx, const std::string& cubin) {
  cu::Primary context;
  CUlinkState linker;
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &linker));
  CU_CHECK(cuLinkAddFile(linker, CU_JIT_INPUT_PTX, ptx.c_str(), 0, nullptr, nullptr));
  void* image;
  std::size_t bytes;
  CU_CHECK(cuLinkComplete(linker, &image, &bytes));
  std::ofstream(cubin, std::ios::binary).write(static_cast<const char*>(image), static_cast<std::streamsize>(bytes));
  CU_CHECK(cuLinkDestroy(linker));
  return 0;
}

// Loads an image ten times. Prints how long this takes, and how much device memory.
int load_ten_times(const std::string& image) {
  cu::Primary context;
  std::size_t before, after, total;
  CU_CHECK(cuMemGetInfo(&before, &total));
  const auto begin = Clock::now();
  std::vector<cu::Module> modules;
  for (int i = 0; i < 10; ++i) modules.emplace_back(image);
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
  CU_CHECK(cuMemGetInfo(&after, &total));
  std::printf("%.1f ms, %.1f MiB\n", took.count(), static_cast<double>(before - after) / (1 << 20));
  return 0;
}

// Runs this program again in a new process, through a shell, and returns what it prints. `settings` are environment
// variables, `words` its arguments; both may use $WORK, the folder of this run.
std::string run(const std::string& settings, const std::string& words) {
  FILE* output = popen((settings + " \"$PROGRAM\" " + words).c_str(), "r");
  if (!output) throw std::runtime_error("no shell");
  std::string printed;
  char part[200];
  while (std::fgets(part, sizeof part, output)) printed += part;
  if (pclose(output) != 0) throw std::runtime_error("this start failed: " + settings + " main " + words);
  return printed;
}

int files_in(const fs::path& folder) {
  int files = 0;
  if (folder.empty() || !fs::exists(folder)) return 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) files += entry.is_regular_file();
  return files;
}

// Prints the row of one start: its steps, their sum, and what has become of the cache. `cache` is the folder that the
// driver is told to use. Returns whether the cache is as expected afterwards.
bool row(const char* what, const std::string& settings, const std::string& image, const fs::path& cache = {},
         const std::string& expected = "-") {
  const int before = files_in(cache);
  std::istringstream numbers(run(settings, "start \"$WORK/" + image + "\""));
  double step[4];
  for (double& milliseconds : step) numbers >> milliseconds;
  const double sum = step[0] + step[1] + step[2] + step[3];
  const int after = files_in(cache);
  const std::string state = cache.empty() ? "-" : after == 0 ? "empty" : after > before ? "filled" : "unchanged";
  std::printf("%-24s | %7.1f %8.1f %8.1f %7.2f %8.1f  %s\n", what, step[0], step[1], step[2], step[3], sum,
              state.c_str());
  std::fflush(stdout);
  return state == expected;
}

// A folder for one run of this program.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "first-seconds-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
};

// Two control runs: starts beside a process that has called cuInit, and ten modules loaded lazily and eagerly.
int controls(const std::string& off, const std::string& eager) {
  row("alone", off, "service.cubin");
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t neighbor = fork();
  char byte = 0;
  if (neighbor == 0) {
    if (cuInit(0) != CUDA_SUCCESS || write(ends[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ends[1]);
  const bool ready = neighbor > 0 && read(ends[0], &byte, 1) == 1;
  if (ready) row("beside another process", off, "service.cubin");
  if (neighbor > 0) kill(neighbor, SIGKILL), waitpid(neighbor, nullptr, 0);
  for (const std::string& mode : {std::string(), eager}) {
    std::printf("ten modules%-12s | %s", mode.empty() ? "" : ", eager",
                run(off + mode, "ten \"$WORK/service.cubin\"").c_str());
  }
  return ready ? 0 : 1;
}

int main(int count, char** words) try {
  if (count == 3 && words[1] == std::string("ten")) return load_ten_times(words[2]);
  if (count == 3) return start(words[2]);
  if (count == 4) return compile(words[2], words[3]);

  const Folder folder;
  setenv("WORK", folder.path.c_str(), 1);
  setenv("PROGRAM", fs::read_symlink("/proc/self/exe").c_str(), 1);
  for (const char* variable : {"CUDA_CACHE_DISABLE", "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CUDA_MODULE_LOADING"}) {
    unsetenv(variable);
  }
  std::ofstream(folder.path / "service.ptx") << service::ptx();
  const fs::path cache = folder.path / "cache", read_only = "/proc/cache";
  const std::string off = "CUDA_CACHE_DISABLE=1", on = "CUDA_CACHE_PATH=\"$WORK/cache\"";
  const std::string eager = " CUDA_MODULE_LOADING=EAGER";
  run(off, "compile \"$WORK/service.ptx\" \"$WORK/service.cubin\"");

  std::printf("%-24s | %7s %8s %8s %7s %8s  %s\n", "milliseconds", "cuInit", "context", "module", "launch", "sum",
              "cache");
  if (count == 2) return controls(off, eager);
  bool passed = row("PTX, cache disabled", off, "service.ptx", cache, "empty");
  passed &= row("PTX, first start", on, "service.ptx", cache, "filled");
  passed &= row("PTX, second start", on, "service.ptx", cache, "unchanged");
  passed &= row("PTX, second start, eager", on + eager, "service.ptx", cache, "unchanged");
  passed &= row("PTX, read-only folder", "CUDA_CACHE_PATH=" + read_only.string(), "service.ptx", read_only, "empty");
  passed &= row("machine code", off, "service.cubin");
  passed &= row("machine code, eager", off + eager, "service.cubin");
  return passed ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
