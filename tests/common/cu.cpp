// common/cu.hpp: what each macro does after a success and after a failure, and what owners acquire, move and release.
// Whatever exits or prints runs in a child process. A child cannot use a driver that its parent has initialized, so no
// test before "a context is current" calls cuInit in this process.
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

// A call that returns the given code, and counts how often it is made.
int calls = 0;
CUresult fake(CUresult code) {
  ++calls;
  return code;
}

std::string here(int line) { return std::string(__FILE__) + ":" + std::to_string(line) + ": "; }

// The exit status of a child process that ran `work`, and everything that it printed.
struct Ended {
  int status;  // -1 if a signal killed it, 77 if `work` returned
  std::string output;
};

Ended in_child(const std::function<void()>& work) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // ends a child that hangs
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    work();
    std::fflush(nullptr);
    _exit(77);
  }
  close(ends[1]);
  Ended ended{-1, ""};
  char text[256];
  for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0;) ended.output.append(text, got);
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  return ended;
}

CUresult three_calls(CUresult second) {
  CU_RETURN(fake(CUDA_SUCCESS));
  CU_RETURN(fake(second));
  CU_RETURN(fake(CUDA_SUCCESS));
  return CUDA_SUCCESS;
}

struct Reporter {
  ~Reporter() { CU_REPORT(fake(CUDA_ERROR_INVALID_VALUE)); }
};

}  // namespace

TEST_CASE("an error code has a name and a description before cuInit, even if it is unknown") {
  CHECK(std::string(cu::name(CUDA_ERROR_INVALID_VALUE)) == "CUDA_ERROR_INVALID_VALUE");
  CHECK(std::string(cu::meaning(CUDA_ERROR_INVALID_VALUE)) == "invalid argument");
  CHECK(std::string(cu::name(static_cast<CUresult>(12345))) == "a code that this driver does not know");
  CHECK(std::string(cu::meaning(static_cast<CUresult>(12345))) == "unknown");
}

TEST_CASE("each macro makes its call once, and prints nothing if it succeeds") {
  const Ended ended = in_child([] {
    calls = 0;
    CU_CHECK(fake(CUDA_SUCCESS));
    CU_THROW(fake(CUDA_SUCCESS));
    CU_REPORT(fake(CUDA_SUCCESS));
    CU_EXPECT(CUDA_ERROR_NO_DEVICE, fake(CUDA_ERROR_NO_DEVICE));
    if (calls != 4) std::printf("%d calls", calls);
  });
  CHECK(ended.output == "");
  CHECK(ended.status == 77);
}

TEST_CASE("CU_CHECK reports a failure and exits with status 1") {
  const int line = __LINE__ + 1;
  const Ended ended = in_child([] { CU_CHECK(fake(CUDA_ERROR_INVALID_VALUE)); });
  CHECK(ended.output == here(line) + "fake(CUDA_ERROR_INVALID_VALUE) -> CUDA_ERROR_INVALID_VALUE: invalid argument\n");
  CHECK(ended.status == EXIT_FAILURE);
}

TEST_CASE("earlier output comes before the report of a failure") {
  const Ended ended = in_child([] {
    std::printf("printed first\n");
    CU_CHECK(fake(CUDA_ERROR_INVALID_VALUE));
  });
  CHECK(ended.output.find("printed first\n") == 0);
  CHECK(ended.output.find(" -> ") != std::string::npos);
}

