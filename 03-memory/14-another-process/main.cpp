// A loader fills device memory, and a worker in another process uses it without a copy: through a handle of cuIpc* and
// through a file descriptor. Then the loader exits.
#include "common/cu.hpp"
#include "common/measure.hpp"
#include "common/processes.hpp"

#include <chrono>
#include <cstdint>
#include <thread>
#include <tuple>

constexpr std::size_t kMiB = 1 << 20, kFirst = 64 * kMiB;
constexpr int kWeight = 7;  // the value of each byte, once it is loaded

// The worker asks the loader for two arrays of so many bytes, which are filled only after a pause. Without any bytes,
// the loader exits.
struct Request {
  std::size_t bytes;
  std::chrono::milliseconds pause;
};

// The loader's reply. With it comes a file descriptor, which leads to the second array.
struct Offer {
  CUipcMemHandle first_array;
  CUipcEventHandle filled;
};

CUmemAllocationProp shareable_memory(CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

// Gives the memory an address. From then on, only the mapping keeps it allocated in this process.
CUdeviceptr map(CUmemGenericAllocationHandle memory, std::size_t bytes, CUdevice device) {
  CUdeviceptr address;
  CU_CHECK(cuMemAddressReserve(&address, bytes, 0, 0, 0));
  CU_CHECK(cuMemMap(address, bytes, 0, memory, 0));
  CU_CHECK(cuMemRelease(memory));
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CU_CHECK(cuMemSetAccess(address, bytes, &access, 1));
  return address;
}

void unmap(CUdeviceptr address, std::size_t bytes) {
  CU_CHECK(cuMemUnmap(address, bytes));
  CU_CHECK(cuMemAddressFree(address, bytes));
}

void CUDA_CB sleep_for(void* pause) { std::this_thread::sleep_for(*static_cast<std::chrono::milliseconds*>(pause)); }

// The loader's process: offers arrays until the worker asks it to exit. It frees what it has offered when it is asked
// for the next arrays, but not when it exits.
void load(int socket) {
  const cu::Primary context;
  const cu::Stream stream;
  const cu::Event filled(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  cu::send(socket, 'r');  // ready: the context exists
  Request request = cu::receive<Request>(socket);
  while (request.bytes != 0) {
    const std::size_t bytes = request.bytes;
    const cu::Memory first(bytes);
    const CUmemAllocationProp properties = shareable_memory(context.device);
    CUmemGenericAllocationHandle memory;
    CU_CHECK(cuMemCreate(&memory, bytes, &properties, 0));
    cu::Descriptor descriptor;
    CU_CHECK(cuMemExportToShareableHandle(&descriptor.number, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    const CUdeviceptr second = map(memory, bytes, context.device);
    CU_CHECK(cuMemsetD8(first.address, 0, bytes));
    CU_CHECK(cuMemsetD8(second, 0, bytes));
    CU_CHECK(cuCtxSynchronize());

    Offer offer;
    CU_CHECK(cuIpcGetMemHandle(&offer.first_array, first.address));
    CU_CHECK(cuIpcGetEventHandle(&offer.filled, filled.handle));

    // The arrays are offered while they are not filled yet.
    CU_CHECK(cuLaunchHostFunc(stream.handle, sleep_for, &request.pause));
    CU_CHECK(cuMemsetD8Async(first.address, kWeight, bytes, stream.handle));
    CU_CHECK(cuMemsetD8Async(second, kWeight, bytes, stream.handle));
    CU_CHECK(cuEventRecord(filled.handle, stream.handle));
    cu::send(socket, offer, descriptor);

    request = cu::receive<Request>(socket);
    CU_CHECK(cuCtxSynchronize());
    if (request.bytes == 0) _exit(0);  // as if it were killed: nothing is freed
    unmap(second, bytes);
  }
}

CUdeviceptr open(const CUipcMemHandle& handle) {
  CUdeviceptr address;
  CU_CHECK(cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  return address;
}

CUdeviceptr import(const cu::Descriptor& descriptor, std::size_t bytes, CUdevice device) {
  CUmemGenericAllocationHandle memory;
  void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor.number));
  CU_CHECK(cuMemImportFromShareableHandle(&memory, number, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  return map(memory, bytes, device);
}

// The worker's process.
class Worker {
 public:
  explicit Worker(cu::Process& loader) : loader_(loader), socket_(loader.socket.number) {
    cu::receive<char>(socket_);
    free_at_start_ = free_bytes();
  }

  // Attaches while the arrays are not filled yet, and reads them with and without waiting for the event.
  bool attach() {
    ask(kFirst, std::chrono::milliseconds(200));
    std::printf("%-46s | %s\n", "", "allocated");
    std::printf("%-46s | %3zu MiB\n", "the loader has two arrays of 64 MiB", allocated());
    const CUdeviceptr first = open(offer_.first_array), second = import(descriptor_, kFirst, context_.device);
    std::printf("%-46s | %3zu MiB\n\n", "the worker has both of them, too", allocated());

    std::printf("%-46s | first byte\n", "the worker reads");
    const int too_early = row("without waiting", second);
    CUevent filled;
    CU_CHECK(cuIpcOpenEventHandle(&filled, offer_.filled));
    CU_CHECK(cuStreamWaitEvent(stream_.handle, filled, 0));
    const int after = row("after cuStreamWaitEvent", second);
    CU_CHECK(cuEventDestroy(filled));
    CU_CHECK(cuIpcCloseMemHandle(first));
    unmap(second, kFirst);
    return too_early == 0 && after == kWeight;
  }

  // Compares the time to attach with the time to fill an array of its own, until that takes long.
  void measure() {
    constexpr std::size_t kPinned = 64 * kMiB;
    const cu::Pinned host(kPinned);
    std::printf("\n%-9s | IPC handle | descriptor | copy from the host  (ms)\n", "MiB");
    double by_copy = 0;
    for (std::size_t bytes = 2 * kMiB; bytes <= free_at_start_ / 16 && by_copy < 60; bytes *= 4) {
      ask(bytes, std::chrono::milliseconds(0));
      const double by_handle = 1e3 * seconds([&] { return open(offer_.first_array); },
                                             [](CUdeviceptr address) { CU_CHECK(cuIpcCloseMemHandle(address)); });
      const double by_descriptor = 1e3 * seconds([&] { return import(descriptor_, bytes, context_.device); },
                                                 [&](CUdeviceptr address) { unmap(address, bytes); });
      by_copy = 1e3 * seconds([&] { return copy_from(host.address, kPinned, bytes); },
                              [](CUdeviceptr address) { CU_CHECK(cuMemFree(address)); });
      std::printf("%-9zu | %10.3f | %10.3f | %18.3f\n", bytes / kMiB, by_handle, by_descriptor, by_copy);
    }
  }

  // Lets the loader exit, and uses arrays that were opened before, and what was not opened before.
  bool outlive() {
    ask(kFirst, std::chrono::milliseconds(0));
    const CUdeviceptr first = open(offer_.first_array), second = import(descriptor_, kFirst, context_.device);
    cu::send(socket_, Request{});
    loader_.wait();
    std::printf("\n%-46s | first byte\n", "the loader has exited");
    row("opened before, by the IPC handle", first);
    const int before = row("opened before, by the descriptor", second);

    const std::size_t free = free_bytes();
    CU_CHECK(cuIpcCloseMemHandle(first));
    const std::size_t freed_first = free_bytes() - free;
    unmap(second, kFirst);
    const std::size_t freed_second = free_bytes() - free - freed_first;
    CUdeviceptr again;
    const CUresult opened = cuIpcOpenMemHandle(&again, offer_.first_array, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    std::printf("%-46s | %s\n", "opened only now, by the IPC handle", cu::name(opened));
    const CUdeviceptr late = import(descriptor_, kFirst, context_.device);
    const int now = row("opened only now, by the descriptor", late);

    std::printf("\n%-46s | freed\n", "the worker");
    std::printf("%-46s | %3zu MiB\n", "closes the IPC memory", freed_first / kMiB);
    std::printf("%-46s | %3zu MiB\n", "unmaps the other array", freed_second / kMiB);
    const std::size_t mapped_again = free_bytes();
    unmap(late, kFirst);
    descriptor_ = {};
    std::printf("%-46s | %3zu MiB\n", "unmaps it again, and closes the descriptor",
                (free_bytes() - mapped_again) / kMiB);
    return before == kWeight && opened != CUDA_SUCCESS && now == kWeight;
  }

 private:
  static std::size_t free_bytes() {
    std::size_t free, total;
    CU_CHECK(cuMemGetInfo(&free, &total));
    return free;
  }
  // By all processes, since the start.
  std::size_t allocated() const { return (free_at_start_ - std::min(free_at_start_, free_bytes())) / kMiB; }
  // Allocates an array of this process's own, and fills it with copies of a part that the host has.
  CUdeviceptr copy_from(const void* host, std::size_t part, std::size_t bytes) const {
    CUdeviceptr own;
    CU_CHECK(cuMemAlloc(&own, bytes));
    for (std::size_t done = 0; done < bytes; done += part) {
      CU_CHECK(cuMemcpyHtoDAsync(own + done, host, std::min(part, bytes - done), stream_.handle));
    }
    CU_CHECK(cuStreamSynchronize(stream_.handle));
    return own;
  }
  void ask(std::size_t bytes, std::chrono::milliseconds pause) {
    cu::send(socket_, Request{bytes, pause});
    std::tie(offer_, descriptor_) = cu::receive_with<Offer>(socket_);
  }
  int row(const char* how, CUdeviceptr address) {
    byte_ = 0;
    const CUresult copied = cuMemcpyDtoHAsync(&byte_, address, 1, stream_.handle);
    const CUresult result = copied == CUDA_SUCCESS ? cuStreamSynchronize(stream_.handle) : copied;
    if (result == CUDA_SUCCESS)
      std::printf("%-46s | %d\n", how, byte_);
    else
      std::printf("%-46s | %s\n", how, cu::name(result));
    return byte_;
  }
  // The median time of attach(), whose result is released each time.
  template <class Attach, class Release>
  static double seconds(Attach attach, Release release) {
    return cu::median([&] {
      const auto start = std::chrono::steady_clock::now();
      const CUdeviceptr address = attach();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      release(address);
      return took.count();
    });
  }

  cu::Process& loader_;
  int socket_;
  cu::Primary context_;
  cu::Stream stream_;
  std::size_t free_at_start_ = 0;
  Offer offer_{};
  cu::Descriptor descriptor_;
  unsigned char byte_ = 0;
};

int main() try {
  cu::Process loader(load);
  Worker worker(loader);
  const bool ordered = worker.attach();
  worker.measure();
  const bool outlived = worker.outlive();
  return ordered && outlived ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
