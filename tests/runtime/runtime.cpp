// common/runtime, seen from outside: CUDA programs that nvcc compiled, in processes of their own, with libcudart.so.13
// of this repository. The same program runs on a GPU.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/simulated.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

fs::path here() { return fs::read_symlink("/proc/self/exe").parent_path(); }  // build/tests/runtime
fs::path libraries() { return (here() / "../../runtime").lexically_normal(); }

struct Ended {
  int status = -1;
  std::string output;  // and what went to stderr
};

Ended shell(const std::string& line) {
  Ended ended;
  std::FILE* pipe = popen(("exec 2>&1; " + line).c_str(), "r");
  if (pipe == nullptr) return ended;
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) != 0;) {
    ended.output.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

std::string quoted(const std::string& word) { return "'" + word + "'"; }

// Runs a program of this suite with our runtime.
Ended run(const std::string& words) {
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const std::string path = libraries().string() + (before != nullptr ? ":" + std::string(before) : "");
  return shell("LD_LIBRARY_PATH=" + quoted(path) + " timeout 300 " + quoted(here().string()) + "/" + words);
}

bool on_simulator() { return cuInit(0) == CUDA_SUCCESS && is_simulated(0); }

// Why the programs cannot be built here, or "".
std::string no_programs() { return fs::exists(here() / "conformance") ? "" : "needs a whole nvcc of CUDA 13"; }

using Lines = std::vector<std::string>;

// The parts of a transcript that begin with "== name".
std::map<std::string, Lines> scenarios_in(std::istream& text) {
  std::map<std::string, Lines> found;
  Lines* current = nullptr;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("== ", 0) == 0) {
      current = &found[line.substr(3)];
    } else if (current != nullptr) {
      current->push_back(line);
    }
  }
  return found;
}

std::map<std::string, Lines> read_scenarios(const char* file) {
  std::ifstream text(file);
  return scenarios_in(text);
}

}  // namespace

// ---- The API
// ---------------------------------------------------------------------------------------------------------

// recorded.txt is what libcudart 13.0 printed on an H200. differences.txt has, for a scenario, the whole transcript
// that is right here instead, after a line "#" with the reason for each difference.
TEST_CASE("every call returns what NVIDIA's runtime returned on an H200") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
  auto expected = read_scenarios("tests/runtime/recorded.txt");
  REQUIRE(expected.size() >= 50);
  if (on_simulator()) {
    for (auto& [name, lines] : read_scenarios("tests/runtime/differences.txt")) {
      lines.erase(std::remove_if(lines.begin(), lines.end(), [](const auto& line) { return line[0] == '#'; }),
                  lines.end());
      expected[name] = lines;
    }
  }
  const Ended ended = run("conformance all 2>/dev/null");
  REQUIRE(ended.status == 0);
  std::istringstream output(ended.output);
  auto found = scenarios_in(output);
  std::size_t calls = 0;
  for (const auto& [scenario, lines] : expected) {
    const Lines& ours = found[scenario];
    for (std::size_t i = 0; i < std::max(lines.size(), ours.size()); ++i) {
      const std::string has = i < ours.size() ? ours[i] : "nothing more";
      const std::string should_have = i < lines.size() ? lines[i] : "nothing more";
      CAPTURE(scenario, i);
      CHECK(has == should_have);
      if (has != should_have) break;  // what follows would differ, too
      ++calls;
    }
  }
  CHECK(calls >= 400);
  for (const auto& [scenario, lines] : found) {
    CAPTURE(scenario);
    CHECK(expected.count(scenario) == 1);  // otherwise it was never recorded
  }
}

// ---- Programs
// --------------------------------------------------------------------------------------------------------

#define PROGRAM(sentence, name)                                              \
  TEST_CASE(sentence) {                                                      \
    if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why); \
    const Ended ended = run(name);                                           \
    CAPTURE(ended.output);                                                   \
    CHECK(ended.status == 0);                                                \
    CHECK(ended.output == "");                                               \
  }

PROGRAM("Thrust and CUB give right results", "algorithms")
PROGRAM("groups of threads synchronize and reduce", "cooperative")
PROGRAM("cuda::atomic, cuda::barrier and cuda::std work in kernels", "libcudacxx")
PROGRAM("units that are linked for the device share functions, and kernels launch kernels", "units")
PROGRAM("a library with kernels can be loaded and closed again and again", "loading")

