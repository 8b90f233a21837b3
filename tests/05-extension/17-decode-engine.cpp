// Checks the learner's move_pages() (exercise of 05-extension/17-decode-engine), and the engine itself.
#include "05-extension/17-decode-engine/drive.hpp"
#include "tests/driver.hpp"
#include "tests/numbers.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <thread>

void move_pages(const engine::Pages& pages, int slot, const std::vector<int>& from, const std::vector<int>& to,
                CUstream stream);

namespace {

using engine::Pages;

// Holds up a stream until it is opened, or for two seconds.
struct Gate {
  std::atomic<bool> open{false}, timed_out{false};
};
void CUDA_CB wait_at(void* gate_of_a_stream) {
  Gate& gate = *static_cast<Gate*>(gate_of_a_stream);
  for (int i = 0; i < 2000 && !gate.open; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!gate.open) gate.timed_out = true;
}

std::map<std::string, int> calls;  // of the driver, since the map was cleared

// A cache without an engine: two layers, six pages, three slots.
struct Scene : cu::Context {
  static constexpr int kLayers = 2, kPages = 6, kSlots = 3, kPitch = 4, kWords = 256;  // of a page
  static constexpr int kAll = kLayers * kPages * kWords;
  cu::Memory keys{4 * kAll}, values{4 * kAll}, table{4 * kSlots * kPitch};
  cu::Stream stream;
  Gate gate;
  Pages pages{keys.address, values.address, table.address, kLayers, kPitch, 4 * kPages * kWords, 4 * kWords};

  Scene() {
    std::vector<int> numbers(kAll);
    for (int i = 0; i < kAll; ++i) numbers[i] = i;
    CU_CHECK(cuMemcpyHtoD(keys.address, numbers.data(), 4 * kAll));
    for (int& number : numbers) number += 1000000;
    CU_CHECK(cuMemcpyHtoD(values.address, numbers.data(), 4 * kAll));
    const int rows[kSlots][kPitch] = {{5, -1, -1, -1}, {0, 2, -1, -1}, {4, -1, -1, -1}};
    CU_CHECK(cuMemcpyHtoD(table.address, rows, sizeof rows));
    CU_CHECK(cuCtxSynchronize());
    CU_CHECK(cuLaunchHostFunc(stream.handle, wait_at, &gate));
    calls.clear();
  }
  ~Scene() { finish(); }

  void move() { move_pages(pages, 1, {0, 2}, {3, 1}, stream.handle); }
  void finish() {
    gate.open = true;
    CU_REPORT(cuCtxSynchronize());
  }
  static std::vector<int> read(const cu::Memory& memory, int count) {
    std::vector<int> found(count);
    const cu::Stream other;
    CU_CHECK(DRIVERS(cuMemcpyDtoHAsync)(found.data(), memory.address, 4 * found.size(), other.handle));
    CU_CHECK(DRIVERS(cuStreamSynchronize)(other.handle));
    return found;
  }
  // The number that belongs at a place, when the pages have been moved. Those that were left may hold anything.
  static std::string judge(const char* name, const cu::Memory& memory, int first) {
    std::vector<int> found = read(memory, kAll);
    const int source[kPages] = {-1, 2, -1, 0, 4, 5};
    const auto wanted = [&](int i) {
      const int page = i / kWords % kPages;
      return first + i + (source[page] - page) * kWords;
    };
    for (int i = 0; i < kAll; ++i) {
      if (source[i / kWords % kPages] < 0) found[i] = wanted(i);
    }
    return judged(name, found.data(), kAll, wanted);
  }
};

}  // namespace

