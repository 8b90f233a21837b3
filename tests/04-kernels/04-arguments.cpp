// Checks the learner's append() and launch_packed() (exercise of 04-kernels/04-arguments).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

#include <cstring>
#include <vector>

std::size_t append(std::vector<char>& buffer, const void* value, std::size_t bytes, std::size_t alignment);
void launch_packed(CUfunction kernel, std::vector<char>& buffer);

namespace {

template <class T>
std::size_t add(std::vector<char>& buffer, const T& value) {
  return append(buffer, &value, sizeof value, alignof(T));
}

// Reads from the buffer at this offset; zero if the buffer is too short.
template <class T>
T at(const std::vector<char>& buffer, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= buffer.size()) std::memcpy(&value, buffer.data() + offset, sizeof value);
  return value;
}

// As in 04-arguments.cu.
struct Pair {
  char first;
  int second;
};

}  // namespace

TEST_CASE("the first value is stored at offset 0") {
  std::vector<char> buffer;
  CHECK(add(buffer, 0x11223344) == 0);
  CHECK(buffer.size() == 4);
  CHECK(at<int>(buffer, 0) == 0x11223344);
}

TEST_CASE("a value starts at a multiple of its alignment") {
  std::vector<char> buffer;
  add(buffer, 'x');
  CHECK(add(buffer, 2.5) == 8);
  CHECK(buffer.size() == 16);
  CHECK(at<double>(buffer, 8) == 2.5);
}

TEST_CASE("a value that is already aligned leaves no gap") {
  std::vector<char> buffer;
  add(buffer, 1);
  CHECK(add(buffer, 2) == 4);
  CHECK(add(buffer, 2.5) == 8);
  CHECK(buffer.size() == 16);
}

TEST_CASE("the buffer ends where the last value ends") {
  std::vector<char> buffer;
  add(buffer, 2.5);
  CHECK(add(buffer, 'x') == 8);
  CHECK(buffer.size() == 9);
}

TEST_CASE("a kernel receives the packed values") {
  cu::Context context;
  cu::Module module(cu::image("check.ptx"));
  cu::Memory memory(sizeof(double));
  CU_CHECK(cuMemsetD8(memory.address, 0, sizeof(double)));
  std::vector<char> buffer;
  const char a = 1;
  const short c = -5;
  add(buffer, a);
  add(buffer, 2.5);
  add(buffer, Pair{10, 100});
  add(buffer, c);
  add(buffer, memory.address);
  REQUIRE(buffer.size() == 40);
  launch_packed(module.function("sum"), buffer);
  double result = 0;
  CU_CHECK(cuMemcpyDtoH(&result, memory.address, sizeof result));
  CHECK(result == 1 + 2.5 + 10 + 100 - 5);
}

TEST_CASE_METHOD(cu::Context, "a failed launch is reported") {
  std::vector<char> buffer;
  add(buffer, 1);
  CHECK_THROWS_AS(launch_packed(nullptr, buffer), cu::Error);
}

TEST_CASE("the alignment determines the offset, not the size") {
  std::vector<char> buffer;
  add(buffer, 'x');
  CHECK(add(buffer, Pair{1, 2}) == 4);
  CHECK(buffer.size() == 12);
}

TEST_CASE("the gap is filled with zeros") {
  std::vector<char> buffer;
  buffer.reserve(64);
  buffer.assign(32, 'x');  // the vector's spare capacity need not be zero
  buffer.clear();
  add(buffer, '\xff');
  add(buffer, -1.0);
  REQUIRE(buffer.size() == 16);
  CHECK(std::vector<char>(buffer.begin() + 1, buffer.begin() + 8) == std::vector<char>(7, '\0'));
}
