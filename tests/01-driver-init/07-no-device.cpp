// Checks the exercise of 01-driver-init/07-no-device. The functions below replace the driver's, so that every failure
// can be tested on every machine.
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <cstdlib>
#include <string>

int usable_devices(std::string* why);

namespace {

CUresult init_result = CUDA_SUCCESS;
CUresult count_result = CUDA_SUCCESS;  // if cuInit has succeeded
int devices = 0;

struct Report {
  int count;
  std::string why;
};

// Calls the exercise as if on a machine on which cuInit returns `init` and `present` devices are visible.
Report on_machine(CUresult init, int present, const char* visible) {
  init_result = init;
  devices = present;
  unsetenv("CUDA_VISIBLE_DEVICES");
  if (visible) setenv("CUDA_VISIBLE_DEVICES", visible, 1);
  Report report{0, "the sentence of an earlier call"};
  report.count = usable_devices(&report.why);
  unsetenv("CUDA_VISIBLE_DEVICES");
  return report;
}

bool names(const Report& report, const char* part) { return report.why.find(part) != std::string::npos; }

}  // namespace

// A function of the program replaces a library's function of the same name.
CUresult CUDAAPI cuInit(unsigned) { return init_result; }
CUresult CUDAAPI cuDeviceGetCount(int* count) {
  if (init_result == CUDA_ERROR_STUB_LIBRARY) return init_result;  // like every function of the stub library
  if (init_result != CUDA_SUCCESS) return CUDA_ERROR_NOT_INITIALIZED;
  if (count_result == CUDA_SUCCESS) *count = devices;
  return count_result;
}

TEST_CASE("if there are devices, they are counted and *why is empty") {
  const Report report = on_machine(CUDA_SUCCESS, 3, nullptr);
  CHECK(report.count == 3);
  CHECK(report.why == "");
}

TEST_CASE("a variable that hides only some of the devices is no problem") {
  const Report report = on_machine(CUDA_SUCCESS, 1, "2");
  CHECK(report.count == 1);
  CHECK(report.why == "");
}

TEST_CASE("if the variable is set, it may hide all devices, and the sentence names it") {
  const char* const variable = GENERATE("", "-1", "7");  // an empty list, or one without an existing device
  const CUresult init = GENERATE(CUDA_ERROR_NO_DEVICE, CUDA_SUCCESS);
  const Report report = on_machine(init, 0, variable);
  CAPTURE(variable, cu::name(init), report.why);
  CHECK(report.count == 0);
  CHECK(names(report, "CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("if the variable is not set, the sentence does not name it") {
  const Report report = on_machine(CUDA_ERROR_NO_DEVICE, 0, nullptr);
  CHECK(report.count == 0);
  CHECK(names(report, "no GPU"));
  CHECK_FALSE(names(report, "CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("a count of zero has a reason too") {
  const Report report = on_machine(CUDA_SUCCESS, 0, nullptr);
  CHECK(report.count == 0);
  CHECK(names(report, "no GPU"));
}

TEST_CASE("the sentence names the stub library") {
  const char* const variable = GENERATE(static_cast<const char*>(nullptr), "0");
  const Report report = on_machine(CUDA_ERROR_STUB_LIBRARY, 0, variable);
  CHECK(report.count == 0);
  CHECK(names(report, "stub"));
}

TEST_CASE("any other failure is reported by its own name") {
  const char* const variable = GENERATE(static_cast<const char*>(nullptr), "0");
  const Report report = on_machine(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 0, variable);
  CAPTURE(report.why);
  CHECK(report.count == 0);
  CHECK(names(report, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"));
}

TEST_CASE("a failure of cuDeviceGetCount is reported too") {
  count_result = CUDA_ERROR_SYSTEM_NOT_READY;
  const Report report = on_machine(CUDA_SUCCESS, 1, nullptr);
  count_result = CUDA_SUCCESS;
  CHECK(report.count == 0);
  CHECK(names(report, "CUDA_ERROR_SYSTEM_NOT_READY"));
  CHECK_FALSE(names(report, "no GPU"));
}
