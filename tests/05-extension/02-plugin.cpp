// Judges the plugin of the exercise as a strict host would.
#include "05-extension/02-plugin/center.h"
#include "05-extension/02-plugin/host.hpp"
#include "common/image.hpp"
#include "tests/catch.hpp"

namespace {

using host::Array;
using host::Floats;
using host::kUntouched;

struct Library {
  CUlibrary handle = nullptr;

  Library() {
    CU_THROW(
        cuLibraryLoadFromFile(&handle, cu::image("kernels.ptx").c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  ~Library() { CU_REPORT(cuLibraryUnload(handle)); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

// A plugin, attached and prepared for a matrix, and the arrays that it gets. The numbers are small and whole, so that
// their sums are exact in any order.
struct Matrix {
  unsigned rows, columns, count;
  center* execution = nullptr;
  Floats numbers;
  Array x, y, workspace;

  Matrix(const Library& library, unsigned of_rows, unsigned of_columns)
      : rows(of_rows),
        columns(of_columns),
        count(rows * columns),
        x(made()),
        y(Floats(count, kUntouched)),
        workspace(Floats(attach(library), kUntouched)) {}
  ~Matrix() { center_detach(execution); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  int enqueue(CUstream stream) const {
    return center_enqueue(execution, x.memory.address, y.memory.address, workspace.memory.address, stream);
  }

  bool is_right() const {
    const Floats found = y.read();
    for (unsigned i = 0; i < count; ++i) {
      float sum = 0;
      for (unsigned c = 0; c < columns; ++c) sum += numbers[i / columns * columns + c];
      if (found[i] != numbers[i] - sum / static_cast<float>(columns)) return false;
    }
    return true;
  }

 private:
  const Floats& made() {
    for (unsigned i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i * 7 % 23));
    return numbers;
  }

  // How many floats the host allocates as the workspace.
  std::size_t attach(const Library& library) {
    REQUIRE(center_attach(&execution, library.handle) == CUDA_SUCCESS);
    REQUIRE(center_prepare(execution, rows, columns) == CUDA_SUCCESS);
    return center_workspace(execution) / sizeof(float);
  }
};

struct Host {
  cu::Context context;
  Library library;
  cu::Stream stream;
  Matrix matrix{library, 37, 64};

  void call_and_wait() {
    REQUIRE(matrix.enqueue(stream.handle) == CUDA_SUCCESS);
    CU_THROW(cuStreamSynchronize(stream.handle));
  }
};

// The stream is blocked as long as this exists.
class Blocked {
 public:
  explicit Blocked(const Host& host) : stream_(host.stream.handle), gate_(stream_) {}
  ~Blocked() {
    gate_.open();
    CU_REPORT(cuStreamSynchronize(stream_));
  }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  bool is_still() const { return gate_.is_closed(); }

 private:
  CUstream stream_;
  host::Gate gate_;
};

bool is_untouched(const Floats& numbers, std::size_t from) {
  return std::all_of(numbers.begin() + static_cast<std::ptrdiff_t>(from), numbers.end(),
                     [](float number) { return number == kUntouched; });
}

// Captures a call in the mode in which neither allocations nor waits are permitted, and counts the nodes by their type.
void capture_without_allocation(const Host& host) {
  CUgraph graph = nullptr;
  CU_THROW(cuStreamBeginCapture(host.stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL));
  const int code = host.matrix.enqueue(host.stream.handle);
  const CUresult ended = cuStreamEndCapture(host.stream.handle, &graph);
  const host::Graph owner(graph, cuGraphDestroy);
  CAPTURE(code, ended);
  REQUIRE((code == CUDA_SUCCESS && ended == CUDA_SUCCESS));
  std::size_t count = 0;
  CU_THROW(cuGraphGetNodes(graph, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  CU_THROW(cuGraphGetNodes(graph, nodes.data(), &count));
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type;
    CU_THROW(cuGraphNodeGetType(node, &type));
    REQUIRE(type != CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  }
}

}  // namespace

TEST_CASE_METHOD(Host, "y is x minus the mean of its row") {
  matrix.workspace.write(Floats(matrix.workspace.count, 0));
  call_and_wait();
  REQUIRE(matrix.is_right());
  REQUIRE(is_untouched(matrix.y.read(), matrix.count));
}

TEST_CASE_METHOD(Host, "the contents of the workspace don't matter") {
  call_and_wait();
  REQUIRE(matrix.is_right());
  call_and_wait();  // another call finds what the first one left there
  REQUIRE(matrix.is_right());
}

TEST_CASE_METHOD(Host, "the workspace is as large as the plugin says") {
  call_and_wait();
  REQUIRE(is_untouched(matrix.workspace.read(), matrix.workspace.count));
}

TEST_CASE_METHOD(Host, "a call works only in the caller's stream") {
  const Blocked blocked(*this);
  REQUIRE(matrix.enqueue(stream.handle) == CUDA_SUCCESS);
  // A copy in the default stream, which finds what has been written in other streams.
  const bool untouched = is_untouched(matrix.y.read(), 0) && is_untouched(matrix.workspace.read(), 0);
  REQUIRE(untouched);
}

TEST_CASE_METHOD(Host, "a call doesn't wait for the GPU") {
  const Blocked blocked(*this);
  REQUIRE(matrix.enqueue(stream.handle) == CUDA_SUCCESS);
  REQUIRE(blocked.is_still());
}

TEST_CASE_METHOD(Host, "a call allocates no memory") { capture_without_allocation(*this); }

TEST_CASE_METHOD(Host, "each execution has a shape of its own") {
  const Matrix smaller(library, 3, 5);
  call_and_wait();
  REQUIRE(matrix.is_right());
  REQUIRE(smaller.enqueue(stream.handle) == CUDA_SUCCESS);
  CU_THROW(cuStreamSynchronize(stream.handle));
  REQUIRE(smaller.is_right());
}

TEST_CASE_METHOD(Host, "any context may be current") {
  int code;
  {
    const cu::Context other;  // is now current
    code = matrix.enqueue(stream.handle);
  }
  REQUIRE(code == CUDA_SUCCESS);
  CU_THROW(cuStreamSynchronize(stream.handle));
  REQUIRE(matrix.is_right());
}

TEST_CASE_METHOD(Host, "a matrix without elements is not an error") {
  const auto [rows, columns] = GENERATE(std::pair(0, 64), std::pair(37, 0), std::pair(0, 0));
  CAPTURE(rows, columns);
  REQUIRE(center_prepare(matrix.execution, rows, columns) == CUDA_SUCCESS);
  REQUIRE(center_enqueue(matrix.execution, 0, 0, 0, stream.handle) == CUDA_SUCCESS);
}

TEST_CASE_METHOD(Host, "an impossible shape is rejected with a code") {
  REQUIRE(center_prepare(matrix.execution, -2, 64) != CUDA_SUCCESS);
  REQUIRE(center_prepare(matrix.execution, 64, -2) != CUDA_SUCCESS);
  REQUIRE(center_prepare(matrix.execution, int64_t{1} << 20, int64_t{1} << 20) != CUDA_SUCCESS);
  REQUIRE(center_prepare(matrix.execution, int64_t{1} << 32 | 37, 64) != CUDA_SUCCESS);
  call_and_wait();  // a rejected shape changes nothing
  REQUIRE(matrix.is_right());
}

TEST_CASE_METHOD(Host, "missing arguments are rejected with a code") {
  const CUdeviceptr x = matrix.x.memory.address, y = matrix.y.memory.address, w = matrix.workspace.memory.address;
  REQUIRE(center_enqueue(nullptr, x, y, w, stream.handle) != CUDA_SUCCESS);
  REQUIRE(center_enqueue(matrix.execution, 0, y, w, stream.handle) != CUDA_SUCCESS);
  REQUIRE(center_enqueue(matrix.execution, x, 0, w, stream.handle) != CUDA_SUCCESS);
  REQUIRE(center_enqueue(matrix.execution, x, y, 0, stream.handle) != CUDA_SUCCESS);
  CU_THROW(cuStreamSynchronize(stream.handle));
}
