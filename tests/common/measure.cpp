// common/measure.hpp: how times are taken, how a model of copies is fitted, and how bars are drawn.
#include "common/measure.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

TEST_CASE("the median is the middle value, and the first run does not count") {
  int run = 0;
  const double values[] = {1000, 5, 1, 4, 2, 3};  // the first run may include work that is done only once
  CHECK(cu::median([&] { return values[run++]; }, 5) == 3);
  CHECK(run == 6);
}

TEST_CASE("work that takes long is repeated only twice") {
  int run = 0;
  cu::median_seconds([&] { std::this_thread::sleep_for(std::chrono::milliseconds(run++ == 0 ? 1 : 600)); });
  CHECK(run == 3);
}

TEST_CASE("a time is in seconds, and one slow run does not spoil it") {
  // Compared with what the runs themselves have measured: on a busy machine, every one of them may take long.
  std::vector<double> own;
  const double seconds = cu::median_seconds(
      [&] {
        const auto begin = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(std::chrono::milliseconds(own.size() == 2 ? 200 : 10));
        own.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      },
      3);
  REQUIRE(own.size() == 4);  // the first does not count
  std::sort(own.begin() + 1, own.end());
  CHECK(seconds >= own[2]);
  CHECK(seconds < own[3]);
}

TEST_CASE("the device's time is the time between two events, without the host's wait") {
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

TEST_CASE("the limit of device memory is in GB/s") {
  cu::Context context;
  const double limit = cu::memory_limit(context.device);
  CHECK((limit == 0 || (limit > 5 && limit < 50000)));  // from an old laptop to more than any device has
}

TEST_CASE("a fit finds the latency and the bandwidth that the times were made of") {
  const cu::CopyModel made{5e-6, 20e9};
  std::vector<cu::TimedCopy> copies;
  for (double bytes = 4096; bytes <= 64 << 20; bytes *= 4) copies.push_back({bytes, made.seconds(bytes)});
  const cu::CopyModel found = cu::fit(copies);
  CHECK(std::abs(found.latency / made.latency - 1) < 1e-6);
  CHECK(std::abs(found.bandwidth / made.bandwidth - 1) < 1e-6);
  CHECK(cu::largest_error(found, copies) < 1e-6);
}

TEST_CASE("small copies count as much as large ones in a fit") {
  const cu::CopyModel made{5e-6, 20e9};
  std::vector<cu::TimedCopy> copies;
  for (double bytes = 4096; bytes <= 64 << 20; bytes *= 4) copies.push_back({bytes, made.seconds(bytes)});
  copies.back().seconds *= 1.2;  // 0.7 ms more, a hundred times the latency
  const cu::CopyModel found = cu::fit(copies);
  CHECK(std::abs(found.latency / made.latency - 1) < 0.05);
  CHECK(found.bandwidth < made.bandwidth);
}

TEST_CASE("a fit never has a latency below zero") {
  const cu::CopyModel found = cu::fit({{1000, 1e-6}, {2000, 4e-6}, {4000, 16e-6}});
  CHECK(found.latency == 0);
  CHECK(found.bandwidth > 0);
}

TEST_CASE("a fit never has a bandwidth below zero") {
  const cu::CopyModel found = cu::fit({{1000, 4e-6}, {2000, 3e-6}, {4000, 3e-6}});
  CHECK(found.latency > 3e-6);
  CHECK(found.latency < 4e-6);
  CHECK(found.bandwidth > 0);
}

TEST_CASE("the largest error is that of the worst copy, too high or too low") {
  const cu::CopyModel model{1, 1};
  CHECK(std::abs(cu::largest_error(model, {{1, 2}, {3, 5}}) - 0.2) < 1e-9);
  CHECK(std::abs(cu::largest_error(model, {{1, 2}, {3, 3.2}}) - 0.25) < 1e-9);
}

TEST_CASE("at half_size, a copy reaches half of the bandwidth") {
  const cu::CopyModel model{8e-6, 50e9};
  CHECK(std::abs(model.half_size() / model.seconds(model.half_size()) / model.bandwidth - 0.5) < 1e-9);
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
