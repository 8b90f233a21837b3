// common/cu.hpp: what each macro does after a success and after a failure, and what the owners release.
// Those that end the program are tried in a child process. No test before "a context is current" initialises the
// driver.
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <functional>
#include <type_traits>

namespace {

// A call that answers what it is told to, and counts how often it was made.
int calls = 0;
CUresult answer(CUresult code) {
  ++calls;
  return code;
}

std::string here(int line) { return std::string(__FILE__) + ":" + std::to_string(line) + ": "; }

// How a child process that did `work` ended, and all that it printed.
struct Ended {
  int status;  // of exit(); -1 if it was killed, 77 if it did not end by itself
  std::string output;
};

Ended in_child(const std::function<void()>& work) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // no test hangs for good
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
  CU_RETURN(answer(CUDA_SUCCESS));
  CU_RETURN(answer(second));
  CU_RETURN(answer(CUDA_SUCCESS));
  return CUDA_SUCCESS;
}

struct Reporter {
  ~Reporter() { CU_REPORT(answer(CUDA_ERROR_INVALID_VALUE)); }
};

}  // namespace

TEST_CASE("a code has a name and a meaning before cuInit, an unknown one too") {
  CHECK(std::string(cu::name(CUDA_ERROR_INVALID_VALUE)) == "CUDA_ERROR_INVALID_VALUE");
  CHECK(std::string(cu::meaning(CUDA_ERROR_INVALID_VALUE)) == "invalid argument");
  CHECK(std::string(cu::name(static_cast<CUresult>(12345))) == "a code that this driver does not know");
  CHECK(std::string(cu::meaning(static_cast<CUresult>(12345))) == "unknown");
}

TEST_CASE("each macro makes the call once, and success passes in silence") {
  const Ended ended = in_child([] {
    calls = 0;
    CU_CHECK(answer(CUDA_SUCCESS));
    CU_THROW(answer(CUDA_SUCCESS));
    CU_REPORT(answer(CUDA_SUCCESS));
    CU_EXPECT(CUDA_ERROR_NO_DEVICE, answer(CUDA_ERROR_NO_DEVICE));
    if (calls != 4) std::printf("%d calls", calls);
  });
  CHECK(ended.output == "");
  CHECK(ended.status == 77);
}

TEST_CASE("CU_CHECK reports a failure and ends the program with status 1") {
  const int line = __LINE__ + 1;
  const Ended ended = in_child([] { CU_CHECK(answer(CUDA_ERROR_INVALID_VALUE)); });
  CHECK(ended.output ==
        here(line) + "answer(CUDA_ERROR_INVALID_VALUE) -> CUDA_ERROR_INVALID_VALUE: invalid argument\n");
  CHECK(ended.status == EXIT_FAILURE);
}

TEST_CASE("what was printed before a failure comes before its report") {
  const Ended ended = in_child([] {
    std::printf("printed first\n");
    CU_CHECK(answer(CUDA_ERROR_INVALID_VALUE));
  });
  CHECK(ended.output.find("printed first\n") == 0);
  CHECK(ended.output.find(" -> ") != std::string::npos);
}