TEST_CASE("a launch costs at most 1.5 microseconds more than the driver's, and a program loads in 50 milliseconds") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  SKIP_TEST("a sanitizer slows both down");
#endif
  const Ended ended = run("launch");
  CAPTURE(ended.output);
  REQUIRE(ended.status == 0);
  double milliseconds = -1, more = -1;
  const auto number_after = [&](const char* words, double& number) {
    const auto at = ended.output.find(words);
    REQUIRE(at != std::string::npos);
    number = std::stod(ended.output.substr(at + std::char_traits<char>::length(words)));
  };
  number_after("loading 100 kernels, ms of processor time: ", milliseconds);
  number_after("<<< >>> costs more than cuLaunchKernel, microseconds: ", more);
  CHECK(more <= 1.5);
  if (on_simulator()) CHECK(milliseconds <= 50);  // on a GPU, the driver's compiler takes the most of it
}

// ---- What is not there
// -------------------------------------------------------------------------------------------------

TEST_CASE("both libraries export every function of the headers of CUDA 12 and 13") {
  if (!fs::exists(libraries() / "libcudart.so.13")) SKIP_TEST("needs the headers of CUDA 13");
  for (const char* name : {"libcudart.so.12", "libcudart.so.13"}) {
    void* library = dlopen((libraries() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
    CAPTURE(name);
    REQUIRE(library != nullptr);
#define FUNCTION(function) CHECK(dlsym(library, #function) != nullptr);
#include "common/runtime/functions.inc"
#undef FUNCTION
  }
}

TEST_CASE("functions.inc has every function of the toolkit's headers") {
  const Ended ended = shell("python3 common/runtime/functions.py --missing build/toolkit/include");
  CAPTURE(ended.output);
  CHECK(ended.status == 0);
}

TEST_CASE("a function that is not implemented says so once, and returns cudaErrorNotSupported") {
  if (!fs::exists(libraries() / "libcudart.so.13")) SKIP_TEST("needs the headers of CUDA 13");
  constexpr const char* kProgram =
      "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).cudaGLGetDevices; print([f(0, 0, 0, 0) for i in range(3)])";
  const Ended ended =
      shell("python3 -c '" + std::string(kProgram) + "' " + quoted((libraries() / "libcudart.so.13").string()));
  CAPTURE(ended.output);
  CHECK(ended.output.find("[801, 801, 801]") != std::string::npos);
  const auto said = ended.output.find("cudaGLGetDevices is not supported");
  REQUIRE(said != std::string::npos);
  CHECK(ended.output.find("cudaGLGetDevices is not supported", said + 1) == std::string::npos);
}

TEST_CASE("a program without a driver starts, and every call says that there is none") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
  if (!on_simulator()) SKIP_TEST("this machine's loader finds a driver everywhere");
  const Ended ended = shell("LD_LIBRARY_PATH=" + quoted(libraries().string()) + " " +
                            quoted((here() / "cooperative").string()));  // not linked with libcuda
  CAPTURE(ended.output);
  CHECK(ended.output.find("CUDA driver version is insufficient for CUDA runtime version") != std::string::npos);
}

// ---- A shell, and one line
// ---------------------------------------------------------------------------------------------

namespace {

constexpr const char* kHello =
    "#include <cstdio>\\n__global__ void hello(int n) { printf(\"hello %d\\\\n\", n); }\\n"
    "int main(int count, char** words) { hello<<<1, 1>>>(count); return cudaGetLastError() + cudaDeviceSynchronize() + "
    "(count > 1 ? words[1][0] - 48 : 0); }\\n";

std::string in_folder(const std::string& commands) {
  return "f=$(mktemp -d) && trap 'rm -rf \"$f\"' EXIT && printf '%b' " + std::string("'") + kHello +
         "' > \"$f/hello.cu\"; root=$PWD; " + commands;
}

}  // namespace

TEST_CASE("activate switches a shell over, and deactivate undoes it") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
  if (!on_simulator()) SKIP_TEST("about the simulator");
  for (const std::string name : {"bash", "zsh"}) {
    if (shell("command -v " + name).status != 0) continue;
    const Ended ended =
        shell(in_folder("cat > \"$f/script\" <<'END'\nunset LD_LIBRARY_PATH; export NVCC_APPEND_FLAGS=-lineinfo\n"
                        ". build/simulator/activate\ncd \"$f\" && nvcc hello.cu -o hello && ./hello\n"
                        "deactivate\necho \"left: ${LD_LIBRARY_PATH-none} $NVCC_APPEND_FLAGS\"\nEND\nf=$f " +
                        name + " \"$f/script\""));
    CAPTURE(name, ended.output);
    CHECK(ended.output.find("hello 1\n") != std::string::npos);
    CHECK(ended.output.find("left: none -lineinfo\n") != std::string::npos);
  }
}

