// A supervisor, which never calls cuInit, lets a worker's kernel fault, and tries seven ways to continue the service.
#include "messages.hpp"

#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

// Weights in the memory of another process, and how many floats they are.
struct Published {
  CUipcMemHandle handle;
  std::size_t count;
};

// A process's view of the model.
struct Model {
  CUdeviceptr weights;
  std::size_t count;
  CUfunction infer, fault;
};

Model load_kernels(CUdeviceptr weights, std::size_t count) {
  CUmodule module;
  CU_CHECK(cuModuleLoad(&module, cu::image("kernels.ptx").c_str()));
  Model model{weights, count, nullptr, nullptr};
  CU_CHECK(cuModuleGetFunction(&model.infer, module, "infer"));
  CU_CHECK(cuModuleGetFunction(&model.fault, module, "fault"));
  return model;
}

// Answers a request: the sum of 32 weights. If a call fails, returns its result.
CUresult infer(Model model, float& sum) {
  CUdeviceptr on_device;
  CU_RETURN(cuMemAlloc(&on_device, sizeof sum));
  CU_RETURN(cuMemsetD32(on_device, 0, 1));
  void* arguments[] = {&model.weights, &model.count, &on_device};
  CU_RETURN(cuLaunchKernel(model.infer, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CU_RETURN(cuMemcpyDtoH(&sum, on_device, sizeof sum));
  return cuMemFree(on_device);
}

Reply reply_of(const Model& model) {
  float sum = 0;
  const CUresult result = infer(model, sum);
  return {result, sum};
}

CUresult fault(const Model& model) {
  CUdeviceptr nowhere = 0;
  void* arguments[] = {&nowhere};
  CU_RETURN(cuLaunchKernel(model.fault, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  return cuCtxSynchronize();
}

// Three attempts to continue in the process whose kernel has faulted, or in a child of it. Each returns its first
// error.
CUresult with_new_context() {
  CUcontext context;
  CU_RETURN(cuCtxCreate(&context, nullptr, 0, 0));
  return cuCtxSynchronize();
}

CUresult with_primary_reset() {
  CU_RETURN(cuDevicePrimaryCtxReset(0));
  CUcontext context;
  CU_RETURN(cuDevicePrimaryCtxRetain(&context, 0));
  CU_RETURN(cuCtxSetCurrent(context));
  return cuCtxSynchronize();
}

CUresult with_fork() {
  const pid_t child = fork();
  if (child == 0) _exit(static_cast<int>(cuInit(0)));
  int status;
  waitpid(child, &status, 0);
  return static_cast<CUresult>(WEXITSTATUS(status));
}

// Serves requests until the supervisor closes the socket. The first reply says that the process is ready.
void serve(int supervisor, const Model& model) {
  cu::send(supervisor, reply_of(model));
  while (const auto request = next_request(supervisor)) {
    switch (request->what) {
      case Request::infer: cu::send(supervisor, reply_of(model)); break;
      case Request::fault: cu::send(supervisor, Reply{fault(model)}); break;
      case Request::new_context: cu::send(supervisor, Reply{with_new_context()}); break;
      case Request::primary_reset: cu::send(supervisor, Reply{with_primary_reset()}); break;
      case Request::fork_child: cu::send(supervisor, Reply{with_fork()}); break;
      default: cu::send(supervisor, Reply{CUDA_ERROR_NOT_SUPPORTED});
    }
  }
}

// A worker that uses the weights of another process. No owners: after a fault, only the end of the process releases
// anything.
void attached_worker(int supervisor, const Published& published) {
  CU_CHECK(cuInit(0));
  CUcontext context;
  CU_CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CU_CHECK(cuCtxSetCurrent(context));
  CUdeviceptr weights;
  CU_CHECK(cuIpcOpenMemHandle(&weights, published.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  serve(supervisor, load_kernels(weights, published.count));
}

// A worker that copies the weights to the device itself.
void loading_worker(int supervisor, const float* weights, std::size_t count) {
  cu::Primary context;
  cu::Memory memory(count * sizeof(float));
  CU_CHECK(cuMemcpyHtoD(memory.address, weights, count * sizeof(float)));
  serve(supervisor, load_kernels(memory.address, count));
}

// Calls a function of this name if the driver has one: the checkpoint functions exist since driver 570.
CUresult call_for(const char* function, int process) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  const CUresult result = cuGetProcAddress(function, &found, 12080, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  if (result != CUDA_SUCCESS || found == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return reinterpret_cast<CUresult (*)(int, void*)>(found)(process, nullptr);
}

CUresult checkpoint(int process) {
  CU_RETURN(call_for("cuCheckpointProcessLock", process));
  return call_for("cuCheckpointProcessCheckpoint", process);
}

CUresult restore(int process) {
  CU_RETURN(call_for("cuCheckpointProcessRestore", process));
  return call_for("cuCheckpointProcessUnlock", process);
}

// Owns the weights and launches no kernels, so it cannot fault. Publishes them, and reports how much device memory is
// in use.
// The weights take `bytes`, or 1/128 of the device's memory. If they do not fit twice, publishes nothing.
void keeper(int supervisor, std::size_t bytes = 0) {
  cu::Primary context;
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  if (bytes == 0) bytes = total / 128;
  if (2 * bytes > free) return cu::send(supervisor, Published{});
  Published published{{}, bytes / sizeof(float)};
  cu::Memory weights(published.count * sizeof(float));
  const float one = 1;
  unsigned bits;
  std::memcpy(&bits, &one, sizeof bits);
  CU_CHECK(cuMemsetD32(weights.address, bits, published.count));
  CU_CHECK(cuCtxSynchronize());
  CU_CHECK(cuIpcGetMemHandle(&published.handle, weights.address));
  cu::send(supervisor, published);
  while (const auto request = next_request(supervisor)) {
    Reply reply;
    if (request->what == Request::memory_in_use) {
      reply.result = cuMemGetInfo(&free, &total);
      reply.number = static_cast<double>(total - free) / (1 << 20);
    }
    if (request->what == Request::checkpoint) reply.result = checkpoint(request->number);
    if (request->what == Request::restore) reply.result = restore(request->number);
    cu::send(supervisor, reply);
  }
}

// Weights in host memory, as a mapped file has them: all processes of the supervisor share the pages.
float* weights_on_host(std::size_t count) {
  void* const pages = mmap(nullptr, count * sizeof(float), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::runtime_error("no memory for the weights");
  float* const weights = static_cast<float*>(pages);
  std::fill(weights, weights + count, 1.0f);
  return weights;
}

bool right(const Reply& reply) { return reply.result == CUDA_SUCCESS && reply.number == 32; }

// The service: one process keeps the weights, and workers serve requests.
struct Service {
  cu::Process keeper{[](int socket) { ::keeper(socket); }};
  Published published = cu::receive<Published>(keeper.socket.number);
  float* host = weights_on_host(published.count);
  bool as_expected = true;
  CUresult last_fault = CUDA_SUCCESS;

  struct Row {
    std::string what;
    double milliseconds, waiting;  // waiting: MiB of device memory
  };
  std::vector<Row> rows;

  cu::Process attached() const {
    return cu::Process([this](int socket) { attached_worker(socket, published); });
  }
  cu::Process loading() const {
    return cu::Process([this](int socket) { loading_worker(socket, host, published.count); });
  }
  double memory_in_use() const { return ask(keeper, {Request::memory_in_use}).number; }

  // A worker that has served a request and whose kernel has then faulted. Stores what the faulty request returned.
  cu::Process faulty() {
    cu::Process worker = attached();
    as_expected &= right(reply_from(worker));
    last_fault = ask(worker, {Request::fault}).result;
    as_expected &= last_fault == CUDA_ERROR_ILLEGAL_ADDRESS;
    return worker;
  }

  // Lets a worker fault, and tries to continue in it.
  void attempt(const char* what, decltype(Request::what) how, CUresult expected) {
    const cu::Process worker = faulty();
    const CUresult result = ask(worker, {how}).result;
    std::printf("%-38s| %s\n", what, cu::name(result));
    as_expected &= result == expected;
  }

  // Measures how long recover() takes from the fault to the first reply, which it returns.
  template <class Recover>
  void recovery(const char* what, double waiting, Recover recover) {
    const cu::Process worker = faulty();
    const auto start = Clock::now();
    as_expected &= right(recover());
    rows.push_back({what, std::chrono::duration<double, std::milli>(Clock::now() - start).count(), waiting});
  }

  void print_recoveries() const {
    std::printf("\nrecoveries by the supervisor        first reply after    memory while waiting\n");
    double longest = 0;
    for (const Row& row : rows) longest = std::max(longest, row.milliseconds);
    for (const Row& row : rows) {
      std::printf("%-38s| %8.2f ms  %8.0f MiB  %s\n", row.what.c_str(), row.milliseconds, row.waiting,
                  cu::bar(row.milliseconds, longest, 20).c_str());
    }
  }
};

// How long a new process needs for its steps, and for a copy of the weights instead of attaching to them.
void control(std::size_t gib) {
  const cu::Process keeper([gib](int socket) { ::keeper(socket, gib << 30); });
  const Published published = cu::receive<Published>(keeper.socket.number);
  if (published.count == 0) return;
  const cu::Process worker([&](int supervisor) {
    const auto since = [](Clock::time_point start) {
      return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    };
    auto start = Clock::now();
    CU_CHECK(cuInit(0));
    std::printf("%3zu GiB | cuInit %5.1f ms", gib, since(start));
    start = Clock::now();
    cu::Primary context;
    std::printf("  context %6.1f ms", since(start));
    start = Clock::now();
    load_kernels(0, 0);
    std::printf("  module %5.1f ms", since(start));
    start = Clock::now();
    CUdeviceptr weights;
    CU_CHECK(cuIpcOpenMemHandle(&weights, published.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    std::printf("  attach %5.2f ms", since(start));
    if (gib <= 16) {
      const float* host = weights_on_host(published.count);
      cu::Memory memory(published.count * sizeof(float));
      start = Clock::now();
      CU_CHECK(cuMemcpyHtoD(memory.address, host, published.count * sizeof(float)));
      std::printf("  copy %6.0f ms", since(start));
    }
    std::printf("\n");
    std::fflush(stdout);
    cu::send(supervisor, Reply{});
  });
  reply_from(worker);
}

int main(int count, char** words) try {
  if (count > 1 && words[1] == std::string("--controls")) {
    for (const std::size_t gib : {1, 4, 16, 64}) control(gib);
    return 0;
  }
  Service service;
  service.faulty();
  std::printf("%-38s| %s\n", "a kernel of a worker faults", cu::name(service.last_fault));
  service.attempt("then it creates a new context", Request::new_context, CUDA_ERROR_ILLEGAL_ADDRESS);
  service.attempt("it resets the primary context", Request::primary_reset, CUDA_ERROR_ILLEGAL_ADDRESS);
  service.attempt("it forks a child, which calls cuInit", Request::fork_child, CUDA_ERROR_NOT_INITIALIZED);

  std::optional<cu::Process> fresh[2];
  service.recovery("a new process loads the weights", 0,
                   [&] { return reply_from(fresh[0].emplace(service.loading())); });
  service.recovery("a new process attaches to them", 0,
                   [&] { return reply_from(fresh[1].emplace(service.attached())); });

  double before = service.memory_in_use();
  const cu::Process standby = service.attached();
  reply_from(standby);
  service.recovery("a standby, attached to them", service.memory_in_use() - before,
                   [&] { return ask(standby, {Request::infer}); });

  before = service.memory_in_use();
  const cu::Process stored = service.loading();
  reply_from(stored);
  const CUresult offered = ask(service.keeper, {Request::checkpoint, stored.id()}).result;
  if (offered == CUDA_SUCCESS) {
    service.recovery("a checkpointed process is restored", service.memory_in_use() - before, [&] {
      const Reply restored = ask(service.keeper, {Request::restore, stored.id()});
      return restored.result == CUDA_SUCCESS ? ask(stored, {Request::infer}) : restored;
    });
  }
  service.print_recoveries();
  if (offered != CUDA_SUCCESS) std::printf("This driver does not checkpoint processes: %s\n", cu::name(offered));
  return service.as_expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
