// Runs other people's programs on the simulator (README.md), each in a process of its own. What is not installed is
// skipped and named.
#include "common/cu.hpp"
#include "tests/catch.hpp"
#include "tests/simulated.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

struct Ended {
  std::string output;
  int status = -1;
};

// Runs a command line with stderr among its output; a command that hangs is stopped.
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

bool works(const std::string& line) { return shell(line).status == 0; }

// A folder of this process's, gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "programs.XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const char* file) const { return "'" + path_ + "/" + file + "'"; }

 private:
  std::string path_;
};

const std::string kStopped = "timeout --kill-after=5 240 ";

std::string python() {
  if (const char* named = std::getenv("PROGRAMS_PYTHON")) return named;
  const char* own = "build/programs/bin/python3";
  return access(own, X_OK) == 0 ? own : "python3";
}

// tests/programs/<script> with the package `needed`; empty if it ran, else why it was skipped.
std::string run_script(const std::string& needed, const std::string& script) {
  if (cuInit(0) != CUDA_SUCCESS || !is_simulated(0)) return "it is the simulator that they are to try";
  if (!works(python() + " -c 'import " + needed + "'")) {
    return needed + " is not installed: see tests/programs/README.md";
  }
  const Ended ended = shell(kStopped + python() + " -B tests/programs/" + script);
  CAPTURE(ended.output);
  CHECK(ended.status == 0);
  CHECK(ended.output.find("all as expected") != std::string::npos);
  return "";
}

#define RUNS(package, script)                                                                       \
  do {                                                                                              \
    if (const std::string reason = run_script(package, script); !reason.empty()) SKIP_TEST(reason); \
  } while (false)

}  // namespace

TEST_CASE("GCC's OpenMP offload: loops, teams, tasks, the device's memory", "[programs]") {
  const Folder folder;
  // GCC asks an assembler of the toolkit to look over its PTX, if there is one; those of today refuse its sm_35.
  const std::string flags =
      "-O2 -fopenmp -foffload=nvptx-none -foffload-options=-Wa,--no-verify "
      "-foffload-options='-lm -latomic' tests/programs/openmp.c -lm -o ";
  if (!works("gcc-12 " + flags + folder / "openmp")) {
    SKIP_TEST("GCC 12 with offload for nvptx is not installed: see tests/programs/README.md");
  }
  const Ended ended = shell("OMP_TARGET_OFFLOAD=mandatory " + kStopped + folder / "openmp");
  CAPTURE(ended.output);
  CHECK(ended.status == 0);
  CHECK(ended.output.find("from the device: 42 words") != std::string::npos);
}

TEST_CASE("GCC's OpenACC: gangs and vectors, data regions, queues, atomics", "[programs]") {
  const Folder folder;
  const std::string flags =
      "-O2 -fopenacc -foffload=nvptx-none -foffload-options=-Wa,--no-verify tests/programs/openacc.c -o ";
  if (!works("gcc-12 " + flags + folder / "openacc")) {
    SKIP_TEST("GCC 12 with offload for nvptx is not installed: see tests/programs/README.md");
  }
  const Ended ended = shell("ACC_DEVICE_TYPE=nvidia " + kStopped + folder / "openacc");
  CAPTURE(ended.output);
  CHECK(ended.status == 0);
  CHECK(ended.output.find("all as expected") != std::string::npos);
}