TEST_CASE("cudasim compiles and runs a program in one step, and explains what cannot run") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
  if (!on_simulator()) SKIP_TEST("about the simulator");
  const Ended ended =
      shell(in_folder("common/cudasim \"$f/hello.cu\" 3 b; echo \"status $?\"; cd \"$f\"; "
                      "PATH=$PATH:$root/build/toolkit/bin; nvcc hello.cu -o static; "
                      "\"$root/common/cudasim\" ./static; LD_LIBRARY_PATH=\"$root/build/simulator\" ./static; "
                      "nvcc -cudart shared -gencode arch=compute_80,code=sm_80 hello.cu -o machine; "
                      "\"$root/common/cudasim\" ./machine; echo \"status $?\""));
  CAPTURE(ended.output);
  CHECK(ended.output.find("hello 3\n") != std::string::npos);
  CHECK(ended.output.find("status 3\n") != std::string::npos);
  CHECK(ended.output.find("Link it again with: nvcc -cudart shared") != std::string::npos);
  CHECK(ended.output.find("it must be -lcudart, not -lcudart_static") != std::string::npos);
  CHECK(ended.output.find("-gencode arch=compute_75,code=compute_75") != std::string::npos);
  CHECK(ended.output.find("status 209\n") != std::string::npos);
}

namespace {

// Compiles kernel.cu, which looks for its kernel and its variable, with these options and runs it.
Ended look_for_kernel(const std::string& options) {
  constexpr const char* kText =
      "#include <cstdio>\\n__device__ int variable = 3;\\n__global__ void kernel(int* p) { *p = variable; }\\n"
      "int main() { int* p; void* found = 0; cudaMalloc(&p, 4); kernel<<<1, 1>>>(p); int launched = "
      "cudaGetLastError();\\n"
      "std::printf(\"launch %d, symbol %d, wait %d\\\\n\", launched, cudaGetSymbolAddress(&found, variable), "
      "cudaDeviceSynchronize()); }\\n";
  return shell(in_folder("printf '%b' '" + std::string(kText) +
                         "' > \"$f/kernel.cu\"; PATH=$PATH:$root/build/toolkit/bin; "
                         "nvcc -w -cudart shared " +
                         options + " \"$f/kernel.cu\" -o \"$f/kernel\" && common/cudasim \"$f/kernel\""));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

// An H200 returns the same for a device that it is not.
TEST_CASE("without PTX that can be used, a program is told so, linked for the device or not") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
  if (!on_simulator()) SKIP_TEST("about the simulator");
  struct {
    std::string options, reason;
  } const rows[] = {
      {"-gencode arch=compute_80,code=sm_80", "-gencode arch=compute_75,code=compute_75"},
      {"-rdc=true -lineinfo -gencode arch=compute_80,code=sm_80", "-gencode arch=compute_75,code=compute_75"},
      {"--no-compress -arch=sm_120", "is for newer devices than this one"},
      {"--no-compress -rdc=true -arch=sm_120", "is for newer devices than this one"},
  };
  for (const auto& [options, reason] : rows) {
    const Ended ended = look_for_kernel(options);
    CAPTURE(options, ended.output);
    CHECK(contains(ended.output, "launch 209, symbol 209, wait 0"));
    CHECK(contains(ended.output, reason));
  }
}

// Recorded on an H200 with the runtimes 12.9 and 13.0.
TEST_CASE("a launch of a shape that no device has is an invalid configuration in CUDA 12, and an invalid value in 13") {
  if (!fs::exists(libraries() / "libcudart.so.12")) SKIP_TEST("needs the headers of CUDA 13");
  constexpr const char* kProgram = R"(
import ctypes, sys
class Dim3(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in "xyz"]
cudart = ctypes.CDLL(sys.argv[1])
text = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"
library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
none = ctypes.c_void_p()
assert cudart.cudaLibraryLoadData(ctypes.byref(library), text, none, none, 0, none, none, 0) == 0
assert cudart.cudaLibraryGetKernel(ctypes.byref(kernel), library, b"k") == 0
shapes = [((1, 1, 1), (1, 1, 1), 0), ((1, 1, 1), (1025, 1, 1), 0), ((1, 1, 1), (32, 33, 1), 0), ((1, 1, 1), (1, 1, 65), 0),
          ((1, 65536, 1), (1, 1, 1), 0), ((0, 1, 1), (1, 1, 1), 0), ((1, 1, 1), (0, 1, 1), 0), ((1, 1, 1), (1, 1, 1), 1 << 20)]
print([cudart.cudaLaunchKernel(kernel, Dim3(*grid), Dim3(*block), none, ctypes.c_size_t(shared), none) for grid, block, shared in shapes])
)";
  for (const auto& [library, expected] :
       {std::pair{"libcudart.so.12", "[0, 9, 9, 9, 9, 9, 9, 1]"}, {"libcudart.so.13", "[0, 1, 1, 1, 1, 1, 1, 1]"}}) {
    const Ended ended = shell("python3 - " + quoted((libraries() / library).string()) + " <<'END'" + kProgram + "END");
    CAPTURE(library, ended.output);
    CHECK(contains(ended.output, expected));
  }
}

