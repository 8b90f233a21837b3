// Runs part of a check in a process of its own, for what a process does not survive, such as a kernel's fault.
#pragma once
#include "tests/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <functional>
#include <string>

struct Child {
  int status = 0;     // as waitpid() has it
  std::string said;   // what the function returned
  std::string threw;  // what() of an exception that left it
};

// The function must not use Catch2, whose report is the parent's.
inline Child in_a_child(const std::function<std::string()>& function) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM}) std::signal(fault, SIG_DFL);  // Catch2's
    std::string told;
    try {
      told = "=" + function();
    } catch (const std::exception& error) {
      told = std::string("!") + error.what();
    } catch (...) {
      told = "!something that is no std::exception";
    }
    _exit(write(ends[1], told.data(), told.size()) == static_cast<ssize_t>(told.size()) ? 0 : 1);
  }
  close(ends[1]);
  Child found;
  std::string told;
  char part[4096];
  for (ssize_t bytes; (bytes = read(ends[0], part, sizeof part)) > 0;) told.append(part, bytes);
  close(ends[0]);
  waitpid(child, &found.status, 0);
  if (!told.empty()) (told[0] == '=' ? found.said : found.threw) = told.substr(1);
  return found;
}
