// Two processes with the same memory and the same events: handles of cuMemAlloc's memory and of events, pools and their
// allocations by file descriptor.
#include "tests/conformance/scenario.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <functional>

namespace {

// One of two processes, and what it hears from the other one.
class Side {
 public:
  explicit Side(int socket) : socket_(socket) {}
  template <class T>
  void tell(const T& value) const {
    if (write(socket_, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) std::abort();
  }
  template <class T>
  T hear() const {
    T value{};
    if (read(socket_, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) std::abort();
    return value;
  }
  // Waits until the other process has ended.
  void outlive() const {
    char byte = 0;
    if (read(socket_, &byte, 1) != 0) std::abort();
  }
  void tell_descriptor(int descriptor) const {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(socket_, &message, 0) != 1) std::abort();
  }
  int hear_descriptor() const {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    if (recvmsg(socket_, &message, 0) != 1) std::abort();
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
  }

 private:
  int socket_;
};

// Runs `other` in a process of its own, before either of the two has a driver; it exits with the number of the results
// that were not as expected, and says which on stderr.
void in_two_processes(const std::function<void(const Side&)>& first, const std::function<int(const Side&)>& other) {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    close(ends[0]);
    _exit(other(Side(ends[1])));
  }
  close(ends[1]);
  first(Side(ends[0]));
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

int wrong(const char* what, bool right) {
  if (!right) std::fprintf(stderr, "the other process: not so: %s\n", what);
  return right ? 0 : 1;
}
#define HOLDS(condition) failures += wrong(#condition, (condition))
#define GIVES(call, code) failures += wrong(#call " -> " #code, conformance::answer(#call, (call)) == #code)

}  // namespace

FRESH_CASE("Memory of one process is opened by another", "[ipc]") {
  in_two_processes(
      [](const Side& other) {
        conformance::context();
        CUdeviceptr d = 0, second = 0;
        CU_CHECK(cuMemAlloc(&d, 5000));
        CU_CHECK(cuMemAlloc(&second, 4096));
        CU_CHECK(cuMemsetD8(d, 5, 5000));
        CUipcMemHandle handle{}, again{}, two{};
        ANSWERS(cuIpcGetMemHandle(&handle, d), CUDA_SUCCESS);
        ANSWERS(cuIpcGetMemHandle(&again, d), CUDA_SUCCESS);
        ANSWERS(cuIpcGetMemHandle(&two, second), CUDA_SUCCESS);
        ANSWERS(cuIpcGetMemHandle(nullptr, d), CUDA_ERROR_INVALID_VALUE);
        ANSWERS(cuIpcGetMemHandle(&again, 0x1234), CUDA_ERROR_INVALID_VALUE);
        CUdeviceptr here = 0;
        ANSWERS(cuIpcOpenMemHandle(&here, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_CONTEXT);
        ANSWERS(cuIpcOpenMemHandle(&here, handle, 0), CUDA_ERROR_INVALID_VALUE);
        ANSWERS(cuIpcCloseMemHandle(d), CUDA_ERROR_INVALID_VALUE);
        CU_CHECK(cuCtxSynchronize());
        other.tell(handle);
        other.tell(two);
        other.hear<char>();  // it has written
        unsigned char seen = 0;
        CU_CHECK(cuMemcpyDtoH(&seen, d + 4999, 1));
        CHECK(seen == 6);
        other.tell('x');
        other.hear<char>();  // it has closed
        ANSWERS(cuMemFree(d), CUDA_SUCCESS);
      },
      [](const Side& other) {
        int failures = 0;
        const auto handle = other.hear<CUipcMemHandle>(), two = other.hear<CUipcMemHandle>();
        conformance::context();
        CUdeviceptr d = 0, same = 0, second = 0, base = 0;
        std::size_t size = 0;
        GIVES(cuIpcOpenMemHandle(&d, handle, 0), CUDA_ERROR_INVALID_VALUE);
        GIVES(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
        GIVES(cuIpcOpenMemHandle(&same, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
        HOLDS(d == same);
        GIVES(cuIpcOpenMemHandle(&second, two, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
        HOLDS(second != d);
        GIVES(cuMemGetAddressRange(&base, &size, d + 8), CUDA_SUCCESS);
        HOLDS(base == d && size >= 5000);
        unsigned char seen = 0;
        GIVES(cuMemcpyDtoH(&seen, d + 4999, 1), CUDA_SUCCESS);
        HOLDS(seen == 5);
        GIVES(cuMemsetD8(d, 6, 5000), CUDA_SUCCESS);
        GIVES(cuCtxSynchronize(), CUDA_SUCCESS);
        other.tell('x');
        other.hear<char>();
        GIVES(cuIpcCloseMemHandle(d), CUDA_SUCCESS);
        GIVES(cuMemcpyDtoH(&seen, d, 1), CUDA_SUCCESS);  // opened twice
        GIVES(cuIpcCloseMemHandle(d), CUDA_SUCCESS);
        GIVES(cuIpcCloseMemHandle(d), CUDA_ERROR_INVALID_VALUE);
        GIVES(cuIpcCloseMemHandle(second), CUDA_SUCCESS);
        other.tell('x');
        return failures;
      });
}

// This one and the next are long because the two processes talk with each other.
FRESH_CASE("An event of one process is waited for by another", "[ipc]") {
  in_two_processes(
      [](const Side& other) {
        const auto F = conformance::module();
        CUevent plain = nullptr, event = nullptr, timed = nullptr;
        CUipcEventHandle handle{};
        CU_CHECK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
        ANSWERS(cuEventCreate(&timed, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
        ANSWERS(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
        ANSWERS(cuIpcGetEventHandle(&handle, plain), CUDA_ERROR_INVALID_HANDLE);
        ANSWERS(cuIpcGetEventHandle(&handle, event), CUDA_SUCCESS);
        CUevent here = nullptr;
        ANSWERS(cuIpcOpenEventHandle(&here, handle), CUDA_ERROR_INVALID_CONTEXT);
        CUdeviceptr d = 0;
        CUipcMemHandle memory{};
        CU_CHECK(cuMemAlloc(&d, 4));
        CU_CHECK(cuMemsetD32(d, 1, 1));
        CU_CHECK(cuIpcGetMemHandle(&memory, d));
        long long nanoseconds = 300'000'000;
        void* a[] = {&nanoseconds};
        CUstream s = nullptr;
        CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        CUfunction spin = F("spin");
        other.hear<char>();  // it has a context
        CU_CHECK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s, a, 0));
        CU_CHECK(cuMemsetD32Async(d, 2, 1, s));
        ANSWERS(cuEventRecord(event, s), CUDA_SUCCESS);
        other.tell(handle);
        other.tell(memory);
        other.hear<char>();  // it has recorded the event in its own stream
        ANSWERS(cuStreamWaitEvent(s, event, 0), CUDA_SUCCESS);
        unsigned word = 0;
        CU_CHECK(cuMemcpyDtoHAsync(&word, d, 4, s));
        CU_CHECK(cuStreamSynchronize(s));
        CHECK(word == 3);
        ANSWERS(cuEventQuery(event), CUDA_SUCCESS);
        other.tell('x');
        other.hear<char>();
      },
      [](const Side& other) {
        int failures = 0;
        conformance::context();
        other.tell('x');
        const auto handle = other.hear<CUipcEventHandle>();
        const auto memory = other.hear<CUipcMemHandle>();
        CUevent event = nullptr;
        CUdeviceptr d = 0;
        CUstream s = nullptr;
        CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        GIVES(cuIpcOpenEventHandle(&event, handle), CUDA_SUCCESS);
        GIVES(cuIpcOpenMemHandle(&d, memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
        GIVES(cuStreamWaitEvent(s, event, 0), CUDA_SUCCESS);
        unsigned word = 0;
        GIVES(cuMemcpyDtoHAsync(&word, d, 4, s), CUDA_SUCCESS);
        GIVES(cuStreamSynchronize(s), CUDA_SUCCESS);
        HOLDS(word == 2);  // what the other one's stream did before the mark
        GIVES(cuEventQuery(event), CUDA_SUCCESS);
        GIVES(cuEventSynchronize(event), CUDA_SUCCESS);
        GIVES(cuMemsetD32Async(d, 3, 1, s), CUDA_SUCCESS);
        GIVES(cuEventRecord(event, s), CUDA_SUCCESS);
        other.tell('x');
        other.hear<char>();
        GIVES(cuEventDestroy(event), CUDA_SUCCESS);
        GIVES(cuIpcCloseMemHandle(d), CUDA_SUCCESS);
        other.tell('x');
        return failures;
      });
}

FRESH_CASE("A pool goes to another process as a file descriptor, its allocations as a few bytes", "[ipc]") {
  in_two_processes(
      [](const Side& other) {
        conformance::context();
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        CUmemoryPool plain = nullptr, pool = nullptr;
        int descriptor = -1;
        CU_CHECK(cuMemPoolCreate(&plain, &properties));
        ANSWERS(cuMemPoolExportToShareableHandle(&descriptor, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                CUDA_ERROR_INVALID_VALUE);
        properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        ANSWERS(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
        ANSWERS(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                CUDA_SUCCESS);
        CUdeviceptr p = 0;
        CU_CHECK(cuMemAllocFromPoolAsync(&p, 5000, pool, nullptr));
        CU_CHECK(cuMemsetD8Async(p, 7, 5000, nullptr));
        CU_CHECK(cuCtxSynchronize());
        CUmemPoolPtrExportData data{};
        ANSWERS(cuMemPoolExportPointer(&data, p), CUDA_SUCCESS);
        CUdeviceptr other_kind = 0;
        CU_CHECK(cuMemAlloc(&other_kind, 64));
        CUmemPoolPtrExportData none{};
        ANSWERS(cuMemPoolExportPointer(&none, other_kind), CUDA_ERROR_INVALID_VALUE);
        other.tell_descriptor(descriptor);
        close(descriptor);
        other.tell(data);
        other.hear<char>();
        unsigned char seen = 0;
        CU_CHECK(cuMemcpyDtoH(&seen, p + 4999, 1));
        CHECK(seen == 8);
        CU_CHECK(cuMemFreeAsync(p, nullptr));
        CU_CHECK(cuCtxSynchronize());
        CU_CHECK(cuMemPoolDestroy(pool));
      },
      [](const Side& other) {
        int failures = 0;
        conformance::context();
        const int descriptor = other.hear_descriptor();
        auto data = other.hear<CUmemPoolPtrExportData>();
        CUmemoryPool pool = nullptr;
        GIVES(cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
              CUDA_SUCCESS);
        close(descriptor);
        CUdeviceptr p = 0;
        GIVES(cuMemPoolImportPointer(&p, pool, &data), CUDA_SUCCESS);
        unsigned char seen = 0;
        GIVES(cuMemcpyDtoH(&seen, p + 4999, 1), CUDA_SUCCESS);
        HOLDS(seen == 7);
        GIVES(cuMemsetD8(p, 8, 5000), CUDA_SUCCESS);
        GIVES(cuCtxSynchronize(), CUDA_SUCCESS);
        GIVES(cuMemFreeAsync(p, nullptr), CUDA_SUCCESS);
        GIVES(cuCtxSynchronize(), CUDA_SUCCESS);
        GIVES(cuMemcpyDtoH(&seen, p, 1), CUDA_ERROR_INVALID_VALUE);
        GIVES(cuMemPoolDestroy(pool), CUDA_SUCCESS);
        other.tell('x');
        return failures;
      });
}

FRESH_CASE("Device memory that two processes have counts once", "[ipc][vmm][alone]") {
  in_two_processes(
      [](const Side& other) {
        conformance::context();
        constexpr std::size_t size = 64 << 20;
        other.tell('x');
        other.hear<char>();  // it knows how much is free
        CUdeviceptr d = 0;
        CUipcMemHandle handle{};
        CU_CHECK(cuMemAlloc(&d, size));
        CU_CHECK(cuIpcGetMemHandle(&handle, d));
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        CUmemGenericAllocationHandle memory = 0;
        int descriptor = -1;
        CU_CHECK(cuMemCreate(&memory, size, &properties, 0));
        CU_CHECK(cuMemExportToShareableHandle(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        other.tell(handle);
        other.tell_descriptor(descriptor);
        close(descriptor);
        other.hear<char>();  // it has mapped both
        CU_CHECK(cuMemRelease(memory));
        other.tell('x');
        other.hear<char>();
        CU_CHECK(cuMemFree(d));
      },
      [](const Side& other) {
        int failures = 0;
        conformance::context();
        constexpr long long size = 64 << 20;
        const auto taken = [](std::size_t before) {
          std::size_t free = 0, total = 0;
          CU_CHECK(cuMemGetInfo(&free, &total));
          return static_cast<long long>(before) - static_cast<long long>(free);
        };
        other.hear<char>();
        const auto before = static_cast<std::size_t>(-taken(0));
        other.tell('x');
        const auto handle = other.hear<CUipcMemHandle>();
        const int descriptor = other.hear_descriptor();
        HOLDS(taken(before) == 2 * size);
        CUdeviceptr d = 0, mapped = 0;
        CUmemGenericAllocationHandle memory = 0;
        CU_CHECK(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        CU_CHECK(cuMemImportFromShareableHandle(&memory,
                                                reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        CU_CHECK(cuMemAddressReserve(&mapped, size, 0, 0, 0));
        CU_CHECK(cuMemMap(mapped, size, 0, memory, 0));
        HOLDS(taken(before) == 2 * size);
        other.tell('x');
        other.hear<char>();  // the other one has released the second array
        HOLDS(taken(before) == 2 * size);
        CU_CHECK(cuMemUnmap(mapped, size));
        CU_CHECK(cuMemRelease(memory));
        HOLDS(taken(before) == 2 * size);  // the descriptor still keeps it
        close(descriptor);
        HOLDS(taken(before) == size);
        CU_CHECK(cuIpcCloseMemHandle(d));
        other.tell('x');
        return failures;
      });
}

FRESH_CASE("Memory of a process that has ended is opened by its descriptor, and not by its handle", "[ipc][vmm]") {
  in_two_processes(
      [](const Side& other) {
        conformance::context();
        other.tell('x');
        const auto handle = other.hear<CUipcMemHandle>();
        const int descriptor = other.hear_descriptor();
        other.outlive();
        CUdeviceptr d = 0, mapped = 0;
        ANSWERS(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_HANDLE);
        CUmemGenericAllocationHandle memory = 0;
        ANSWERS(cuMemImportFromShareableHandle(&memory, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                CUDA_SUCCESS);
        close(descriptor);
        constexpr std::size_t size = 2 << 20;
        CU_CHECK(cuMemAddressReserve(&mapped, size, 0, 0, 0));
        CU_CHECK(cuMemMap(mapped, size, 0, memory, 0));
        CUmemAccessDesc access{};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
        ANSWERS(cuMemSetAccess(mapped, size, &access, 1), CUDA_SUCCESS);
        unsigned char seen = 0;
        ANSWERS(cuMemcpyDtoH(&seen, mapped + size - 1, 1), CUDA_SUCCESS);
        CHECK(seen == 7);
        ANSWERS(cuMemsetD8(mapped, 1, 4), CUDA_ERROR_INVALID_VALUE);  // it may only be read
        CU_CHECK(cuMemUnmap(mapped, size));
        CU_CHECK(cuMemRelease(memory));
      },
      [](const Side& other) {
        conformance::context();
        constexpr std::size_t size = 2 << 20;
        other.hear<char>();
        CUdeviceptr d = 0, mapped = 0;
        CUipcMemHandle handle{};
        CU_CHECK(cuMemAlloc(&d, size));
        CU_CHECK(cuIpcGetMemHandle(&handle, d));
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        CUmemGenericAllocationHandle memory = 0;
        int descriptor = -1;
        CU_CHECK(cuMemCreate(&memory, size, &properties, 0));
        CU_CHECK(cuMemExportToShareableHandle(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        CU_CHECK(cuMemAddressReserve(&mapped, size, 0, 0, 0));
        CU_CHECK(cuMemMap(mapped, size, 0, memory, 0));
        CUmemAccessDesc access{};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        CU_CHECK(cuMemSetAccess(mapped, size, &access, 1));
        CU_CHECK(cuMemsetD8(mapped, 7, size));
        CU_CHECK(cuCtxSynchronize());
        other.tell(handle);
        other.tell_descriptor(descriptor);
        return 0;
      });
}