TEST_CASE("the leak check names what the program has forgotten, and nothing of the runtime's own") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
  if (!on_simulator()) SKIP_TEST("about the simulator");
  const Ended clean = shell(in_folder("CUDASIM_CHECK=leak common/cudasim \"$f/hello.cu\""));
  CAPTURE(clean.output);
  CHECK(contains(clean.output, "hello 1\n"));
  CHECK_FALSE(contains(clean.output, "not released"));
  const Ended leaky =
      shell(in_folder("printf 'int main() { void* p; return cudaMalloc(&p, 100); }' > \"$f/leaky.cu\"; "
                      "CUDASIM_CHECK=leak common/cudasim \"$f/leaky.cu\""));
  CAPTURE(leaky.output);
  CHECK(contains(leaky.output, "not released"));
  CHECK(contains(leaky.output, "1 x"));
  CHECK(contains(leaky.output, "cuMemAlloc, 100 bytes, from "));
  CHECK_FALSE(contains(leaky.output, "libcudart"));
  CHECK_FALSE(contains(leaky.output, "cuDevicePrimaryCtxRetain"));
}

TEST_CASE("under the host's AddressSanitizer, no memory of the runtime leaks") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
  if (!on_simulator()) SKIP_TEST("about the simulator");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  SKIP_TEST("the runtime has a sanitizer of its own");
#endif
  const Ended ended = shell(in_folder(
      "PATH=$PATH:$root/build/toolkit/bin; nvcc -w -cudart shared --no-compress -Xcompiler "
      "-fsanitize=address \"$f/hello.cu\" -o \"$f/hello\" && common/cudasim \"$f/hello\"; echo \"status $?\""));
  CAPTURE(ended.output);
  CHECK(contains(ended.output, "hello 1\n"));
  CHECK(contains(ended.output, "status 0\n"));
}

TEST_CASE("a compressed image is unpacked by cuobjdump") {
  if (const std::string why = no_programs(); !why.empty()) SKIP_TEST(why);
  if (!on_simulator()) SKIP_TEST("about the simulator");
  if (shell("command -v cuobjdump || ls build/toolkit/bin/cuobjdump build/simulator/cuobjdump")
          .output.find("/cuobjdump\n") == std::string::npos) {
    SKIP_TEST("needs cuobjdump");
  }
  const Ended ended =
      shell(in_folder("PATH=$PATH:$root/build/toolkit/bin; nvcc -cudart shared \"$f/hello.cu\" -o "
                      "\"$f/packed\" && common/cudasim \"$f/packed\""));
  CAPTURE(ended.output);
  CHECK(ended.output.find("hello 1\n") != std::string::npos);
}
