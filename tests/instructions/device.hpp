// The device that the instruction tests run on.
#pragma once
#include "common/cu.hpp"
#include "tests/simulated.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace instructions {

// The primary context of device 0, for one test.
class Device {
 public:
  Device() {
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device_, 0));
    CU_CHECK(cuDevicePrimaryCtxRetain(&context_, device_));
    CU_CHECK(cuCtxPushCurrent(context_));
  }
  ~Device() {
    CU_REPORT(cuCtxPopCurrent(nullptr));
    CU_REPORT(cuDevicePrimaryCtxRelease(device_));
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Only for what a GPU is known to do otherwise, and the reason is not.
  bool simulated() const { return is_simulated(device_); }
  // 90 for compute capability 9.0; no more, since the tests' target is sm_90 at most.
  int architecture() const {
    int major = 0, minor = 0;
    CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_));
    CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_));
    return std::min(10 * major + minor, 90);
  }
  // What the driver takes: 83 for PTX ISA 8.3, at most `wanted`.
  static int ptx_version(int wanted) {
    int driver = 0;
    CU_CHECK(cuDriverGetVersion(&driver));
    const int own = 10 * (driver / 1000 - 4) + driver % 1000 / 10;   // CUDA 12.3: PTX 8.3; 13.0: 9.0 …
    return std::min(wanted, own >= 86 && own < 90 ? own - 1 : own);  // … but 12.6: PTX 8.5
  }

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

inline std::string header(int version, int architecture) {
  return ".version " + std::to_string(version / 10) + "." + std::to_string(version % 10) + "\n.target sm_" +
         std::to_string(architecture) + "\n.address_size 64\n";
}

// Writes the instructions of a program, each once, to the file that INSTRUCTIONS_LOADED names: for the test that holds
// the simulator's table to having a case for each of its rows (tests/simulator/isa_rows.cpp).
inline void note_instructions(const std::string& text) {
  const char* file = std::getenv("INSTRUCTIONS_LOADED");
  if (file == nullptr) return;
  static std::set<std::string> noted;
  std::stringstream words(text);
  std::ofstream out(file, std::ios::app);
  for (std::string word; words >> word;) {
    if (word.back() == ';') word.pop_back();
    if (!word.empty() && word[0] >= 'a' && word[0] <= 'z' && noted.insert(word).second) out << word << '\n';
  }
}

// Loads PTX; null, with the error log in `log`, if it does not load.
inline CUmodule load(const std::string& text, std::string& log) {
  std::vector<char> buffer(16384);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {buffer.data(), reinterpret_cast<void*>(buffer.size())};
  CUmodule module = nullptr;
  const CUresult loaded = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  if (loaded == CUDA_SUCCESS) {
    note_instructions(text);
    return module;
  }
  log = std::string(cu::name(loaded)) + "\n" + buffer.data();
  return nullptr;
}

// Was a text refused only because the driver is older than an instruction in it? The cases' newest is of PTX ISA 8.7.
inline bool too_new(const std::string& log) {
  return Device::ptx_version(87) < 87 && log.find("requires PTX ISA .version") != std::string::npos;
}

}  // namespace instructions
