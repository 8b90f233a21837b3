// Runs part of a check in a separate process, for failures that a process does not survive, such as a kernel's fault.
#pragma once
#include "tests/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <functional>
#include <string>

struct Child {
  int status = 0;        // as returned by waitpid()
  std::string returned;  // what the function returned
  std::string threw;     // what() of an exception that left it
};

// The function must not use Catch2, whose report is the parent's.
inline Child in_a_child(const std::function<std::string()>& function) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM})
      std::signal(fault, SIG_DFL);  // Catch2's
    std::string message;
    try {
      message = "=" + function();
    } catch (const std::exception& error) {
      message = std::string("!") + error.what();
    } catch (...) {
      message = "!something that is not a std::exception";
    }
    _exit(write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size()) ? 0 : 1);
  }
  close(ends[1]);
  Child found;
  std::string message;
  char part[4096];
  for (ssize_t bytes; (bytes = read(ends[0], part, sizeof part)) > 0;) message.append(part, bytes);
  close(ends[0]);
  waitpid(child, &found.status, 0);
  if (!message.empty()) (message[0] == '=' ? found.returned : found.threw) = message.substr(1);
  return found;
}