TEST_CASE("CU_THROW throws the code and the report") {
  const int line = __LINE__ + 2;
  try {
    CU_THROW(answer(CUDA_ERROR_NOT_INITIALIZED));
    FAIL("nothing was thrown");
  } catch (const cu::Error& error) {
    CHECK(error.code() == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(std::string(error.what()) ==
          here(line) + "answer(CUDA_ERROR_NOT_INITIALIZED) -> CUDA_ERROR_NOT_INITIALIZED: initialization error");
  }
}

TEST_CASE("CU_RETURN returns the first failure and makes no further call") {
  calls = 0;
  CHECK(three_calls(CUDA_ERROR_OUT_OF_MEMORY) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(calls == 2);
  calls = 0;
  CHECK(three_calls(CUDA_SUCCESS) == CUDA_SUCCESS);
  CHECK(calls == 3);
}

TEST_CASE("a macro is one statement, also between if and else") {
  const auto chosen = [](bool first) {
    if (first)
      CU_RETURN(answer(CUDA_ERROR_NO_DEVICE));
    else
      CU_REPORT(answer(CUDA_SUCCESS));
    return CUDA_SUCCESS;
  };
  CHECK(chosen(true) == CUDA_ERROR_NO_DEVICE);
  CHECK(chosen(false) == CUDA_SUCCESS);
}

TEST_CASE("a comma inside braces does not cut a call in two") {
  const auto sum_is = [](std::initializer_list<int> numbers) {
    int sum = 0;
    for (int number : numbers) sum += number;
    return static_cast<CUresult>(sum);
  };
  CHECK_NOTHROW(CU_THROW(sum_is({1, -1})));
  CHECK_THROWS_AS(CU_THROW(sum_is({1, 2})), cu::Error);
}

TEST_CASE("CU_EXPECT's value is the expected code") {
  CHECK(CU_EXPECT(CUDA_ERROR_NO_DEVICE, answer(CUDA_ERROR_NO_DEVICE)) == CUDA_ERROR_NO_DEVICE);
}

TEST_CASE("CU_EXPECT ends the program when the call succeeds") {
  const Ended ended = in_child([] { CU_EXPECT(CUDA_ERROR_NO_DEVICE, answer(CUDA_SUCCESS)); });
  CHECK(ended.output.find("answer(CUDA_SUCCESS) -> CUDA_SUCCESS: no error\n") != std::string::npos);
  CHECK(ended.output.find("expected CUDA_ERROR_NO_DEVICE\n") != std::string::npos);
  CHECK(ended.status == EXIT_FAILURE);
}

TEST_CASE("CU_EXPECT ends the program when another error comes back") {
  const Ended ended = in_child([] { CU_EXPECT(CUDA_ERROR_NO_DEVICE, answer(CUDA_ERROR_INVALID_VALUE)); });
  CHECK(ended.output.find("-> CUDA_ERROR_INVALID_VALUE") != std::string::npos);
  CHECK(ended.status == EXIT_FAILURE);
}

TEST_CASE("CU_REPORT reports a failure and goes on, in a destructor that runs because of an exception too") {
  const Ended ended = in_child([] {
    try {
      Reporter reporter;
      throw 1;
    } catch (int) {
      std::printf("went on\n");
    }
  });
  CHECK(ended.output.find("answer(CUDA_ERROR_INVALID_VALUE) -> CUDA_ERROR_INVALID_VALUE") != std::string::npos);
  CHECK(ended.output.find("went on\n") != std::string::npos);
  CHECK(ended.status == 77);
}

TEST_CASE("CU_REPORT does not repeat what the exception on its way up has said, but says all else") {
  const Ended ended = in_child([] {
    for (const CUresult thrown : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_ILLEGAL_ADDRESS}) {
      try {
        Reporter reporter;
        CU_THROW(answer(thrown));
      } catch (const cu::Error& error) {
        std::printf("caught %s\n", cu::name(error.code()));
      }
    }
    Reporter reporter;  // nothing is on its way up any more
  });
  const auto first = ended.output.find("caught CUDA_ERROR_INVALID_VALUE");
  const auto second = ended.output.find("caught CUDA_ERROR_ILLEGAL_ADDRESS");
  const auto told = ended.output.find("answer(CUDA_ERROR_INVALID_VALUE) ->");
  REQUIRE(second != std::string::npos);
  CHECK(first < told);
  CHECK(told < second);
  CHECK(ended.output.find("answer(CUDA_ERROR_INVALID_VALUE) ->", second) != std::string::npos);
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

TEST_CASE("a context on a device that does not exist is never made") {
  try {
    cu::Context context(99);
    FAIL("it was made");
  } catch (const cu::Error& error) {
    CHECK(error.code() == CUDA_ERROR_INVALID_DEVICE);
  }
}

TEST_CASE("somebody's context is current until the end of the scope, and what lay below is current again") {
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

TEST_CASE("the primary context is retained and current until the end of the scope, and lives on for others") {
  CUcontext current = nullptr;
  unsigned flags = 0;
  int active = 0;
  CUdevice device = 0;
  {
    cu::Primary primary;
    device = primary.device;
    CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    CHECK(current == primary.handle);
    { cu::Primary same; }
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

TEST_CASE("memory that cannot be had throws") {
  cu::Context context;
  CHECK_THROWS_AS(cu::Memory(0), cu::Error);
}

TEST_CASE("pinned memory is freed at the end of its scope, and its flags are those asked for") {
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

TEST_CASE("a stream does not wait for the default one, and an event tells the time") {
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

TEST_CASE("memory without a size and a module without a path own nothing") {
  CHECK(cu::Memory().address == 0);
  CHECK(cu::Module().handle == nullptr);
}

TEST_CASE("an owner that could not be made names the line that wanted it") {
  const int line = __LINE__ + 2;
  try {
    cu::Context context(99);
    FAIL("it was made");
  } catch (const cu::Error& error) {
    CHECK(std::string(error.what()).find(here(line) + "cuDeviceGet") == 0);
  }
}

TEST_CASE("an image that is not there throws the driver's answer") {
  cu::Context context;
  try {
    cu::Module module("no such file");
    FAIL("it was loaded");
  } catch (const cu::Error& error) {
    CHECK(error.code() == CUDA_ERROR_FILE_NOT_FOUND);
    CHECK(std::string(error.what()).find("cuModuleLoad") != std::string::npos);
  }
}

TEST_CASE("no owner can be copied: each resource is released once") {
  CHECK_FALSE(std::is_copy_constructible<cu::Context>::value);
  CHECK_FALSE(std::is_copy_constructible<cu::Memory>::value);
  CHECK_FALSE(std::is_copy_constructible<cu::Module>::value);
  CHECK_FALSE(std::is_copy_constructible<cu::Pinned>::value);
  CHECK_FALSE(std::is_copy_constructible<cu::Stream>::value);
  CHECK_FALSE(std::is_copy_constructible<cu::Event>::value);
}
