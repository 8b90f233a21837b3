// Runs itself as if on several machines: this one, some whose GPUs are hidden, some without a driver, and one on which
// the toolkit's stub library has taken the driver's place.
#include "common/cu.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

// What each of the machines runs. The result becomes the status of the process.
int report() {
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS) {
    std::printf("number of devices: %d\n", count);
  } else {
    std::printf("error %d: %s\n", result, cu::name(result));
  }
  return result;
}

// A folder next to this program, removed with its files at the end of the scope.
struct Folder {
  fs::path path;

  explicit Folder(const fs::path& program) {
    std::string name = program.string() + ".XXXXXX";
    if (!mkdtemp(name.data()))
      throw fs::filesystem_error("mkdtemp", name, std::error_code(errno, std::generic_category()));
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

// Copies a program and changes the name of the library that the copy needs: no machine has a libcuda.so.9.
void copy_without_driver(const fs::path& program, const fs::path& copy) {
  std::ifstream in(program, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string needed = "libcuda.so.1";
  for (auto at = bytes.find(needed); at != std::string::npos; at = bytes.find(needed, at)) bytes[at + 11] = '9';
  std::ofstream(copy, std::ios::binary) << bytes;
  fs::permissions(copy, fs::perms::owner_all);
}

// The folder of the toolkit's stub library, or "" if no toolkit here has one.
std::string stubs_folder() {
  const char* const home = std::getenv("CUDA_HOME");
  for (const std::string& root :
       {std::string(home ? home : ""), std::string("/usr/local/cuda"), std::string("/opt/cuda")}) {
    for (const char* folder : {"/lib64/stubs", "/lib/stubs", "/targets/x86_64-linux/lib/stubs"}) {
      if (!root.empty() && fs::exists(root + folder + "/libcuda.so")) return root + folder;
    }
  }
  return fs::exists("/usr/lib/x86_64-linux-gnu/stubs/libcuda.so") ? "/usr/lib/x86_64-linux-gnu/stubs" : "";
}

// Runs a shell command and prints its status and its first line of output. Returns true if the status is as expected.
bool run_on(const char* machine, const std::string& command, int expected) {
  std::fflush(stdout);
  FILE* output = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (!output) return false;
  char line[300] = "";
  if (!std::fgets(line, sizeof line, output)) line[0] = '\0';
  line[std::strcspn(line, "\n")] = '\0';
  const int status = WEXITSTATUS(pclose(output));
  const char* shortened = std::strstr(line, "error while loading");
  std::printf("%s\n  status %3d | %.79s\n", machine, status, shortened ? shortened : line);
  return status == expected;
}

int main(int arguments, char**) try {
  if (arguments > 1) return report();

  const fs::path program = fs::read_symlink("/proc/self/exe");
  const Folder folder(program);
  copy_without_driver(program, folder.path / "without-driver");
  // The shell reads these variables, so the paths may contain any character.
  setenv("PROGRAM", program.c_str(), 1);
  setenv("FOLDER", folder.path.c_str(), 1);

  const std::string run = "\"$PROGRAM\" report", run_copy = "\"$FOLDER/without-driver\" report";
  bool passed = run_on("this machine", run, CUDA_SUCCESS);
  passed &= run_on("CUDA_VISIBLE_DEVICES is empty", "CUDA_VISIBLE_DEVICES= " + run, CUDA_ERROR_NO_DEVICE);
  passed &= run_on("CUDA_VISIBLE_DEVICES=99", "CUDA_VISIBLE_DEVICES=99 " + run, CUDA_ERROR_NO_DEVICE);
  passed &= run_on("CUDA_VISIBLE_DEVICES=0,99,1", "CUDA_VISIBLE_DEVICES=0,99,1 " + run, CUDA_SUCCESS);
  passed &= run_on("CUDA_VISIBLE_DEVICES=0,0", "CUDA_VISIBLE_DEVICES=0,0 " + run, CUDA_ERROR_INVALID_DEVICE);
  passed &= run_on("no driver", run_copy, 127);

  const std::string stubs = stubs_folder();
  if (stubs.empty()) {
    std::printf("skipped: the last two machines need the toolkit's stubs/libcuda.so, and no toolkit here has one\n");
    return passed ? 77 : 1;  // make counts a program that ends with 77 as skipped
  }
  setenv("STUBS", stubs.c_str(), 1);
  passed &= run_on("no driver, LD_LIBRARY_PATH=…/stubs", "LD_LIBRARY_PATH=\"$STUBS\" " + run_copy, 127);
  fs::create_symlink(stubs + "/libcuda.so", folder.path / "libcuda.so.1");
  passed &= run_on("libcuda.so.1 -> …/stubs/libcuda.so", "LD_LIBRARY_PATH=\"$FOLDER\" " + run, CUDA_ERROR_STUB_LIBRARY);
  return passed ? 0 : 1;
} catch (const fs::filesystem_error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
