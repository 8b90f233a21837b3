// Self-check of 01-driver-init/08-no-device: judges the learner's usable_devices(). Drivers made up here are asked
// instead of this machine's.
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <cstdlib>
#include <string>

int usable_devices(std::string* why);

namespace {

CUresult init_answers = CUDA_SUCCESS;
CUresult count_answers = CUDA_SUCCESS;  // once cuInit has succeeded
int devices = 0;

struct Answer {
  int count;
  std::string why;
};

// Asks the learner's function on a machine where cuInit answers `init` and `there` devices can be seen.
Answer on_machine(CUresult init, int there, const char* visible) {
  init_answers = init;
  devices = there;
  unsetenv("CUDA_VISIBLE_DEVICES");
  if (visible) setenv("CUDA_VISIBLE_DEVICES", visible, 1);
  Answer answer{0, "left from before"};
  answer.count = usable_devices(&answer.why);
  unsetenv("CUDA_VISIBLE_DEVICES");
  return answer;
}

bool names(const Answer& answer, const char* part) { return answer.why.find(part) != std::string::npos; }

}  // namespace

// Functions of the program take the place of a library's of the same name.
CUresult CUDAAPI cuInit(unsigned) { return init_answers; }
CUresult CUDAAPI cuDeviceGetCount(int* count) {
  if (init_answers != CUDA_SUCCESS) return CUDA_ERROR_NOT_INITIALIZED;
  if (count_answers == CUDA_SUCCESS) *count = devices;
  return count_answers;
}

TEST_CASE("where there are devices they are counted, and nothing is complained about") {
  const Answer answer = on_machine(CUDA_SUCCESS, 3, nullptr);
  CHECK(answer.count == 3);
  CHECK(answer.why == "");
}

TEST_CASE("a variable that leaves some devices is nothing to complain about") {
  const Answer answer = on_machine(CUDA_SUCCESS, 1, "2");
  CHECK(answer.count == 1);
  CHECK(answer.why == "");
}

TEST_CASE("hidden devices are laid to the variable") {
  const char* const variable = GENERATE("", "-1", "7");  // nothing, or nothing that is there
  const CUresult init = GENERATE(CUDA_ERROR_NO_DEVICE, CUDA_SUCCESS);
  const Answer answer = on_machine(init, 0, variable);
  CAPTURE(variable, cu::name(init), answer.why);
  CHECK(answer.count == 0);
  CHECK(names(answer, "CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("where nothing is hidden, the variable is not blamed") {
  const Answer answer = on_machine(CUDA_ERROR_NO_DEVICE, 0, nullptr);
  CHECK(answer.count == 0);
  CHECK(names(answer, "no GPU"));
  CHECK_FALSE(names(answer, "CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("a driver that starts and counts no device has one reason, too") {
  const Answer answer = on_machine(CUDA_SUCCESS, 0, nullptr);
  CHECK(answer.count == 0);
  CHECK(names(answer, "no GPU"));
}

TEST_CASE("the stub is called a stub") {
  const char* const variable = GENERATE(static_cast<const char*>(nullptr), "0");
  const Answer answer = on_machine(CUDA_ERROR_STUB_LIBRARY, 0, variable);
  CHECK(answer.count == 0);
  CHECK(names(answer, "stub"));
}

TEST_CASE("any other failure is given by its own name") {
  const char* const variable = GENERATE(static_cast<const char*>(nullptr), "0");
  const Answer answer = on_machine(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 0, variable);
  CAPTURE(answer.why);
  CHECK(answer.count == 0);
  CHECK(names(answer, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"));
}

TEST_CASE("a driver that starts and then does not count says why, too") {
  count_answers = CUDA_ERROR_SYSTEM_NOT_READY;
  const Answer answer = on_machine(CUDA_SUCCESS, 1, nullptr);
  count_answers = CUDA_SUCCESS;
  CHECK(answer.count == 0);
  CHECK(names(answer, "CUDA_ERROR_SYSTEM_NOT_READY"));
  CHECK_FALSE(names(answer, "no GPU"));
}
