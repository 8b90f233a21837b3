// Child processes, and messages and file descriptors between processes of one machine, over a UNIX-domain socket.
//
//   cu::Process                  a child process that runs a function, and this process's end of a socket to it
//   cu::Descriptor               an open file descriptor, closed at the end of the scope
//   cu::send(socket, value)      sends a value of a plain type; with a third argument, a descriptor travels along
//   cu::receive<T>(socket)       returns the next value
//   cu::receive_with<T>(socket)  returns the next value and the descriptor that came with it
//
// The number of a descriptor means nothing in another process. The kernel must install the descriptor there, under a
// number of that process: a message with the type SCM_RIGHTS asks for that (unix(7), "Ancillary messages"). All
// functions throw std::runtime_error if the other process has closed its end, std::system_error for other failures.
//
// Create a cu::Process before the first driver call: a child process cannot use a driver that its parent has
// initialized.
#pragma once
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

namespace cu {

struct Descriptor {
  int number = -1;

  Descriptor() = default;
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(Descriptor&& other) noexcept : number(std::exchange(other.number, -1)) {}
  Descriptor& operator=(Descriptor other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
};

namespace detail {

// Room for one descriptor, aligned as the functions of the system expect it.
union Ancillary {
  cmsghdr header;
  char room[CMSG_SPACE(sizeof(int))];
};

[[noreturn]] inline void connection_failed(ssize_t result, const char* what) {
  if (result == 0 || errno == EPIPE || errno == ECONNRESET)
    throw std::runtime_error("the other process has closed the connection");
  throw std::system_error(errno, std::generic_category(), what);
}

inline void send_bytes(int socket, const void* bytes, std::size_t count, const Descriptor* descriptor) {
  iovec data{const_cast<void*>(bytes), count};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  Ancillary ancillary{};
  if (descriptor != nullptr) {
    message.msg_control = ancillary.room;
    message.msg_controllen = sizeof ancillary.room;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor->number, sizeof(int));
  }
  const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(count)) connection_failed(sent, "sendmsg");
}

inline Descriptor receive_bytes(int socket, void* bytes, std::size_t count) {
  iovec data{bytes, count};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  Ancillary ancillary{};
  message.msg_control = ancillary.room;
  message.msg_controllen = sizeof ancillary.room;
  const ssize_t received = recvmsg(socket, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  Descriptor descriptor;
  const cmsghdr* const header = received > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&descriptor.number, CMSG_DATA(header), sizeof(int));
  }
  if (received != static_cast<ssize_t>(count)) connection_failed(received < 0 ? received : 0, "recvmsg");
  return descriptor;
}

}  // namespace detail

template <class T>
void send(int socket, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  detail::send_bytes(socket, &value, sizeof value, nullptr);
}

// The sender keeps its own descriptor, and may close it as soon as this function has returned.
template <class T>
void send(int socket, const T& value, const Descriptor& descriptor) {
  static_assert(std::is_trivially_copyable_v<T>);
  detail::send_bytes(socket, &value, sizeof value, &descriptor);
}

template <class T>
std::pair<T, Descriptor> receive_with(int socket) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::pair<T, Descriptor> received{};
  received.second = detail::receive_bytes(socket, &received.first, sizeof(T));
  return received;
}

template <class T>
T receive(int socket) {
  return receive_with<T>(socket).first;
}

// The child runs the function with its end of the socket, and exits with status 0, or with 1 after an exception, which
// it prints. The destructor ends the connection and waits until the child has ended.
class Process {
 public:
  Descriptor socket;

  explicit Process(const std::function<void(int socket)>& run) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
    socket = Descriptor(ends[0]);
    Descriptor there(ends[1]);
    std::fflush(stdout);  // or the child would print it again
    id_ = fork();
    if (id_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (id_ == 0) run_and_exit(run, there.number);
  }
  Process(Process&& other) noexcept
      : socket(std::move(other.socket)),
        id_(other.id_),
        ended_(std::exchange(other.ended_, true)),
        status_(other.status_) {}
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (socket.number >= 0)
      shutdown(socket.number, SHUT_RDWR);  // closing is not enough: children that were forked later have copies
    socket = {};
    wait();
  }

  pid_t id() const { return id_; }
  // Waits until the child has ended. Returns its exit status, or -1 if a signal has ended it.
  int wait() {
    int status;
    if (!ended_ && waitpid(id_, &status, 0) == id_) {
      ended_ = true;
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    return status_;
  }

 private:
  [[noreturn]] void run_and_exit(const std::function<void(int)>& run, int end) {
    socket = {};
    int status = 0;
    try {
      run(end);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      status = 1;
    }
    std::fflush(stdout);
    _exit(status);
  }

  pid_t id_ = 0;
  bool ended_ = false;
  int status_ = -1;
};

}  // namespace cu
