// Streams and events: order within, order across, readiness, priorities, host functions.
#include "tests/conformance/scenario.hpp"

#include <atomic>
#include <chrono>
#include <thread>

FRESH_CASE("Streams and events can be queried while work is pending, and after it", "[stream]") {
  const auto F = conformance::module();
  CUstream s = nullptr, t = nullptr;
  CUevent a = nullptr, b = nullptr, c = nullptr;
  CUcontext sc = nullptr;
  float ms = 0;
  int lo = 9, hi = 9, pr = 9;
  unsigned fl = 9;
  long long nanoseconds = 100'000'000;
  void* ar[] = {&nanoseconds};
  ANSWERS(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ANSWERS(cuStreamCreate(&t, 99), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuStreamQuery(s), CUDA_SUCCESS);
  ANSWERS(cuStreamQuery(0), CUDA_SUCCESS);
  ANSWERS(cuEventCreate(&a, 0), CUDA_SUCCESS);
  ANSWERS(cuEventCreate(&b, 0), CUDA_SUCCESS);
  ANSWERS(cuEventCreate(&c, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  CUevent bad = nullptr;
  ANSWERS(cuEventCreate(&bad, 0xff0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuEventQuery(a), CUDA_SUCCESS);
  ANSWERS(cuEventSynchronize(a), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(a, s), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(F("spin"), 1, 1, 1, 1, 1, 1, 0, s, ar, 0), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(b, s), CUDA_SUCCESS);
  ANSWERS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  ANSWERS(cuEventQuery(b), CUDA_ERROR_NOT_READY);
  ANSWERS(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_NOT_READY);
  ANSWERS(cuEventSynchronize(b), CUDA_SUCCESS);
  ANSWERS(cuEventElapsedTime(&ms, a, b), CUDA_SUCCESS);
  SHOWS("positive 1", "positive " << (ms > 50));
  ANSWERS(cuEventElapsedTime(&ms, b, a), CUDA_SUCCESS);
  SHOWS("negative 1", "negative " << (ms < 0));
  ANSWERS(cuEventRecord(c, s), CUDA_SUCCESS);
  ANSWERS(cuEventElapsedTime(&ms, a, c), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuStreamWaitEvent(s, a, 0), CUDA_SUCCESS);
  ANSWERS(cuStreamWaitEvent(s, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuCtxGetStreamPriorityRange(&lo, &hi), CUDA_SUCCESS);
  SHOWS("prio 0 -5", "prio " << lo << " " << hi);
  ANSWERS(cuStreamCreateWithPriority(&t, 0, -100), CUDA_SUCCESS);
  ANSWERS(cuStreamGetPriority(t, &pr), CUDA_SUCCESS);
  SHOWS("pr -5", "pr " << pr);
  ANSWERS(cuStreamGetFlags(s, &fl), CUDA_SUCCESS);
  SHOWS("fl 1", "fl " << fl);
  ANSWERS(cuStreamGetCtx(s, &sc), CUDA_SUCCESS);
  SHOWS("1", (sc == F.ctx));
  ANSWERS(cuStreamDestroy(s), CUDA_SUCCESS);
  // A GPU's driver crashes on a destroyed stream; the manual names the error.
  if (conformance::on_simulator()) ANSWERS(cuStreamQuery(s), CUDA_ERROR_INVALID_HANDLE);
}

namespace {

// Host functions that note their turn, and can be made to wait.
struct Turns {
  std::atomic<int> next{0};
  std::atomic<bool> gate{false};
};
struct Turn {
  Turns* turns;
  int at = -1;
};

void CUDA_CB take_turn(void* data) {
  Turn& turn = *static_cast<Turn*>(data);
  turn.at = turn.turns->next++;
}

void CUDA_CB wait_for_gate(void* data) {
  while (!static_cast<Turns*>(data)->gate) std::this_thread::yield();
}

}  // namespace

FRESH_CASE("Legacy default stream and blocking streams wait for each other, non-blocking ones do not", "[stream]") {
  conformance::context();
  CUstream first = nullptr, second = nullptr, apart = nullptr;
  CU_CHECK(cuStreamCreate(&first, 0));
  CU_CHECK(cuStreamCreate(&second, 0));
  CU_CHECK(cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
  Turns turns;
  Turn legacy{&turns}, after{&turns};
  CUdeviceptr memory = 0;
  CU_CHECK(cuMemAlloc(&memory, 4));
  ANSWERS(cuLaunchHostFunc(first, wait_for_gate, &turns), CUDA_SUCCESS);
  ANSWERS(cuLaunchHostFunc(nullptr, take_turn, &legacy), CUDA_SUCCESS);
  ANSWERS(cuLaunchHostFunc(second, take_turn, &after), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32Async(memory, 1, 1, apart), CUDA_SUCCESS);  // no host function: a driver may run those one by one
  ANSWERS(cuStreamSynchronize(apart), CUDA_SUCCESS);
  CHECK(legacy.at == -1);
  ANSWERS(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  turns.gate = true;
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK(legacy.at == 0);
  CHECK(after.at == 1);
}

FRESH_CASE("An event holds one stream back until another has reached it", "[stream]") {
  conformance::context();
  CUstream first = nullptr, second = nullptr;
  CUevent reached = nullptr;
  CU_CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&reached, CU_EVENT_DISABLE_TIMING));
  Turns turns;
  Turn later{&turns};
  ANSWERS(cuLaunchHostFunc(first, wait_for_gate, &turns), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(reached, first), CUDA_SUCCESS);
  ANSWERS(cuStreamWaitEvent(second, reached, 0), CUDA_SUCCESS);
  ANSWERS(cuLaunchHostFunc(second, take_turn, &later), CUDA_SUCCESS);
  ANSWERS(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  CHECK(later.at == -1);
  turns.gate = true;
  ANSWERS(cuStreamSynchronize(second), CUDA_SUCCESS);
  CHECK(later.at == 0);
}

FRESH_CASE("Each thread has a default stream of its own when it asks for it", "[stream]") {
  const CUcontext ctx = conformance::context().ctx;
  Turns turns;
  ANSWERS(cuLaunchHostFunc(CU_STREAM_PER_THREAD, wait_for_gate, &turns), CUDA_SUCCESS);
  std::string other;
  std::thread([&] {
    cuCtxSetCurrent(ctx);
    other = cu::name(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  }).join();
  CHECK(other == "CUDA_SUCCESS");
  ANSWERS(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  turns.gate = true;
  ANSWERS(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
}

FRESH_CASE("A destroyed stream still does what it was given", "[stream]") {
  conformance::context();
  CUstream s = nullptr;
  CU_CHECK(cuStreamCreate(&s, 0));
  Turns turns;
  Turn last{&turns};
  ANSWERS(cuLaunchHostFunc(s, wait_for_gate, &turns), CUDA_SUCCESS);
  ANSWERS(cuLaunchHostFunc(s, take_turn, &last), CUDA_SUCCESS);
  ANSWERS(cuStreamDestroy(s), CUDA_SUCCESS);
  turns.gate = true;
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK(last.at == 0);
}

namespace {

struct Heard {
  std::string answer;
  int hit = 0;
};

void CUDA_CB allocate_inside(void* data) {
  CUdeviceptr p = 0;
  auto& heard = *static_cast<Heard*>(data);
  heard.answer = conformance::answer("cuMemAlloc(&p,4)", cuMemAlloc(&p, 4));
  ++heard.hit;
}

}  // namespace

FRESH_CASE("Inside a host function, calls that touch the context are not permitted", "[stream]") {
  conformance::context();
  Heard heard;
  ANSWERS(cuLaunchHostFunc(0, allocate_inside, &heard), CUDA_SUCCESS);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK(heard.answer == "CUDA_ERROR_NOT_PERMITTED");
  SHOWS("hit 1", "hit " << heard.hit);
  ANSWERS(cuLaunchHostFunc(0, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("A process may end with work pending", "[stream]") {
  conformance::context();
  static Turns never;
  ANSWERS(cuLaunchHostFunc(nullptr, wait_for_gate, &never), CUDA_SUCCESS);
  ANSWERS(cuLaunchHostFunc(nullptr, take_turn, nullptr), CUDA_SUCCESS);
}

FRESH_CASE("A stream waits for a word in memory, and another one writes it", "[stream]") {
  conformance::context();
  CUstream waiter = nullptr, writer = nullptr;
  CUdeviceptr word = 0;
  unsigned value = 0;
  CU_CHECK(cuStreamCreate(&waiter, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&writer, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuMemAlloc(&word, 8));
  CU_CHECK(cuMemsetD32(word, 0, 2));
  CU_CHECK(cuCtxSynchronize());  // a memset may return early, and the two streams do not wait for the default one
  ANSWERS(cuStreamWaitValue32(waiter, word, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  ANSWERS(cuStreamQuery(waiter), CUDA_ERROR_NOT_READY);
  ANSWERS(cuStreamWriteValue32(writer, word, 7, CU_STREAM_WRITE_VALUE_DEFAULT), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(waiter), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(&value, word, 4), CUDA_SUCCESS);
  CHECK(value == 7);
  ANSWERS(cuStreamWaitValue32(waiter, 0, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuStreamWaitValue32(waiter, word + 1, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr managed = 0;
  CU_CHECK(cuMemAllocManaged(&managed, 8, CU_MEM_ATTACH_GLOBAL));
  ANSWERS(cuStreamWriteValue32(writer, managed, 7, CU_STREAM_WRITE_VALUE_DEFAULT), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams write{};
  write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.writeValue.address = word;
  write.writeValue.value = 9;
  std::vector<CUstreamBatchMemOpParams> batch(256, write);
  ANSWERS(cuStreamBatchMemOp(writer, 256, batch.data(), 0), CUDA_ERROR_INVALID_VALUE);  // it must be fewer
  ANSWERS(cuStreamBatchMemOp(writer, 255, batch.data(), 0), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(writer), CUDA_SUCCESS);
}

FRESH_CASE("A stream carries its context: work can be given to it where none is current", "[stream]") {
  const auto F = conformance::module();
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUcontext popped = nullptr;
  CUdeviceptr d = 0, later = 0;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&e, 0));
  CU_CHECK(cuMemAlloc(&d, 4096));
  CUfunction f = F("inc");
  CUdeviceptr counter = 0;
  CU_CHECK(cuModuleGetGlobal(&counter, nullptr, F.mod, "counter"));
  CU_CHECK(cuMemsetD32(counter, 0, 1));
  CU_CHECK(cuCtxSynchronize());
  CU_CHECK(cuCtxPopCurrent(&popped));
  int in[4] = {1, 2, 3, 4}, out[4] = {};
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0), CUDA_SUCCESS);
  ANSWERS(cuMemcpyHtoDAsync(d, in, sizeof in, s), CUDA_SUCCESS);
  ANSWERS(cuMemsetD32Async(d, 9, 1, s), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoHAsync(out, d, sizeof out, s), CUDA_SUCCESS);
  ANSWERS(cuMemAllocAsync(&later, 4096, s), CUDA_SUCCESS);
  ANSWERS(cuMemFreeAsync(later, s), CUDA_SUCCESS);
  ANSWERS(cuEventRecord(e, s), CUDA_SUCCESS);
  ANSWERS(cuEventSynchronize(e), CUDA_SUCCESS);
  ANSWERS(cuStreamSynchronize(s), CUDA_SUCCESS);
  CHECK(out[0] == 9);
  CHECK(out[3] == 4);
  // A default stream is the current context's.
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
  ANSWERS(cuStreamSynchronize(0), CUDA_ERROR_INVALID_CONTEXT);
  CU_CHECK(cuCtxPushCurrent(popped));
  unsigned count = 0;
  CU_CHECK(cuMemcpyDtoH(&count, counter, 4));
  CHECK(count == 1);
}

FRESH_CASE("CUDASIM_DELAY: what is given to a stream begins late, and in its order", "[stream]",
           {"CUDASIM_DELAY", "20"}) {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("it is about the simulator");
  constexpr int kTasks = 20;  // that are 10 ms late on average
  CUstream s = nullptr;
  CUdeviceptr d = 0;
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuMemAlloc(&d, 4));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 1; i <= kTasks; ++i) CU_CHECK(cuMemsetD32Async(d, i, 1, s));
  CU_CHECK(cuStreamSynchronize(s));
  CHECK(std::chrono::steady_clock::now() - start > std::chrono::milliseconds(50));
  int last = 0;
  CU_CHECK(cuMemcpyDtoH(&last, d, 4));
  CHECK(last == kTasks);
}

FRESH_CASE("A stream's priority can be set, and a query without a place for its result fails late", "[stream]") {
  conformance::context();
  CUstream s = nullptr;
  CUevent e = nullptr;
  int priority = 9;
  CU_CHECK(cuStreamCreateWithPriority(&s, 0, -100));
  CUstreamAttrValue value{};
  value.priority = -2;
  ANSWERS(cuStreamSetAttribute(s, static_cast<CUstreamAttrID>(CU_LAUNCH_ATTRIBUTE_PRIORITY), &value), CUDA_SUCCESS);
  ANSWERS(cuStreamGetPriority(s, &priority), CUDA_SUCCESS);
  SHOWS("priority -2", "priority " << priority);
  ANSWERS(cuStreamEndCapture(s, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  CU_CHECK(cuEventCreate(&e, 0));
  CU_CHECK(cuEventRecord(e, nullptr));
  ANSWERS(cuEventElapsedTime(nullptr, e, e), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(cuMemGetInfo(nullptr, nullptr), CUDA_SUCCESS);
}
