// Shows which copies return before they are done, and what becomes of a buffer that is used again too early.
#include "common/cu.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

constexpr std::size_t kBytes = 64 << 20;  // more than the driver sets aside
constexpr auto kBusy = std::chrono::milliseconds(50);

// Work for a stream that takes a while: what comes after it in the stream has to wait. The driver calls it on a thread
// of its own.
void CUDA_CB sleep_a_while(void* over) {
  std::this_thread::sleep_for(kBusy);
  *static_cast<std::atomic<bool>*>(over) = true;
}

// Puts a copy behind 50 ms of other work; true if the call returned before that work was over.
bool returns_early(CUstream stream, CUdeviceptr device, void* host, bool to_device) {
  std::atomic<bool> over{false};
  CU_CHECK(cuLaunchHostFunc(stream, sleep_a_while, &over));
  if (to_device) {
    CU_CHECK(cuMemcpyHtoDAsync(device, host, kBytes, stream));
  } else {
    CU_CHECK(cuMemcpyDtoHAsync(host, device, kBytes, stream));
  }
  const bool early = !over;
  CU_CHECK(cuStreamSynchronize(stream));
  return early;
}

// Sends two words through one pinned buffer, and prints what the device got. Returns true if it got both.
bool send_two(CUstream stream, CUdeviceptr device, char* buffer, bool wait) {
  std::atomic<bool> over{false};
  CUevent sent;
  CU_CHECK(cuEventCreate(&sent, CU_EVENT_DISABLE_TIMING));
  CU_CHECK(cuLaunchHostFunc(stream, sleep_a_while, &over));

  std::strcpy(buffer, "first");
  CU_CHECK(cuMemcpyHtoDAsync(device, buffer, 8, stream));
  CU_CHECK(cuEventRecord(sent, stream));
  if (wait) CU_CHECK(cuEventSynchronize(sent));
  std::strcpy(buffer, "second");
  CU_CHECK(cuMemcpyHtoDAsync(device + 8, buffer, 8, stream));

  CU_CHECK(cuStreamSynchronize(stream));
  char got[16];
  CU_CHECK(cuMemcpyDtoH(got, device, sizeof got));
  std::printf("%-23s | %s, %s\n", wait ? "after the event" : "at once", got, got + 8);
  CU_CHECK(cuEventDestroy(sent));
  return std::strcmp(got, "first") == 0 && std::strcmp(got + 8, "second") == 0;
}

int main() try {
  cu::Context context;
  cu::Memory device(kBytes);
  std::vector<char> pageable(kBytes);
  void* pinned;
  CUstream stream;
  CU_CHECK(cuMemHostAlloc(&pinned, kBytes, 0));
  CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

  bool early[4];
  int row = 0;
  std::printf("the call                | memory   | returns\n");
  for (const bool to_device : {true, false}) {
    for (void* host : {pinned, static_cast<void*>(pageable.data())}) {
      early[row] = returns_early(stream, device.address, host, to_device);
      std::printf("%-23s | %-8s | %s\n", to_device ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync",
                  host == pinned ? "pinned" : "pageable", early[row] ? "at once" : "when the stream has got there");
      ++row;
    }
  }

  std::printf("\nthe buffer is refilled  | the device got\n");
  const bool too_early = send_two(stream, device.address, static_cast<char*>(pinned), false);
  const bool in_time = send_two(stream, device.address, static_cast<char*>(pinned), true);

  CU_CHECK(cuStreamDestroy(stream));
  CU_CHECK(cuMemFreeHost(pinned));
  return early[0] && !early[1] && early[2] && !early[3] && !too_early && in_time ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
