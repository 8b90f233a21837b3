// Runs one scenario, or each in a process of its own: conformance list, conformance NAME…, conformance all.
// All parts are one translation unit, since the headers take longest; only per_thread.cu has flags of its own.
#include "scenario.hpp"

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copies.cuh"
#include "corners.cuh"
#include "devices.cuh"
#include "errors.cuh"
#include "interop.cuh"
#include "launches.cuh"
#include "memory.cuh"
#include "streams.cuh"

std::vector<Scenario>& scenarios() {
  static std::vector<Scenario> all;
  return all;
}

Scenario::Scenario(const char* name, void (*run)()) : name(name), run(run) { scenarios().push_back(*this); }

int main(int count, char** words) {
  const std::string word = count > 1 ? words[1] : "all";
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (word == "list") {
    for (const Scenario& scenario : scenarios()) std::printf("%s\n", scenario.name);
    return 0;
  }
  if (word != "all") {
    for (const Scenario& scenario : scenarios()) {
      if (word == scenario.name) return scenario.run(), 0;
    }
    std::fprintf(stderr, "there is no scenario %s\n", word.c_str());
    return 2;
  }
  for (const Scenario& scenario : scenarios()) {
    std::printf("== %s\n", scenario.name);
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", words[0], scenario.name, nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("ended by signal %d\n", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) std::printf("exit status %d\n", WEXITSTATUS(status));
  }
}
