// The main function of every test binary, compiled once.
#define TESTS_MAIN
#include "tests/catch.hpp"

#include <execinfo.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

pid_t first_process;  // not one that a test forks: that may be meant to crash

// Prints the stack of the thread that crashed. course/judge.py finds the learner's line in it. Afterwards the signal
// ends the process as it would have done anyway.
void print_frames(int signal) {
  if (getpid() == first_process) {
    void* frames[64];
    const int count = backtrace(frames, 64);
    if (write(STDERR_FILENO, "frames:\n", 8) == 8) backtrace_symbols_fd(frames, count, STDERR_FILENO);
  }
  std::signal(signal, SIG_DFL);
}

// Catch2 has handlers of its own. It puts these back before it raises the signal again.
void report_crashes() {
  first_process = getpid();
  void* frame;
  backtrace(&frame, 1);  // loads the library that it needs, which a signal handler must not do
  static char memory[1 << 16];  // for a handler that runs because the stack is full
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = print_frames;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  // CU_CHECK in an exercise ends the process from inside a test case. Catch2's own destructors crash then: leave
  // without them, so that the status is the one the program asked for.
  on_exit(
      [](int status, void*) {
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr);
  if (std::getenv("COURSE_FRAMES")) report_crashes();
  return Catch::Session().run(argc, argv);
}
