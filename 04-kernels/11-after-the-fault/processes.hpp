// The processes of the service: how they are started, and what they say to each other.
#pragma once
#include "common/cu.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>

// What the supervisor asks a process for. `number` is another process's ID, where one is needed.
struct Request {
  enum { infer, fault, new_context, primary_reset, fork_child, memory_in_use, checkpoint, restore } what;
  int number = 0;
};

struct Reply {
  CUresult result = CUDA_SUCCESS;
  double number = 0;
};

// One end of a connection between two processes.
struct Socket {
  int end = -1;

  template <class T>
  void tell(const T& value) const {
    if (write(end, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) _exit(1);  // the other side has ended
  }
  // Returns whether there was a value; there is none once the other side has closed its end.
  template <class T>
  bool hear(T& value) const {
    return read(end, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
  }
};

// A child of the supervisor. It ends when its socket is closed.
class Process {
 public:
  // Forks, and runs `role` in the child. The parent must not have called cuInit.
  explicit Process(const std::function<void(Socket)>& role) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair failed");
    std::fflush(stdout);
    id_ = fork();
    if (id_ < 0) throw std::runtime_error("fork failed");
    if (id_ == 0) {
      close(ends[0]);
      run(role, Socket{ends[1]});
    }
    close(ends[1]);
    socket_.end = ends[0];
  }
  ~Process() { end(); }
  Process(Process&& other) noexcept : id_(other.id_), socket_(std::exchange(other.socket_, Socket{})) {}
  Process& operator=(Process&&) = delete;

  pid_t id() const { return id_; }

  template <class T>
  T hear() const {
    T value{};
    if (!socket_.hear(value)) throw std::runtime_error("a process has ended unexpectedly");
    return value;
  }
  Reply ask(const Request& request) const {
    socket_.tell(request);
    return hear<Reply>();
  }
  // Ends the process, and waits until the system has released all that it had.
  void end() {
    if (socket_.end < 0) return;
    shutdown(socket_.end, SHUT_RDWR);  // close() would not do: children that were forked later have copies of this end
    close(std::exchange(socket_.end, -1));
    waitpid(id_, nullptr, 0);
  }

 private:
  // In the child, which must never return to the code of the supervisor.
  [[noreturn]] static void run(const std::function<void(Socket)>& role, Socket supervisor) {
    try {
      role(supervisor);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }

  pid_t id_ = 0;
  Socket socket_;
};
