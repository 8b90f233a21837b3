// Checks the learner's publish() and attach() (exercise of 03-memory/14-another-process).
#include "common/cu.hpp"
#include "common/processes.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <fcntl.h>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

struct Weights {
  CUdeviceptr address;
  std::size_t bytes;
};

std::shared_ptr<const Weights> publish(std::size_t bytes, CUdevice device, int socket);
std::shared_ptr<const Weights> attach(CUdevice device, int socket);

namespace {

constexpr std::size_t kBytes = 3 << 20;  // no multiple of the granularity
int reserved = 0;                        // ranges of addresses

// Another process, which must be forked before this one initializes the driver. It publishes weights that are 7, and
// waits until it is killed.
cu::Process publisher([](int socket) {
  cu::receive<char>(socket);
  const cu::Primary context;
  const auto weights = publish(kBytes, context.device, socket);
  if (weights == nullptr) return;
  CU_THROW(cuMemsetD8(weights->address, 7, weights->bytes));
  CU_THROW(cuCtxSynchronize());
  cu::send(socket, 'r');
  cu::receive<char>(socket);
});

long descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

struct Shared : cu::Primary {
  int ends[2];
  long open_before = 0;
  std::size_t free_before = 0, granularity = 0;

  Shared() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CU_CHECK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    try_both();  // the first time, a driver may open and allocate something of its own
    open_before = descriptors();
    free_before = free_bytes();
    reserved = 0;
  }
  ~Shared() {
    for (const int end : ends) close(end);
  }
  void try_both() {
    try {
      const auto published = publish(kBytes, device, ends[0]);
      const auto attached = published ? attach(device, ends[1]) : nullptr;
    } catch (const std::exception&) {
    }
  }
  // Empties the socket.
  void drain() {
    for (std::size_t byte; recv(ends[1], &byte, sizeof byte, MSG_DONTWAIT) > 0;) continue;
  }
  void nothing_is_left() {
    CHECK(descriptors() == open_before);
    CHECK(reserved == 0);
    CHECK(free_bytes() == free_before);
  }
};

unsigned char last_of(const Weights& weights) {
  unsigned char byte = 0;
  CU_CHECK(cuMemcpyDtoH(&byte, weights.address + weights.bytes - 1, 1));
  return byte;
}

}  // namespace

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr wish,
                             unsigned long long flags) {
  if (Refusal::meets("cuMemAddressReserve")) return kRefused;
  const CUresult result = DRIVERS(cuMemAddressReserve)(address, bytes, alignment, wish, flags);
  reserved += result == CUDA_SUCCESS;
  return result;
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  const CUresult result = DRIVERS(cuMemAddressFree)(address, bytes);
  reserved -= result == CUDA_SUCCESS;
  return result;
}

MAY_BE_REFUSED(cuMemGetAllocationGranularity,
               (std::size_t* granularity, const CUmemAllocationProp* properties,
                CUmemAllocationGranularity_flags which),
               (granularity, properties, which))
MAY_BE_REFUSED(cuMemCreate,
               (CUmemGenericAllocationHandle * handle, std::size_t bytes, const CUmemAllocationProp* properties,
                unsigned long long flags),
               (handle, bytes, properties, flags))
MAY_BE_REFUSED(cuMemExportToShareableHandle,
               (void* shareable, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                unsigned long long flags),
               (shareable, handle, type, flags))
MAY_BE_REFUSED(cuMemImportFromShareableHandle,
               (CUmemGenericAllocationHandle * handle, void* shareable, CUmemAllocationHandleType type),
               (handle, shareable, type))
MAY_BE_REFUSED(cuMemMap,
               (CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                unsigned long long flags),
               (address, bytes, offset, handle, flags))
MAY_BE_REFUSED(cuMemSetAccess,
               (CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count),
               (address, bytes, access, count))

TEST_CASE_METHOD(Shared, "the weights of another process can be read, even after it has been killed") {
  cu::send(publisher.socket.number, 'p');
  const auto weights = attach(device, publisher.socket.number);
  REQUIRE(weights != nullptr);
  REQUIRE(cu::receive<char>(publisher.socket.number) == 'r');
  CHECK(last_of(*weights) == 7);
  kill(publisher.id(), SIGKILL);
  CHECK(publisher.wait() == -1);
  CHECK(last_of(*weights) == 7);
}

