// Runs itself as if on six machines: this one, one that shows the first of its devices only, and four whose GPUs or
// driver are not to be had.
#include "common/cu.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstring>

// What a good program does: it looks at the answer, says what it means for the user, and hands the code on.
int good_program() {
  int count = 0;
  CUresult answer = cuInit(0);
  if (answer == CUDA_SUCCESS) answer = cuDeviceGetCount(&count);
  if (answer == CUDA_SUCCESS) {
    std::printf("%d to work on\n", count);
  } else if (answer == CUDA_ERROR_NO_DEVICE) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::printf("no GPU%s\n", visible ? ": CUDA_VISIBLE_DEVICES hides them all" : " in this machine");
  } else if (answer == CUDA_ERROR_STUB_LIBRARY) {
    std::printf("no driver: the loader took the linker's stub; look at LD_LIBRARY_PATH\n");
  } else {
    std::printf("the driver does not start: %s\n", cu::name(answer));
  }
  return answer;
}

// Runs a command of the shell and shows how it ended and what it said. True if it ended as expected.
bool play(const char* machine, const std::string& command, int expected) {
  char said[200] = "";
  FILE* output = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (!output) return false;
  if (!std::fgets(said, sizeof said, output)) said[0] = '\0';
  const int status = WEXITSTATUS(pclose(output));
  said[std::strcspn(said, "\n")] = '\0';
  std::printf("%s\n  %3d | %.87s\n", machine, status, said);
  return status == expected;
}

int main(int arguments, char**) {
  if (arguments > 1) return good_program();
  char self[PATH_MAX] = "";
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
  setenv("SELF", self, 1);  // the shell asks for it, so that a path may have anything in it
  const std::string program = "\"$SELF\" good";
  const std::string stub = "${SELF%/*}/stub:${SELF%/*}/../../../../01-driver-init/08-no-device/stub";

  bool right = play("this one", program, CUDA_SUCCESS);
  right &= play("CUDA_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES= " + program, CUDA_ERROR_NO_DEVICE);
  right &= play("CUDA_VISIBLE_DEVICES=99", "CUDA_VISIBLE_DEVICES=99 " + program, CUDA_ERROR_NO_DEVICE);
  right &= play("CUDA_VISIBLE_DEVICES=0,99,1", "CUDA_VISIBLE_DEVICES=0,99,1 " + program, CUDA_SUCCESS);
  right &= play("LD_LIBRARY_PATH=…/stub", "LD_LIBRARY_PATH=\"" + stub + "\" " + program, CUDA_ERROR_STUB_LIBRARY);
  // A copy of this program that needs libcuda.so.9, which no machine has: the loader ends it before main.
  const std::string copied =
      "cd \"$(mktemp -d \"$SELF.XXXX\")\" && trap 'rm -r \"$PWD\"' EXIT && "
      "sed s/libcuda.so.1/libcuda.so.9/ \"$SELF\" >p && chmod +x p && ./p";
  right &= play("no driver", copied, 127);
  return right ? 0 : 1;
}
