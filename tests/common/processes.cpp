// Checks common/processes.hpp. No case needs a driver.
#include "common/processes.hpp"
#include "tests/catch.hpp"

#include <fcntl.h>
#include <csignal>
#include <cstring>
#include <optional>

namespace {

struct Connected {
  int ends[2];
  Connected() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0); }
  ~Connected() {
    for (const int end : ends) close(end);
  }
};

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) != -1; }

struct Point {
  int x;
  double y;
};

}  // namespace

TEST_CASE_METHOD(Connected, "a value arrives at the other end, and values keep their order") {
  cu::send(ends[0], Point{3, 4.5});
  cu::send(ends[0], 'x');
  const auto point = cu::receive<Point>(ends[1]);
  CHECK(point.x == 3);
  CHECK(point.y == 4.5);
  CHECK(cu::receive<char>(ends[1]) == 'x');
}

TEST_CASE_METHOD(Connected, "a descriptor arrives as another one for the same file, and is closed once") {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const int read_end = pipe_ends[0];
  int received = -1;
  {
    const cu::Descriptor written(pipe_ends[1]);
    cu::send(ends[0], 7, written);
    auto [value, descriptor] = cu::receive_with<int>(ends[1]);
    CHECK(value == 7);
    CHECK(descriptor.number != written.number);
    received = descriptor.number;
    REQUIRE(write(descriptor.number, "y", 1) == 1);
    const cu::Descriptor moved = std::move(descriptor);
    CHECK(descriptor.number == -1);
    CHECK(is_open(received));
  }
  CHECK_FALSE(is_open(received));
  char byte = 0;
  CHECK(read(read_end, &byte, 1) == 1);
  CHECK(byte == 'y');
  CHECK(read(read_end, &byte, 1) == 0);  // all writing ends are closed
  close(read_end);
}

TEST_CASE_METHOD(Connected, "a value without a descriptor yields no descriptor") {
  cu::send(ends[0], 7);
  CHECK(cu::receive_with<int>(ends[1]).second.number == -1);
}

TEST_CASE_METHOD(Connected, "if a descriptor comes where none is expected, it is closed") {
  cu::send(ends[0], 7, cu::Descriptor(open("/dev/null", O_RDWR)));
  const int next = open("/dev/null", O_RDWR);
  close(next);
  CHECK(cu::receive<int>(ends[1]) == 7);
  CHECK_FALSE(is_open(next));
}

TEST_CASE_METHOD(Connected, "if the other end is closed, both directions throw") {
  REQUIRE(shutdown(ends[1], SHUT_RDWR) == 0);
  CHECK_THROWS_AS(cu::send(ends[0], 7), std::runtime_error);
  CHECK_THROWS_AS(cu::receive<int>(ends[0]), std::runtime_error);
}

TEST_CASE("a child process runs the function, and its exit status is known") {
  cu::Process doubles([](int socket) { cu::send(socket, 2 * cu::receive<int>(socket)); });
  cu::send(doubles.socket.number, 21);
  CHECK(cu::receive<int>(doubles.socket.number) == 42);
  CHECK(doubles.wait() == 0);
  CHECK(doubles.wait() == 0);
  cu::Process fails([](int) { throw std::runtime_error("a child that fails on purpose"); });
  CHECK(fails.wait() == 1);
  cu::Process killed([](int socket) { cu::receive<int>(socket); });
  kill(killed.id(), SIGKILL);
  CHECK(killed.wait() == -1);
}

TEST_CASE("the end of its scope ends a child, even if a later child has a copy of its socket") {
  const auto until_closed = [](int socket) {
    try {
      cu::receive<int>(socket);
    } catch (const std::runtime_error&) {
    }
  };
  std::optional<cu::Process> first, second;
  first.emplace(until_closed);
  second.emplace(until_closed);
  first.reset();  // hangs if only the last copy of the socket ended the child
  second.reset();
}

TEST_CASE("a moved process is the same child, which ends once") {
  cu::Process made([](int socket) { cu::send(socket, 3 * cu::receive<int>(socket)); });
  const pid_t id = made.id();
  cu::Process kept(std::move(made));
  CHECK(kept.id() == id);
  cu::send(kept.socket.number, 7);
  CHECK(cu::receive<int>(kept.socket.number) == 21);
  CHECK(kept.wait() == 0);
}