TEST_CASE_METHOD(Shared, "the message contains the size, rounded up to the granularity") {
  const auto weights = publish(kBytes, device, ends[0]);
  REQUIRE(weights != nullptr);
  const std::size_t rounded = (kBytes + granularity - 1) / granularity * granularity;
  CHECK(weights->bytes == rounded);
  const auto [bytes, descriptor] = cu::receive_with<std::size_t>(ends[1]);
  CHECK(bytes == rounded);
  CHECK(descriptor.number >= 0);
  CUmemGenericAllocationHandle memory;
  void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor.number));
  CHECK(cuMemImportFromShareableHandle(&memory, number, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS);
  CHECK(cuMemRelease(memory) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Shared, "both sides see what the other one writes") {
  const auto published = publish(kBytes, device, ends[0]);
  REQUIRE(published != nullptr);
  const auto attached = attach(device, ends[1]);
  REQUIRE(attached != nullptr);
  REQUIRE(attached->bytes == published->bytes);
  CHECK(attached->address != published->address);
  REQUIRE(cuMemsetD8(published->address, 5, published->bytes) == CUDA_SUCCESS);
  CHECK(last_of(*attached) == 5);
  REQUIRE(cuMemsetD8(attached->address, 6, attached->bytes) == CUDA_SUCCESS);
  CHECK(last_of(*published) == 6);
}

TEST_CASE_METHOD(Shared, "the weights exist as long as one side has them, and nothing is left after that") {
  auto published = publish(kBytes, device, ends[0]);
  REQUIRE(published != nullptr);
  auto attached = attach(device, ends[1]);
  REQUIRE(attached != nullptr);
  REQUIRE(cuMemsetD8(published->address, 5, published->bytes) == CUDA_SUCCESS);
  CU_CHECK(cuCtxSynchronize());  // memory must not be unmapped while it is being filled
  published.reset();
  CHECK(last_of(*attached) == 5);
  auto copy = attached;
  attached.reset();
  CHECK(last_of(*copy) == 5);
  copy.reset();
  nothing_is_left();
}

TEST_CASE_METHOD(Shared, "if the other process has ended, publish throws, and nothing is left") {
  REQUIRE(shutdown(ends[1], SHUT_RDWR) == 0);
  CHECK_THROWS_AS(publish(kBytes, device, ends[0]), std::runtime_error);
  nothing_is_left();
}

TEST_CASE_METHOD(Shared, "if the other process has ended, attach throws, and nothing is left") {
  REQUIRE(shutdown(ends[0], SHUT_RDWR) == 0);
  CHECK_THROWS_AS(attach(device, ends[1]), std::runtime_error);
  nothing_is_left();
}

TEST_CASE_METHOD(Shared, "a descriptor of something else is an error, and is closed") {
  cu::send(ends[0], granularity, cu::Descriptor(open("/dev/null", O_RDWR)));
  CHECK_THROWS_AS(attach(device, ends[1]), cu::Error);
  nothing_is_left();
}

TEST_CASE_METHOD(Shared, "a driver call that fails throws cu::Error, and nothing is left") {
  for (const char* call : {"cuMemGetAllocationGranularity", "cuMemCreate", "cuMemExportToShareableHandle",
                           "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"}) {
    INFO(call << " fails in publish");
    const Refusal refusal(call);
    CHECK_THROWS_AS(publish(kBytes, device, ends[0]), cu::Error);
    drain();
    nothing_is_left();
  }
  for (const char* call : {"cuMemImportFromShareableHandle", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"}) {
    INFO(call << " fails in attach");
    auto published = publish(kBytes, device, ends[0]);
    REQUIRE(published != nullptr);
    {
      const Refusal refusal(call);
      CHECK_THROWS_AS(attach(device, ends[1]), cu::Error);
    }
    published.reset();
    nothing_is_left();
  }
}
