// Checks the learner's record() (exercise of 04-kernels/12-streams-and-graphs).
#include "common/cu.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"
#include "tests/driver.hpp"

#include <functional>
#include <stdexcept>

CUgraphExec record(CUstream stream, const std::function<void(CUstream)>& work);

namespace {

// A stream, a number on the device, and the lesson's kernel that adds to it.
struct Adding {
  cu::Context context;
  cu::Module module{cu::image("kernels.ptx")};
  cu::Memory number{sizeof(int)};
  CUstream stream;
  std::function<void(CUstream)> add_seven = [this](CUstream where) {
    int by = 7;
    void* arguments[] = {&number.address, &by};
    CU_CHECK(cuLaunchKernel(module.function("add"), 1, 1, 1, 1, 1, 1, 0, where, arguments, nullptr));
  };

  Adding() {
    CU_CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU_CHECK(cuMemsetD8(number.address, 0, sizeof(int)));
    CU_CHECK(cuCtxSynchronize());  // the stream would not wait for it
  }
  ~Adding() { CU_REPORT(cuStreamDestroy(stream)); }

  int get() {
    int value;
    CU_CHECK(cuStreamSynchronize(stream));
    CU_CHECK(cuMemcpyDtoH(&value, number.address, sizeof value));
    return value;
  }

  bool free_again() {
    CUstreamCaptureStatus status;
    CU_CHECK(cuStreamIsCapturing(stream, &status));
    return status == CU_STREAM_CAPTURE_STATUS_NONE;
  }
};

int ended = 0, destroyed = 0;  // captures that made a graph; graphs

}  // namespace

// The solution's calls come through these functions.
CUresult CUDAAPI cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const CUresult result = DRIVERS(cuStreamEndCapture)(stream, graph);
  ended += result == CUDA_SUCCESS;
  return result;
}

CUresult CUDAAPI cuGraphDestroy(CUgraph graph) {
  ++destroyed;
  return DRIVERS(cuGraphDestroy)(graph);
}

MAY_BE_REFUSED(cuStreamBeginCapture, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
MAY_BE_REFUSED(cuGraphInstantiate, (CUgraphExec * executable, CUgraph graph, unsigned long long flags),
               (executable, graph, flags))
MAY_BE_REFUSED(cuGraphInstantiateWithParams,
               (CUgraphExec * executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* parameters),
               (executable, graph, parameters))

TEST_CASE_METHOD(Adding, "nothing runs during the capture") {
  CUgraphExec graph = record(stream, add_seven);
  REQUIRE(graph != nullptr);
  CHECK(free_again());
  CHECK(get() == 0);
  CU_CHECK(cuGraphExecDestroy(graph));
}

TEST_CASE_METHOD(Adding, "every launch of the graph runs the work") {
  CUgraphExec graph = record(stream, add_seven);
  REQUIRE(graph != nullptr);
  for (int i = 0; i < 3; ++i) CU_CHECK(cuGraphLaunch(graph, stream));
  CHECK(get() == 21);
  CU_CHECK(cuGraphExecDestroy(graph));
}

TEST_CASE_METHOD(Adding, "the captured graph does not leak") {
  ended = destroyed = 0;
  CUgraphExec graph = record(stream, add_seven);
  REQUIRE(graph != nullptr);
  CHECK(ended == 1);
  CHECK(destroyed == 1);
  CU_CHECK(cuGraphExecDestroy(graph));
}

TEST_CASE_METHOD(Adding, "an exception from the work reaches the caller") {
  CHECK_THROWS_AS(record(stream, [](CUstream) { throw std::runtime_error("no"); }), std::runtime_error);
}

TEST_CASE_METHOD(Adding, "after an exception from the work, the stream is usable") {
  CHECK_THROWS_AS(record(stream, [](CUstream) { throw std::runtime_error("no"); }), std::runtime_error);
  REQUIRE(free_again());
  add_seven(stream);
  CHECK(get() == 7);
}

TEST_CASE_METHOD(Adding, "work that cannot be captured is reported, and the stream is usable") {
  CHECK_THROWS_AS(record(stream, [](CUstream where) { cuStreamSynchronize(where); }), cu::Error);
  REQUIRE(free_again());
  add_seven(stream);
  CHECK(get() == 7);
}

TEST_CASE_METHOD(Adding, "any type of exception reaches the caller unchanged, and the stream is usable") {
  CHECK_THROWS_AS(record(stream, [](CUstream) { throw 42; }), int);  // not every exception is a std::exception
  REQUIRE(free_again());
}

TEST_CASE_METHOD(Adding, "if the capture cannot begin, this is reported, and the work does not run") {
  CHECK(ignored_failure({"cuStreamBeginCapture"}, [&] { cuGraphExecDestroy(record(stream, add_seven)); }) == "");
  CHECK(get() == 0);
}

TEST_CASE_METHOD(Adding, "if the graph cannot be instantiated, this is reported, and no graph leaks") {
  ended = destroyed = 0;
  const auto solution = [&] { cuGraphExecDestroy(record(stream, add_seven)); };
  CHECK(ignored_failure({"cuGraphInstantiate", "cuGraphInstantiateWithParams"}, solution) == "");
  CHECK(destroyed == ended);
}

TEST_CASE_METHOD(Adding, "if the work throws halfway, no graph leaks") {
  ended = destroyed = 0;
  const auto halfway = [&](CUstream where) {
    add_seven(where);
    throw std::runtime_error("no");
  };
  CHECK_THROWS_AS(record(stream, halfway), std::runtime_error);
  CHECK(destroyed == ended);
  CHECK(get() == 0);
}

TEST_CASE_METHOD(Adding, "the work receives the caller's stream") {
  CUstream given = nullptr;
  const CUgraphExec graph = record(stream, [&](CUstream where) { add_seven(given = where); });
  CHECK(given == stream);
  CU_CHECK(cuGraphExecDestroy(graph));
}
