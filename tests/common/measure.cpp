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

TEST_CASE("a time is in seconds, and one slow run does not spoil it") {
  int run = 0;
  const double seconds =
      cu::median_seconds([&] { std::this_thread::sleep_for(std::chrono::milliseconds(run++ == 2 ? 200 : 10)); }, 3);
  CHECK(seconds >= 0.01);
  CHECK(seconds < 0.15);
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
