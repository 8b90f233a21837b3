// common/measure.hpp: what a figure is made of, and how it is drawn.
#include "common/measure.hpp"
#include "tests/catch.hpp"

#include <thread>

TEST_CASE("the median is the middle value, and the first run does not count") {
  int run = 0;
  const double values[] = {1000, 5, 1, 4, 2, 3};  // the first may pay for what is set up once
  CHECK(cu::median([&] { return values[run++]; }, 5) == 3);
  CHECK(run == 6);
}

TEST_CASE("what takes a second is not done again and again") {
  int run = 0;
  cu::median_seconds([&] { std::this_thread::sleep_for(std::chrono::milliseconds(run++ == 0 ? 1 : 600)); });
  CHECK(run == 3);
}

TEST_CASE("a time is in seconds, and one slow run does not spoil it") {
  int run = 0;
  const double seconds =
      cu::median_seconds([&] { std::this_thread::sleep_for(std::chrono::milliseconds(run++ == 2 ? 200 : 10)); }, 3);
  CHECK(seconds >= 0.01);
  CHECK(seconds < 0.15);
}

TEST_CASE("a device's time is what lies between two events, not the wait of the host") {
  cu::Context context;
  cu::Memory memory(64 << 20);
  int runs = 0;
  const double short_time = cu::median_device_seconds(
      [&] {
        CU_CHECK(cuMemsetD8Async(memory.address, 1, 1 << 10, nullptr));
        ++runs;
      },
      5);
  const double long_time =
      cu::median_device_seconds([&] { CU_CHECK(cuMemsetD8Async(memory.address, 1, 64 << 20, nullptr)); }, 5);
  CHECK(runs == 6);
  CHECK(short_time > 0);
  CHECK(long_time > short_time);
  CHECK(long_time < 5);  // in seconds
}

TEST_CASE("memory's limit is in GB/s") {
  cu::Context context;
  const double limit = cu::memory_limit(context.device);
  CHECK((limit == 0 || (limit > 5 && limit < 50000)));  // from an old laptop's to what nobody has yet
}

TEST_CASE("a bar is as long as its value, rounded, and padded to the full scale") {
  CHECK(cu::bar(0, 10, 4) == "    ");
  CHECK(cu::bar(5, 10, 4) == "██  ");
  CHECK(cu::bar(6.3, 10, 4) == "███ ");
  CHECK(cu::bar(10, 10, 4) == "████");
  CHECK(cu::bar(25, 10, 4) == "████");
}

TEST_CASE("a link's limit is known or 0, never negative") {
  cu::Context context;
  CHECK(cu::link_limit(context.device) >= 0);
}
