// Measures copies of many sizes between host and device, with pageable and with pinned memory, and fits a model.
#include "common/cu.hpp"
#include "common/measure.hpp"
#include "controls.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

constexpr std::size_t kSmallest = 4 << 10, kLargest = 64 << 20;  // bytes
constexpr int kLongestBar = 30;                                  // characters

// The times of copies of every size. The clock stops when the last byte has arrived.
std::vector<cu::TimedCopy> time_copies(bool to_device, CUdeviceptr device, void* host) {
  std::vector<cu::TimedCopy> copies;
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 4) {
    const auto copy = [&] {
      if (to_device) {
        CU_CHECK(cuMemcpyHtoD(device, host, bytes));
      } else {
        CU_CHECK(cuMemcpyDtoH(host, device, bytes));
      }
      CU_CHECK(cuCtxSynchronize());  // from pageable memory, cuMemcpyHtoD may return before the last bytes arrive
    };
    copies.push_back({static_cast<double>(bytes), cu::median_seconds(copy, 15)});
  }
  return copies;
}

double gigabytes_per_second(const cu::TimedCopy& copy) { return copy.bytes / copy.seconds / 1e9; }

// One line for each size. All bars have the same scale.
void draw(const std::vector<cu::TimedCopy>& pageable, const std::vector<cu::TimedCopy>& pinned, double full_scale) {
  for (std::size_t i = 0; i < pinned.size(); ++i) {
    const std::size_t kib = static_cast<std::size_t>(pinned[i].bytes) >> 10;
    const double left = gigabytes_per_second(pageable[i]), right = gigabytes_per_second(pinned[i]);
    std::printf("%4zu %s | %5.2f %s | %5.2f %s\n", kib < 1024 ? kib : kib >> 10, kib < 1024 ? "KiB" : "MiB", left,
                cu::bar(left, full_scale, kLongestBar).c_str(), right, cu::bar(right, full_scale, kLongestBar).c_str());
  }
}

cu::CopyModel fit_and_print(const char* copies_of, const std::vector<cu::TimedCopy>& copies) {
  const cu::CopyModel model = cu::fit(copies);
  std::printf("%-25s | %7.1f | %9.1f | %7.1f | %7.1f\n", copies_of, model.latency * 1e6, model.bandwidth / 1e9,
              model.half_size() / 1024, 100 * cu::largest_error(model, copies));
  return model;
}

// Sends `total` bytes of pinned memory in pieces: what the model predicts, how long it takes if the program waits for
// each copy, and how long if it waits once, at the end.
void send_in_pieces(const cu::CopyModel& model, CUdeviceptr device, const char* pinned, std::size_t total,
                    std::size_t piece) {
  const double waiting = cu::median_seconds([&] {
    for (std::size_t at = 0; at < total; at += piece) CU_CHECK(cuMemcpyHtoD(device + at, pinned + at, piece));
    CU_CHECK(cuCtxSynchronize());
  });
  const cu::Stream stream;
  const double queued = cu::median_seconds([&] {
    for (std::size_t at = 0; at < total; at += piece) {
      CU_CHECK(cuMemcpyHtoDAsync(device + at, pinned + at, piece, stream.handle));
    }
    CU_CHECK(cuStreamSynchronize(stream.handle));
  });
  const std::size_t count = total / piece;
  std::printf("%4zu x %4zu KiB | %9.3f | %10.3f | %12.3f\n", count, piece >> 10, 1e3 * count * model.seconds(piece),
              1e3 * waiting, 1e3 * queued);
}

int main(int count, char** arguments) try {
  if (count > 1 && arguments[1] == std::string("--controls")) return controls::run();

  cu::Primary context;
  const double limit = cu::print_device_and_link(context.device);

  cu::Memory device(kLargest);
  std::vector<char> pageable(kLargest, 'x');
  void* pinned;
  CU_CHECK(cuMemHostAlloc(&pinned, kLargest, 0));

  const auto pageable_in = time_copies(true, device.address, pageable.data());
  const auto pinned_in = time_copies(true, device.address, pinned);
  const auto pageable_out = time_copies(false, device.address, pageable.data());
  const auto pinned_out = time_copies(false, device.address, pinned);

  double full_scale = limit;
  for (const auto& copies : {pageable_in, pinned_in, pageable_out, pinned_out}) {
    for (const auto& copy : copies) full_scale = std::max(full_scale, gigabytes_per_second(copy));
  }
  std::printf("\nhost to device, GB/s\n%-8s | %-36s | pinned\n", "", "pageable");
  draw(pageable_in, pinned_in, full_scale);
  std::printf("\ndevice to host, GB/s\n%-8s | %-36s | pinned\n", "", "pageable");
  draw(pageable_out, pinned_out, full_scale);

  std::printf("\nfitted: time = latency + bytes / bandwidth\n");
  std::printf("%-25s | latency | bandwidth | n½      | largest\n", "");
  std::printf("%-25s | µs      | GB/s      | KiB     | error, %%\n", "");
  fit_and_print("pageable, host to device", pageable_in);
  const cu::CopyModel pinned_model = fit_and_print("pinned, host to device", pinned_in);
  fit_and_print("pageable, device to host", pageable_out);
  fit_and_print("pinned, device to host", pinned_out);

  std::printf("\n4 MiB in pieces | predicted | wait after | wait once,\n");
  std::printf("%-15s |           | each copy  | ms\n", "");
  for (const std::size_t piece : {4 << 10, 64 << 10, 4 << 20}) {
    send_in_pieces(pinned_model, device.address, static_cast<char*>(pinned), 4 << 20, piece);
  }

  std::memset(pinned, 'y', kLargest);
  CU_CHECK(cuMemcpyHtoD(device.address, pinned, kLargest));
  CU_CHECK(cuMemcpyDtoH(pageable.data(), device.address, kLargest));
  const bool arrived = std::memcmp(pageable.data(), pinned, kLargest) == 0;
  CU_CHECK(cuMemFreeHost(pinned));
  std::printf("\n%s\n", arrived ? "All bytes arrived." : "Bytes were lost.");
  return arrived ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
