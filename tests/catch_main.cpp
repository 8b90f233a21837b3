// The main function of every test binary, compiled once.
#define TESTS_MAIN
#include "tests/catch.hpp"

#include <cstdio>
#include <unistd.h>

int main(int argc, char** argv) {
  // CU_CHECK in an answer ends the process from inside a test case. Catch2's own destructors crash then: leave without
  // them, so that the status is the one the program asked for.
  on_exit(
      [](int status, void*) {
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr);
  return Catch::Session().run(argc, argv);
}
