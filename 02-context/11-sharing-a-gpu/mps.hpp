// NVIDIA's Multi-Process Service, for the processes that this program creates from now on: a daemon of its own, in a
// folder of its own, so that it disturbs no other.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

class Mps {
 public:
  std::string problem;  // why it is not running; empty if it is

  Mps() {
    if (std::system("command -v nvidia-cuda-mps-control >/dev/null 2>&1") != 0) {
      problem = "nvidia-cuda-mps-control is not installed";
      return;
    }
    char name[] = "/tmp/mps-XXXXXX";
    if (mkdtemp(name) == nullptr) {
      problem = "no folder for it in /tmp";
      return;
    }
    folder_ = name;
    setenv("CUDA_MPS_PIPE_DIRECTORY", name, 1);
    setenv("CUDA_MPS_LOG_DIRECTORY", name, 1);
    if (std::system("nvidia-cuda-mps-control -d >/dev/null 2>&1") != 0)
      problem = "its daemon does not start";
    else
      running_ = true;
  }
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;
  ~Mps() {
    if (running_ && std::system("echo quit | nvidia-cuda-mps-control >/dev/null 2>&1") != 0) return;
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  // How much of the GPU each process may use that starts from now on.
  void limit(int percent) const { setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", std::to_string(percent).c_str(), 1); }

 private:
  std::string folder_;
  bool running_ = false;
};