#define COUNTED(call, parameters, arguments) \
  CUresult CUDAAPI call parameters {         \
    ++calls[#call];                          \
    return DRIVERS(call) arguments;          \
  }
COUNTED(cuGraphLaunch, (CUgraphExec graph, CUstream stream), (graph, stream))
COUNTED(cuGraphInstantiate, (CUgraphExec * made, CUgraph graph, unsigned long long flags), (made, graph, flags))
COUNTED(cuCtxSynchronize, (), ())
COUNTED(cuStreamSynchronize, (CUstream stream), (stream))
COUNTED(cuEventSynchronize, (CUevent event), (event))
COUNTED(cuMemAlloc, (CUdeviceptr * made, size_t bytes), (made, bytes))
COUNTED(cuMemAllocAsync, (CUdeviceptr * made, size_t bytes, CUstream stream), (made, bytes, stream))
COUNTED(cuMemHostAlloc, (void** made, size_t bytes, unsigned flags), (made, bytes, flags))
COUNTED(cuMemAllocHost, (void** made, size_t bytes), (made, bytes))
COUNTED(cuMemFree, (CUdeviceptr address), (address))
COUNTED(cuMemcpyDtoH, (void* to, CUdeviceptr from, size_t bytes), (to, from, bytes))
COUNTED(cuMemcpyHtoD, (CUdeviceptr to, const void* from, size_t bytes), (to, from, bytes))

namespace {

// Those that make the host wait, or that allocate or free memory.
std::string forbidden_calls() {
  std::string found;
  for (const auto& [name, count] : calls) {
    if (name != "cuGraphLaunch" && count > 0) found += name + " ";
  }
  return found;
}

}  // namespace

TEST_CASE_METHOD(Scene, "the keys of all layers are on the new pages") {
  move();
  finish();
  CHECK(judge("key", keys, 0) == kAllRight);
}

TEST_CASE_METHOD(Scene, "the values of all layers are on the new pages") {
  move();
  finish();
  CHECK(judge("value", values, 1000000) == kAllRight);
}

TEST_CASE_METHOD(Scene, "the table names the new pages, and the rows of other slots are as before") {
  move();
  finish();
  const int rows[] = {5, -1, -1, -1, 3, 1, -1, -1, 4, -1, -1, -1};
  const std::vector<int> found = read(table, kSlots * kPitch);
  CHECK(judged("table", found.data(), kSlots * kPitch, [&](int i) { return rows[i]; }) == kAllRight);
}

TEST_CASE_METHOD(Scene, "steps that are in the stream already find the old pages") {
  move();
  CU_CHECK(DRIVERS(cuStreamSynchronize)(nullptr));  // the stream of the steps does not wait for the default stream
  CHECK(read(table, kSlots * kPitch)[kPitch] == 0);
  CHECK(read(keys, kAll)[3 * kWords] == 3 * kWords);  // the new page still has what it had
}

TEST_CASE_METHOD(Scene, "the host does not wait for the device") {
  move();
  const bool waited = gate.timed_out;
  CHECK_FALSE(waited);
}

TEST_CASE_METHOD(Scene, "no memory is allocated") {
  move();
  CHECK(calls["cuMemAlloc"] + calls["cuMemAllocAsync"] + calls["cuMemHostAlloc"] + calls["cuMemAllocHost"] == 0);
}

TEST_CASE_METHOD(Scene, "the pages may be moved again before the device has moved them") {
  const cu::Pinned between(2 * sizeof(int));  // what a step between the two calls finds in the table
  move_pages(pages, 1, {0, 2}, {3, 1}, stream.handle);
  CU_CHECK(DRIVERS(cuMemcpyDtoHAsync)(between.address, table.address + 4 * kPitch, 2 * sizeof(int), stream.handle));
  move_pages(pages, 1, {3, 1}, {2, 0}, stream.handle);
  finish();
  CHECK(between.as<int>()[0] == 3);
  CHECK(between.as<int>()[1] == 1);
  const std::vector<int> found = read(table, kSlots * kPitch), moved = read(keys, kAll);
  CHECK(found[kPitch] == 2);
  CHECK(found[kPitch + 1] == 0);
  CHECK(moved[2 * kWords] == 0);  // page 0, by way of page 3
  CHECK(moved[0] == 2 * kWords);  // page 2, by way of page 1
}

namespace {

using namespace engine;

constexpr Shape kTiny = {2, 256, 256, 4, 2, 64, 128, 10000};

struct Tiny : cu::Context {
  Kernels kernels{"../../../../05-extension/17-decode-engine/"};
  Weights weights = random(kernels, kTiny, false);

  std::vector<int> alone(const std::vector<int>& prompt, const Request& request) const {
    const Engine engine(kernels, kTiny, weights, {1, 64, 4});
    return reply(engine, StepGraph(engine, Kind::kFused, true), prompt, request);
  }
};
// A different prompt and a different length for each number.
std::vector<int> prompt_of(int number) {
  std::vector<int> tokens;
  for (int i = 0; i <= number * 7 % 20; ++i) tokens.push_back((number * 31 + i * i * 5) % 128);
  return tokens;
}
Request request_of(int number) {
  const int prompt = static_cast<int>(prompt_of(number).size());
  return {prompt, prompt + 4 + number * 5 % 14, -1, number % 2 * 0.8f, 20, static_cast<unsigned>(number)};
}

}  // namespace

TEST_CASE_METHOD(Tiny, "a request goes on after its pages were moved") {
  const Request request = {3, 40, -1, 0, 0, 0};
  const std::vector<int> prompt = {1, 2, 3}, expected = alone(prompt, request);
  const Engine engine(kernels, kTiny, weights, {2, 64, 8});
  const StepGraph graph(engine, Kind::kFused, true);
  Batch batch(engine);
  const cu::Stream stream;
  std::vector<int> found;
  const int slot = batch.admit(prompt, request, stream.handle);
  for (int i = 0; i < 40; ++i) {
    if (i == 21) move_pages(engine.pages(), slot, batch.pages_of(slot), {7, 3, 5}, stream.handle);
    graph.launch(stream.handle);
  }
  CU_CHECK(cuStreamSynchronize(stream.handle));
  batch.look([&](int, int token) { found.push_back(token); }, [](int) {});
  CHECK(batch.is_empty());
  CHECK(found == expected);
}

TEST_CASE_METHOD(Tiny, "each step is one graph launch, and between two launches, no call waits or allocates") {
  const Engine engine(kernels, kTiny, weights, {1, 64, 4});
  const StepGraph graph(engine, Kind::kFused, true);
  Batch batch(engine);
  Driver driver(graph);
  bool admitted = false;
  int tokens = 0;
  calls.clear();
  const int steps = driver.run(
      batch, [&](CUstream stream) { admitted = admitted || batch.admit({1, 2, 3}, {3, 20, -1, 0, 0, 0}, stream) >= 0; },
      [&](int, int) { ++tokens; }, [](int) {});
  CHECK(tokens == 17);
  CHECK(steps >= 19);
  CHECK(calls["cuGraphLaunch"] == steps);
  CHECK(forbidden_calls() == "");
}

TEST_CASE_METHOD(Tiny, "in a batch, each request gets the reply that it gets alone, and its pages become free again") {
  constexpr int kRequests = 7;
  const Engine engine(kernels, kTiny, weights, {3, 64, 6});  // pages for two or three of them at a time
  const StepGraph graph(engine, Kind::kFused, true);
  Batch batch(engine);
  int next = 0, most = 0;
  std::vector<int> in(3);
  std::vector<std::vector<int>> replies(kRequests);
  calls.clear();
  Driver(graph).run(
      batch,
      [&](CUstream stream) {
        while (next < kRequests) {
          const int slot = batch.admit(prompt_of(next), request_of(next), stream);
          if (slot < 0) return;
          in[slot] = next++;
          most = std::max(most, 6 - batch.free_pages());
        }
      },
      [&](int slot, int token) { replies[in[slot]].push_back(token); }, [](int) {});
  CHECK(calls["cuGraphInstantiate"] == 0);
  CHECK(batch.free_pages() == 6);
  CHECK(most >= 4);
  for (int i = 0; i < kRequests; ++i) {
    CAPTURE(i);
    CHECK(replies[i] == alone(prompt_of(i), request_of(i)));
  }
}

TEST_CASE_METHOD(Tiny, "one launch of the loop gives the same reply as a launch for each step") {
#if CUDA_VERSION >= 12030
  const Engine engine(kernels, kTiny, weights, {1, 64, 4});
  Batch batch(engine);
  const LoopGraph loop(kernels, engine, true);
  const cu::Stream stream;
  std::vector<int> found;
  batch.admit({1, 2, 3}, {3, 20, -1, 0, 0, 0}, stream.handle);
  loop.launch(stream.handle);
  CU_CHECK(cuStreamSynchronize(stream.handle));
  batch.look([&](int, int token) { found.push_back(token); }, [](int) {});
  CHECK(found == alone({1, 2, 3}, {3, 20, -1, 0, 0, 0}));
#else
  SKIP_TEST("conditional nodes need the headers of CUDA 12.3");
#endif
}

TEST_CASE_METHOD(Tiny, "the reply does not depend on how the kernels of a step are launched") {
  const std::vector<int> prompt = {1, 2, 3};
  const Request request = {3, 40, -1, 0, 0, 0};
  const std::vector<int> expected = alone(prompt, request);
  const Engine engine(kernels, kTiny, weights, {1, 64, 4});
  CHECK(reply(engine, StepGraph(engine, Kind::kFused, false), prompt, request) == expected);

  // Without a graph.
  Batch batch(engine);
  const cu::Stream stream;
  std::vector<int> found;
  batch.admit(prompt, request, stream.handle);
  for (int i = 0; i < 40; ++i) engine.step(Kind::kFused, false, stream.handle);
  CU_CHECK(cuStreamSynchronize(stream.handle));
  batch.look([&](int, int token) { found.push_back(token); }, [](int) {});
  CHECK(found == expected);
}

TEST_CASE_METHOD(Tiny, "a kernel for each operation gives the same reply as the fused kernels") {
  const Engine engine(kernels, kTiny, weights, {1, 64, 4});
  for (const int number : {0, 2, 4}) {
    CAPTURE(number);
    CHECK(reply(engine, StepGraph(engine, Kind::kSeparate, false), prompt_of(number), request_of(number)) ==
          alone(prompt_of(number), request_of(number)));
  }
}

TEST_CASE_METHOD(Tiny, "a request that can never be admitted is rejected with the reason") {
  const Engine engine(kernels, kTiny, weights, {1, 64, 2});
  const Batch batch(engine);
  CHECK(batch.obstacle({}, 4).find("prompt is empty") == 4);
  CHECK(batch.obstacle(std::vector<int>(60), 5).find("may have 64 in all") != std::string::npos);
  CHECK(batch.obstacle(std::vector<int>(30), 3) == "the request needs 3 pages, and the cache has only 2");
  CHECK(batch.obstacle(std::vector<int>(30), 2).empty());
}

namespace {

// What read_file() says about a file with these bytes.
std::string complaint(const std::string& bytes) {
  const std::string path = cu::image("damaged");
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    read_file(path);
    return "nothing";
  } catch (const Problem& problem) {
    return problem.what();
  }
}

}  // namespace

TEST_CASE("a file that is missing, is no model, or has too few or too many bytes is rejected") {
  CHECK_THROWS_AS(read_file(cu::image("no such file")), Problem);
  CHECK(complaint("").find("its header is wrong") != std::string::npos);
  CHECK(complaint("GPT").find("its header is wrong") != std::string::npos);
  Shape shape = kTiny;
  const auto bytes = [&](std::size_t count) {
    return "CUDALM1\n" + std::string(reinterpret_cast<const char*>(&shape), sizeof shape) + std::string(count, '\0');
  };
  const std::size_t all = 4 * kTiny.vocabulary + 2 * File::elements(kTiny);
  CHECK(complaint(bytes(all)) == "nothing");
  CHECK(complaint(bytes(all - 1)).find("does not have as many bytes") != std::string::npos);
  CHECK(complaint(bytes(all + 1)).find("does not have as many bytes") != std::string::npos);
  shape.head = 65;
  CHECK(complaint(bytes(all)).find("its header is wrong") != std::string::npos);
}
