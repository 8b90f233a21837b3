// Shows which asynchronous copies return early, and what happens to a buffer that is refilled too early.
#include "common/cu.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

constexpr std::size_t kBytes = 64 << 20;

// Keeps a stream busy for 50 ms with a host function. All later work in the stream has to wait for it.
class BusyStream {
 public:
  explicit BusyStream(CUstream stream) : stream_(stream) { CU_THROW(cuLaunchHostFunc(stream, sleep, &finished_)); }
  ~BusyStream() { CU_REPORT(cuStreamSynchronize(stream_)); }  // the host function uses finished_
  BusyStream(const BusyStream&) = delete;
  BusyStream& operator=(const BusyStream&) = delete;

  bool finished() const { return finished_; }

 private:
  // The driver calls it on a thread of its own.
  static void CUDA_CB sleep(void* finished) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    *static_cast<std::atomic<bool>*>(finished) = true;
  }

  CUstream stream_;
  std::atomic<bool> finished_{false};
};

// Makes a call that enqueues a copy in a busy stream. Returns whether it returned while the stream was still busy.
template <class Call>
bool returns_early(const char* name, const char* memory, CUstream stream, Call call) {
  const BusyStream busy(stream);
  call();
  const bool early = !busy.finished();
  std::printf("%-23s | %-8s | %s\n", name, memory, early ? "immediately" : "after the stream's earlier work");
  return early;
}

// Sends two words through one buffer; returns whether the device received both.
bool send_two_words(const char* memory, CUstream stream, CUdeviceptr device, char* buffer, bool wait) {
  const cu::Event copied(CU_EVENT_DISABLE_TIMING);
  {
    const BusyStream busy(stream);
    std::strcpy(buffer, "first");
    CU_THROW(cuMemcpyHtoDAsync(device, buffer, 8, stream));
    CU_THROW(cuEventRecord(copied.handle, stream));
    if (wait) CU_THROW(cuEventSynchronize(copied.handle));
    std::strcpy(buffer, "second");
    CU_THROW(cuMemcpyHtoDAsync(device + 8, buffer, 8, stream));
  }
  char received[16];
  CU_THROW(cuMemcpyDtoH(received, device, sizeof received));
  std::printf("%-23s | %-8s | %s, %s\n", wait ? "after the event" : "immediately", memory, received, received + 8);
  return std::strcmp(received, "first") == 0 && std::strcmp(received + 8, "second") == 0;
}

int main() try {
  cu::Primary context;
  const cu::Memory memory(kBytes);
  const CUdeviceptr device = memory.address;
  std::vector<char> pageable(kBytes);
  const cu::Pinned pinned(kBytes);
  const cu::Stream owner;
  const CUstream stream = owner.handle;

  std::printf("call                    | memory   | returns\n");
  const bool pinned_in = returns_early("cuMemcpyHtoDAsync", "pinned", stream,
                                       [&] { CU_THROW(cuMemcpyHtoDAsync(device, pinned.address, kBytes, stream)); });
  const bool pageable_in = returns_early("cuMemcpyHtoDAsync", "pageable", stream,
                                         [&] { CU_THROW(cuMemcpyHtoDAsync(device, pageable.data(), kBytes, stream)); });
  const bool pinned_out = returns_early("cuMemcpyDtoHAsync", "pinned", stream,
                                        [&] { CU_THROW(cuMemcpyDtoHAsync(pinned.address, device, kBytes, stream)); });
  const bool pageable_out = returns_early("cuMemcpyDtoHAsync", "pageable", stream, [&] {
    CU_THROW(cuMemcpyDtoHAsync(pageable.data(), device, kBytes, stream));
  });

  std::printf("\nbuffer refilled         | memory   | the device received\n");
  const bool too_early = send_two_words("pinned", stream, device, pinned.as<char>(), false);
  const bool saved = send_two_words("pageable", stream, device, pageable.data(), false);
  const bool in_time = send_two_words("pinned", stream, device, pinned.as<char>(), true);

  return pinned_in && pinned_out && !pageable_in && !pageable_out && !too_early && saved && in_time ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