TEST_CASE("FFmpeg: frames go up, through its filters, and come back", "[programs]") {
  if (!works("ffmpeg -hide_banner -filters | grep -q scale_cuda")) {
    SKIP_TEST("FFmpeg with its CUDA filters is not installed: see tests/programs/README.md");
  }
  // The MD5 of ten frames that have gone through a chain of filters.
  const auto frames = [](const std::string& chain) {
    return shell(kStopped +
                 "ffmpeg -hide_banner -nostdin -loglevel error -init_hw_device cuda=device -filter_hw_device device "
                 "-f lavfi -i testsrc2=size=320x240:rate=10:duration=1 -filter_complex 'format=yuv420p," +
                 chain + "' -f md5 -");
  };
  const std::string down = ",hwdownload,format=yuv420p";
  const struct {
    const char *on_device, *on_host;
  } same[] = {{"hwupload_cuda", "null"},
              {"hwupload_cuda,scale_cuda=160:120:interp_algo=nearest", "scale=160:120:flags=neighbor"},
              {"split[a][b];[b]crop=100:80:20:20,hwupload_cuda[c];[a]hwupload_cuda[d];[d][c]overlay_cuda=40:60",
               "split[a][b];[b]crop=100:80:20:20[c];[a][c]overlay=40:60"}};
  for (const auto& pair : same) {
    CAPTURE(pair.on_device);
    const Ended device = frames(pair.on_device + down), host = frames(pair.on_host);
    CAPTURE(device.output, host.output);
    CHECK(device.status == 0);
    CHECK(host.output.rfind("MD5=", 0) == 0);
    CHECK(device.output == host.output);
  }
  for (const char* alone : {"setfield=tff,hwupload_cuda,yadif_cuda=1", "hwupload_cuda,thumbnail_cuda=4",
                            "hwupload_cuda,scale_cuda=200:150:interp_algo=bilinear",
                            "hwupload_cuda,scale_cuda=200:150:interp_algo=lanczos"}) {
    CAPTURE(alone);
    const Ended device = frames(alone + down);
    CAPTURE(device.output);
    CHECK(device.status == 0);
    CHECK(device.output.rfind("MD5=", 0) == 0);
  }
}

TEST_CASE("nvptx-none-run: a program of several objects with newlib, its arguments, its output, its status",
          "[programs]") {
  const Folder folder;
  const std::string library = "\"$(dirname \"$(gcc-12 -print-file-name=accel/nvptx-none/crt0.o)\")\"";
  const std::string built = "nvptx-none-as --no-verify tests/programs/nvptx_sum.s -o " + folder / "sum.o" +
                            " && nvptx-none-ld " + library + "/crt0.o " + folder / "sum.o" + " -L" + library +
                            " -lc -o " + folder / "sum";
  if (!works(built + " && command -v nvptx-none-run")) {
    SKIP_TEST("nvptx-tools and GCC 12's library for nvptx are not installed: see tests/programs/README.md");
  }
  const Ended ended = shell(kStopped + "nvptx-none-run " + folder / "sum" + " 3 4 5");
  CAPTURE(ended.output);
  CHECK(ended.status == 12);
  CHECK(ended.output.find("args 4 sum 12") != std::string::npos);
}

TEST_CASE("cuda-bindings: NVRTC, launches, events, a graph", "[programs]") {
  RUNS("cuda.bindings.nvrtc", "bindings.py");
}

TEST_CASE("cuda-core: templates, memory resources, a graph builder", "[programs]") { RUNS("cuda.core", "core.py"); }

TEST_CASE("numba-cuda: kernels in Python", "[programs]") { RUNS("numba_cuda", "numba_kernels.py"); }

TEST_CASE("Taichi: fields, sparse trees, atomics, a sort", "[programs]") { RUNS("taichi", "taichi_fields.py"); }

TEST_CASE("tinygrad: tensors, by its own PTX", "[programs]") { RUNS("tinygrad", "tinygrad_tensors.py"); }

TEST_CASE("Halide: a pipeline in tiles", "[programs]") { RUNS("halide", "halide_pipeline.py"); }

TEST_CASE("Slang: a shader over buffers", "[programs]") { RUNS("slangpy", "slang_kernel.py"); }

TEST_CASE("IREE: tensor programs in MLIR", "[programs]") { RUNS("iree.compiler, iree.runtime", "iree_modules.py"); }

TEST_CASE("Dr.Jit: traced arrays, loops, textures, derivatives", "[programs]") { RUNS("drjit", "drjit_arrays.py"); }

TEST_CASE("Triton: softmax, products, attention, locks, scans, sorts, random numbers", "[programs]") {
  RUNS("triton", "triton_kernels.py");
}

TEST_CASE("OpenMM: forces in single and double precision, a few steps", "[programs]") {
  RUNS("openmm", "openmm_forces.py");
}

TEST_CASE("Blender's Cycles: a small picture", "[programs]") { RUNS("bpy", "cycles_render.py"); }

TEST_CASE("PyCUDA: its driver interface", "[programs]") { RUNS("pycuda.driver", "pycuda_module.py"); }