TEST_CASE("CU_THROW throws an exception with the code and the report") {
  const int line = __LINE__ + 2;
  try {
    CU_THROW(fake(CUDA_ERROR_NOT_INITIALIZED));
    FAIL("CU_THROW did not throw");
  } catch (const cu::Error& error) {
    CHECK(error.code() == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(std::string(error.what()) ==
          here(line) + "fake(CUDA_ERROR_NOT_INITIALIZED) -> CUDA_ERROR_NOT_INITIALIZED: initialization error");
  }
}

TEST_CASE("CU_RETURN returns the first error, and no later call is made") {
  calls = 0;
  CHECK(three_calls(CUDA_ERROR_OUT_OF_MEMORY) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(calls == 2);
  calls = 0;
  CHECK(three_calls(CUDA_SUCCESS) == CUDA_SUCCESS);
  CHECK(calls == 3);
}

TEST_CASE("a macro is a single statement, also between if and else") {
  const auto chosen = [](bool first) {
    if (first)
      CU_RETURN(fake(CUDA_ERROR_NO_DEVICE));
    else
      CU_REPORT(fake(CUDA_SUCCESS));
    return CUDA_SUCCESS;
  };
  CHECK(chosen(true) == CUDA_ERROR_NO_DEVICE);
  CHECK(chosen(false) == CUDA_SUCCESS);
}

TEST_CASE("a call may contain a comma between braces") {
  const auto sum_is = [](std::initializer_list<int> numbers) {
    int sum = 0;
    for (int number : numbers) sum += number;
    return static_cast<CUresult>(sum);
  };
  CHECK_NOTHROW(CU_THROW(sum_is({1, -1})));
  CHECK_THROWS_AS(CU_THROW(sum_is({1, 2})), cu::Error);
}

TEST_CASE("CU_EXPECT has the expected code as its value") {
  CHECK(CU_EXPECT(CUDA_ERROR_NO_DEVICE, fake(CUDA_ERROR_NO_DEVICE)) == CUDA_ERROR_NO_DEVICE);
}

TEST_CASE("CU_EXPECT exits if the call succeeds") {
  const Ended ended = in_child([] { CU_EXPECT(CUDA_ERROR_NO_DEVICE, fake(CUDA_SUCCESS)); });
  CHECK(ended.output.find("fake(CUDA_SUCCESS) -> CUDA_SUCCESS: no error\n") != std::string::npos);
  CHECK(ended.output.find("expected CUDA_ERROR_NO_DEVICE\n") != std::string::npos);
  CHECK(ended.status == EXIT_FAILURE);
}

TEST_CASE("CU_EXPECT exits if the call fails with a different error") {
  const Ended ended = in_child([] { CU_EXPECT(CUDA_ERROR_NO_DEVICE, fake(CUDA_ERROR_INVALID_VALUE)); });
  CHECK(ended.output.find("-> CUDA_ERROR_INVALID_VALUE") != std::string::npos);
  CHECK(ended.status == EXIT_FAILURE);
}

TEST_CASE("CU_REPORT reports a failure and continues, even during stack unwinding") {
  const Ended ended = in_child([] {
    try {
      Reporter reporter;
      throw 1;
    } catch (int) {
      std::printf("continued\n");
    }
  });
  CHECK(ended.output.find("fake(CUDA_ERROR_INVALID_VALUE) -> CUDA_ERROR_INVALID_VALUE") != std::string::npos);
  CHECK(ended.output.find("continued\n") != std::string::npos);
  CHECK(ended.status == 77);
}

TEST_CASE("CU_REPORT does not repeat the error of the exception that is propagating, but reports every other error") {
  const Ended ended = in_child([] {
    for (const CUresult thrown : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_ILLEGAL_ADDRESS}) {
      try {
        Reporter reporter;
        CU_THROW(fake(thrown));
      } catch (const cu::Error& error) {
        std::printf("caught %s\n", cu::name(error.code()));
      }
    }
    Reporter reporter;  // no exception is propagating now
  });
  const auto first = ended.output.find("caught CUDA_ERROR_INVALID_VALUE");
  const auto second = ended.output.find("caught CUDA_ERROR_ILLEGAL_ADDRESS");
  const auto reported = ended.output.find("fake(CUDA_ERROR_INVALID_VALUE) ->");
  REQUIRE(second != std::string::npos);
  CHECK(first < reported);
  CHECK(reported < second);
  CHECK(ended.output.find("fake(CUDA_ERROR_INVALID_VALUE) ->", second) != std::string::npos);
}

TEST_CASE("moving a context does not change which one is current, and destroys it once") {
  const Ended ended = in_child([] {
    CUcontext current = nullptr;
    {
      cu::Context first;
      const CUcontext handle = first.handle;
      cu::Context second(std::move(first));
      cuCtxGetCurrent(&current);
      std::printf("%s\n", current == handle && second.handle == handle && !first.handle ? "current" : "changed");
      cu::Context third;
      third = std::move(second);  // destroys the context that `third` had, which is the current one
      cuCtxGetCurrent(&current);
      std::printf("%s\n", current == handle && third.handle == handle && !second.handle ? "current" : "changed");
    }
    cuCtxGetCurrent(&current);
    std::printf("%s\n", current == nullptr ? "empty" : "not empty");
  });
  CHECK(ended.output == "current\ncurrent\nempty\n");  // and no report of a second release
}

TEST_CASE("streams, events, pinned memory and modules release nothing after a move") {
  const Ended ended = in_child([] {
    cu::Context context;
    cu::Stream stream;
    cu::Stream stream_taken(std::move(stream));
    cu::Event event;
    cu::Event event_taken(std::move(event));
    cu::Pinned pinned(4096);
    cu::Pinned pinned_taken(std::move(pinned));
    cu::Module module;
    CU_CHECK(cuModuleLoadData(&module.handle,
                              ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"));
    cu::Module module_taken(std::move(module));
    stream = cu::Stream();
    event = cu::Event();
    pinned = cu::Pinned(4096);
    module = std::move(module_taken);
    if (module.function("k") == nullptr || module_taken.handle != nullptr) std::printf("the module was not moved\n");
    CU_CHECK(cuEventRecord(event_taken.handle, stream_taken.handle));
    CU_CHECK(cuStreamSynchronize(stream_taken.handle));
  });
  CHECK(ended.output == "");  // the driver would reject a second release, and the destructor would report it
  CHECK(ended.status == 77);
}

TEST_CASE("a context is current from its construction to its destruction") {
  CUcontext current = nullptr;
  {
    cu::Context context;
    CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    CHECK(current == context.handle);
  }
  CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
  CHECK(current == nullptr);
}

TEST_CASE("creating a context on a device that does not exist throws") {
  try {
    cu::Context context(99);
    FAIL("the constructor did not throw");
  } catch (const cu::Error& error) {
    CHECK(error.code() == CUDA_ERROR_INVALID_DEVICE);
  }
}

TEST_CASE("a pushed context is current until the end of the scope, then the previous one is current again") {
  cu::Context first;
  CUcontext current = nullptr;
  {
    cu::Context second;
    {
      cu::Current again(first.handle);
      CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
      CHECK(current == first.handle);
    }
    CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    CHECK(current == second.handle);
  }
  CHECK_THROWS_AS(cu::Current(nullptr), cu::Error);
  CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
  CHECK(current == first.handle);
}

TEST_CASE(
    "the primary context is current until the end of the scope, and stays active while it is retained elsewhere") {
  CUcontext current = nullptr;
  unsigned flags = 0;
  int active = 0;
  CUdevice device = 0;
  {
    cu::Primary primary;
    device = primary.device;
    CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    CHECK(current == primary.handle);
    {
      cu::Primary same;
    }
    CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS);
    CHECK(active == 1);
  }
  CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS);
  CHECK(active == 0);
  CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
  CHECK(current == nullptr);
}

TEST_CASE("memory is freed at the end of its scope") {
  cu::Context context;
  CUdeviceptr address = 0;
  {
    cu::Memory memory(1024);
    address = memory.address;
    CHECK(cuMemsetD8(address, 0, 1024) == CUDA_SUCCESS);
  }
  CHECK(cuMemFree(address) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a failed allocation throws") {
  cu::Context context;
  CHECK_THROWS_AS(cu::Memory(0), cu::Error);
}

TEST_CASE("pinned memory has the requested flags and is freed at the end of its scope") {
  cu::Context context;
  void* address = nullptr;
  {
    cu::Pinned pinned(1 << 20, CU_MEMHOSTALLOC_WRITECOMBINED);
    address = pinned.address;
    pinned.as<char>()[(1 << 20) - 1] = 1;
    unsigned int flags = 0;
    CHECK(cuMemHostGetFlags(&flags, address) == CUDA_SUCCESS);
    CHECK((flags & CU_MEMHOSTALLOC_WRITECOMBINED) != 0);
  }
  CHECK(cuMemFreeHost(address) == CUDA_ERROR_INVALID_VALUE);
  CHECK_THROWS_AS(cu::Pinned(std::size_t{1} << 50), cu::Error);
}

TEST_CASE("a stream is non-blocking, and events measure time unless timing is disabled") {
  cu::Context context;
  cu::Stream stream;
  unsigned int flags = 0;
  CHECK(cuStreamGetFlags(stream.handle, &flags) == CUDA_SUCCESS);
  CHECK(flags == CU_STREAM_NON_BLOCKING);
  cu::Event begin, end, untimed(CU_EVENT_DISABLE_TIMING);
  CHECK(cuEventRecord(begin.handle, stream.handle) == CUDA_SUCCESS);
  CHECK(cuEventRecord(end.handle, stream.handle) == CUDA_SUCCESS);
  CHECK(cuEventRecord(untimed.handle, stream.handle) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream.handle) == CUDA_SUCCESS);
  float milliseconds = -1;
  CHECK(cuEventElapsedTime(&milliseconds, begin.handle, end.handle) == CUDA_SUCCESS);
  CHECK(milliseconds >= 0);
  CHECK(cuEventElapsedTime(&milliseconds, begin.handle, untimed.handle) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("default-constructed memory and modules hold nothing") {
  CHECK(cu::Memory().address == 0);
  CHECK(cu::Module().handle == nullptr);
}

TEST_CASE("the error of a constructor names the line that declares the owner") {
  const int line = __LINE__ + 2;
  try {
    cu::Context context(99);
    FAIL("the constructor did not throw");
  } catch (const cu::Error& error) {
    CHECK(std::string(error.what()).find(here(line) + "cuDeviceGet") == 0);
  }
}

TEST_CASE("loading an image that does not exist throws the driver's error") {
  cu::Context context;
  try {
    cu::Module module("no such file");
    FAIL("the constructor did not throw");
  } catch (const cu::Error& error) {
    CHECK(error.code() == CUDA_ERROR_FILE_NOT_FOUND);
    CHECK(std::string(error.what()).find("cuModuleLoad") != std::string::npos);
  }
}

namespace {

template <class Owner>
constexpr bool kMovesOnly = !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner> &&
                            std::is_nothrow_move_constructible_v<Owner> && std::is_nothrow_move_assignable_v<Owner>;

template <class Owner>
constexpr bool kStays = !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner> &&
                        !std::is_move_constructible_v<Owner> && !std::is_move_assignable_v<Owner>;

// The context that owns this address, or null if it belongs to no allocation.
CUcontext owner_of(CUdeviceptr address) {
  CUcontext owner = nullptr;
  if (cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address) != CUDA_SUCCESS) return nullptr;
  return owner;
}

}  // namespace

TEST_CASE("owners of a resource can be moved, but not copied") {
  CHECK(kMovesOnly<cu::Context>);
  CHECK(kMovesOnly<cu::Memory>);
  CHECK(kMovesOnly<cu::Module>);
  CHECK(kMovesOnly<cu::Pinned>);
  CHECK(kMovesOnly<cu::Stream>);
  CHECK(kMovesOnly<cu::Event>);
}

TEST_CASE("owners of an entry on the context stack can neither be copied nor moved") {
  CHECK(kStays<cu::Current>);
  CHECK(kStays<cu::Primary>);
}

TEST_CASE("moved memory is freed once, by its last owner") {
  cu::Context context;
  CUdeviceptr address = 0;
  {
    cu::Memory last;
    {
      cu::Memory first(1024);
      address = first.address;
      cu::Memory second(std::move(first));
      CHECK(first.address == 0);
      CHECK(second.address == address);
      last = std::move(second);
      CHECK(second.address == 0);
    }
    CHECK(last.address == address);
    CHECK(owner_of(address) == context.handle);  // neither of the moved-from owners has freed it
  }
  CHECK(owner_of(address) == nullptr);
}

TEST_CASE("an owner that is assigned to releases its previous resource immediately") {
  cu::Context context;
  cu::Memory target(1024);
  cu::Memory source(2048);
  const CUdeviceptr previous = target.address;
  const CUdeviceptr taken = source.address;
  target = std::move(source);
  CHECK(target.address == taken);
  CHECK(source.address == 0);
  CHECK(owner_of(previous) == nullptr);
  CHECK(owner_of(taken) == context.handle);
}

TEST_CASE("an owner that is assigned to itself keeps its resource") {
  cu::Context context;
  cu::Memory memory(1024);
  cu::Memory& same = memory;
  const CUdeviceptr address = memory.address;
  memory = std::move(same);
  CHECK(memory.address == address);
  CHECK(owner_of(address) == context.handle);
}

TEST_CASE("owners can be stored in a vector, which moves them when it grows") {
  cu::Context context;
  std::vector<cu::Memory> all;
  for (int i = 0; i < 100; ++i) all.emplace_back(1024);
  for (const cu::Memory& memory : all) CHECK(cuMemsetD8(memory.address, 0, 1024) == CUDA_SUCCESS);
}
