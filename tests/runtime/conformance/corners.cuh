// Calls at odd times and with odd pointers: in a capture, before main, after it, after a reset; memory of a kernel's
// own heap; copies of boxes whose sides differ.
#pragma once
#include "common.cuh"
#include "scenario.hpp"

#include <cstdint>

// What a scenario wants to be done when the objects of the program are destroyed.
static struct AtEnd {
  void (*early)() = nullptr;  // in the destructor of an object that is made before main
  ~AtEnd() {
    if (early != nullptr) early();
  }
} at_end;

static int* left_over = nullptr;
static cudaStream_t stream_left_over = nullptr;
static cudaEvent_t event_left_over = nullptr;
static void* host_left_over = nullptr;

SCENARIO(memory_freed_after_main) {
  left_over = on_device<int>(4);
  at_end.early = [] {
    SAY(cudaFree(left_over));
    SAY(cudaFree(nullptr));
    SAY(cudaGetLastError());
    SAY(cudaPeekAtLastError());
  };
}

SCENARIO(calls_after_main) {
  left_over = on_device<int>(4);
  NEED(cudaStreamCreate(&stream_left_over));
  NEED(cudaEventCreate(&event_left_over));
  NEED(cudaMallocHost(&host_left_over, 64));
  at_end.early = [] {
    void* p = nullptr;
    int number = 0, value = 7;
    std::size_t free = 0, total = 0;
    float ms = 0;
    cudaDeviceProp properties{};
    cudaFuncAttributes attributes{};
    cudaPointerAttributes pointer{};
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    cudaGraph_t graph = nullptr;
    SAY(cudaGetLastError());
    SAY(cudaMalloc(&p, 16));
    SAY(cudaGetLastError());
    SAY(cudaMallocHost(&p, 16));
    SAY(cudaMallocManaged(&p, 16));
    SAY(cudaMallocAsync(&p, 16, nullptr));
    SAY(cudaFreeAsync(left_over, nullptr));
    SAY(cudaFreeHost(host_left_over));
    SAY(cudaMemcpy(left_over, &value, 4, cudaMemcpyHostToDevice));
    SAY(cudaMemcpyAsync(left_over, &value, 4, cudaMemcpyHostToDevice, stream_left_over));
    SAY(cudaMemset(left_over, 0, 4));
    SAY(cudaMemGetInfo(&free, &total));
    SAY(cudaDeviceSynchronize());
    SAY(cudaStreamCreate(&stream));
    SAY(cudaStreamSynchronize(stream_left_over));
    SAY(cudaStreamQuery(stream_left_over));
    SAY(cudaStreamDestroy(stream_left_over));
    SAY(cudaEventCreate(&event));
    SAY(cudaEventRecord(event_left_over, nullptr));
    SAY(cudaEventSynchronize(event_left_over));
    SAY(cudaEventElapsedTime(&ms, event_left_over, event_left_over));
    SAY(cudaEventDestroy(event_left_over));
    SAY(cudaGraphCreate(&graph, 0));
    SAY(cudaGetDevice(&number));
    SAY(cudaGetDeviceCount(&number));
    SAY(cudaSetDevice(0));
    SAY(cudaGetDeviceProperties(&properties, 0));
    SAY(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0));
    SAY(cudaDriverGetVersion(&number));
    SAY(cudaRuntimeGetVersion(&number));
    SAY(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(add_one)));
    SAY(cudaPointerGetAttributes(&pointer, left_over));
    SAY(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
    std::printf("%s\n", cudaGetErrorName(cudaErrorInvalidValue));
    std::printf("%s\n", cudaGetErrorString(cudaErrorCudartUnloading));
    add_one<<<1, 1>>>(left_over);
    SAY(cudaGetLastError());
    SAY(cudaDeviceReset());
    SAY(cudaFree(nullptr));
  };
}

static void at_exit_of_main() { SAY(cudaFree(left_over)); }

SCENARIO(calls_at_exit) {
  left_over = on_device<int>(4);
  std::atexit(at_exit_of_main);
}

SCENARIO(first_call_after_main) {
  at_end.early = [] {
    void* p = nullptr;
    SAY(cudaMalloc(&p, 16));
    SAY(cudaGetLastError());
  };
}

static __device__ int asked_early[3] = {1, 2, 3};
static struct BeforeMain {
  void* address = nullptr;
  std::size_t bytes = 0;
  cudaError_t found, sized, counted, allocated, described;
  int devices = 0;
  BeforeMain() {
    if (std::getenv("CONFORMANCE_BEFORE_MAIN") == nullptr) return;
    found = cudaGetSymbolAddress(&address, asked_early);
    sized = cudaGetSymbolSize(&bytes, asked_early);
    counted = cudaGetDeviceCount(&devices);
    void* p = nullptr;
    allocated = cudaMalloc(&p, 16);
    cudaFuncAttributes attributes;
    described = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(add_one));
    add_one<<<1, 1>>>(static_cast<int*>(p));
    launched = cudaGetLastError();
  }
  cudaError_t launched;
} before_main;

// Runs before the kernels of this file are announced to the runtime.
static struct {
  cudaError_t found, launched;
} before_announcement;
__attribute__((constructor)) static void call_before_announcement() {
  if (std::getenv("CONFORMANCE_BEFORE_MAIN") == nullptr) return;
  void* address = nullptr;
  before_announcement.found = cudaGetSymbolAddress(&address, asked_early);
  add_one<<<1, 1>>>(static_cast<int*>(nullptr));
  before_announcement.launched = cudaGetLastError();
}

SCENARIO(calls_before_announcement) {
  if (std::getenv("CONFORMANCE_BEFORE_MAIN") == nullptr) {
    setenv("CONFORMANCE_BEFORE_MAIN", "1", 1);
    execl("/proc/self/exe", "conformance", "calls_before_announcement", nullptr);
  }
  SAY(before_announcement.found);
  SAY(before_announcement.launched);
  int* p = on_device<int>(1);
  add_one<<<1, 1>>>(p);
  SAY(cudaGetLastError());
  SHOW(first(p));
}

SCENARIO(calls_before_main) {
  if (std::getenv("CONFORMANCE_BEFORE_MAIN") == nullptr) {  // again, in a process that makes them
    setenv("CONFORMANCE_BEFORE_MAIN", "1", 1);
    execl("/proc/self/exe", "conformance", "calls_before_main", nullptr);
  }
  SAY(before_main.found);
  SHOW(before_main.address != nullptr);
  SAY(before_main.sized);
  SHOW(before_main.bytes);
  SAY(before_main.counted);
  SAY(before_main.allocated);
  SAY(before_main.described);
  SAY(before_main.launched);
  void* p = nullptr;
  SAY(cudaGetSymbolAddress(&p, asked_early));
  SHOW(p == before_main.address);
  SAY(cudaDeviceSynchronize());
}

static __global__ void allocate(void** to) {
  *to = malloc(256);
  *static_cast<int*>(*to) = 42;
}
static __global__ void release(void** from) { free(*from); }

SCENARIO(pointers_of_a_kernels_heap) {
  void** place = on_device<void*>(1);
  int* d = on_device<int>(64);
  int host[64] = {};
  allocate<<<1, 1>>>(place);
  SAY(cudaDeviceSynchronize());
  void* const p = first(place);
  SHOW(p != nullptr);
  SAY(cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpy(host, p, 4, cudaMemcpyDefault));
  SAY(cudaMemcpy(p, host, 4, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy(d, p, 4, cudaMemcpyDeviceToDevice));
  SAY(cudaMemcpy(p, d, 4, cudaMemcpyDeviceToDevice));
  SAY(cudaMemcpyAsync(host, p, 4, cudaMemcpyDeviceToHost, nullptr));
  SAY(cudaMemcpyAsync(d, p, 4, cudaMemcpyDeviceToDevice, nullptr));
  SAY(cudaMemcpy2D(host, 16, p, 16, 16, 2, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpyToSymbol(asked_early, p, 4, 0, cudaMemcpyDeviceToDevice));
  SAY(cudaMemcpyFromSymbol(p, asked_early, 4, 0, cudaMemcpyDeviceToDevice));
  SAY(cudaMemset(p, 0, 4));
  SAY(cudaMemsetAsync(p, 0, 4, nullptr));
  SAY(cudaMemset2D(p, 16, 0, 16, 2));
  SAY(cudaFree(p));
  SAY(cudaFreeAsync(p, nullptr));
  SAY(cudaMemPrefetchAsync(p, 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, nullptr));
  cudaPointerAttributes attributes{};
  SAY(cudaPointerGetAttributes(&attributes, p));
  SHOW(attributes.type);
  cudaIpcMemHandle_t handle;
  SAY(cudaIpcGetMemHandle(&handle, p));
  unsigned flags = 0;
  SAY(cudaHostGetFlags(&flags, p));
  SAY(cudaGetLastError());
  const auto address = reinterpret_cast<CUdeviceptr>(p);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  int type = 9;
  const auto say = [](const char* call, CUresult result) { std::printf("%s: %d\n", call, result); };
  say("cuMemGetAddressRange", cuMemGetAddressRange(&base, &size, address));
  say("cuPointerGetAttribute", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  say("cuMemcpyDtoH", cuMemcpyDtoH(host, address, 4));
  say("cuMemcpyHtoD", cuMemcpyHtoD(address, host, 4));
  say("cuMemcpyDtoD", cuMemcpyDtoD(reinterpret_cast<CUdeviceptr>(d), address, 4));
  say("cuMemcpy", cuMemcpy(reinterpret_cast<CUdeviceptr>(d), address, 4));
  say("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync(host, address, 4, nullptr));
  say("cuMemsetD8", cuMemsetD8(address, 0, 4));
  say("cuMemsetD32Async", cuMemsetD32Async(address, 0, 1, nullptr));
  say("cuMemFree", cuMemFree(address));
  say("cuStreamWriteValue32", cuStreamWriteValue32(nullptr, address, 7, 0));
  say("cuCtxSynchronize", cuCtxSynchronize());
  release<<<1, 1>>>(place);
  SAY(cudaDeviceSynchronize());
  SAY(cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost));
}

// What a runtime call does to a capture.
template <class Call>
static void in_a_capture(const char* name, cudaStream_t stream, Call call) {
  cudaGraph_t graph = nullptr;
  std::size_t nodes = 0;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  const cudaError_t result = call();
  NEED(cudaStreamIsCapturing(stream, &status));
  const cudaError_t end = cudaStreamEndCapture(stream, &graph);
  if (graph != nullptr) NEED(cudaGraphGetNodes(graph, nullptr, &nodes));
  std::printf("%s: %s, status %d, %s, %zu nodes\n", name, cudaGetErrorName(result), status, cudaGetErrorName(end),
              nodes);
  cudaGetLastError();
}

SCENARIO(batches_in_a_capture) {
  cudaStream_t stream;
  NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* d = on_device<int>(1024);
  void *managed = nullptr, *pinned = nullptr, *out = nullptr;
  NEED(cudaMallocManaged(&managed, 4096));
  NEED(cudaMallocHost(&pinned, 4096));
#define IN(call) in_a_capture(#call, stream, [&] { return call; })
  IN(cudaMemcpyAsync(d, d + 16, 16, cudaMemcpyDefault, stream));
  IN(cudaMemcpyAsync(d, d + 16, 16, static_cast<cudaMemcpyKind>(17), stream));
  IN(cudaMemcpy(d, d + 16, 16, cudaMemcpyDefault));
  IN(cudaMemset(d, 0, 16));
  IN(cudaMemsetAsync(d, 0, 16, stream));
  IN(cudaMemcpyToSymbolAsync(asked_early, d, 4, 0, cudaMemcpyDeviceToDevice, stream));
  IN(cudaMalloc(&out, 16));
  IN(cudaMallocAsync(&out, 16, stream));
  IN(cudaFreeAsync(d, stream));
  IN(cudaDeviceSynchronize());
  IN(cudaStreamSynchronize(stream));
  IN(cudaStreamQuery(stream));
  IN(cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0));
  IN(cudaLaunchHostFunc(stream, [](void*) {}, nullptr));
  IN(cudaStreamAttachMemAsync(stream, static_cast<int*>(managed), 0, cudaMemAttachGlobal));
  const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
  cudaMemLocation places[] = {here};
  void* to[] = {d, d + 16};
  const void* from[] = {d + 32, d + 48};
  const std::size_t sizes[] = {16, 16};
  std::size_t starts[] = {0}, lengths[] = {4096};
  void* ranges[] = {managed};
  cudaMemcpyAttributes how{};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  cudaMemcpy3DBatchOp box{};
  box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
  box.src.op.ptr.ptr = d;
  box.dst.op.ptr.ptr = d + 512;
  box.extent = make_cudaExtent(16, 4, 2);
  box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  IN(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, starts, 1, stream));
  IN(cudaMemcpyBatchAsync(to, from, sizes, 0, &how, starts, 1, stream));
  IN(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
  IN(cudaMemPrefetchAsync(managed, 4096, here, 0, stream));
  IN(cudaMemPrefetchBatchAsync(ranges, lengths, 1, places, starts, 1, 0, stream));
  IN(cudaMemDiscardBatchAsync(ranges, lengths, 1, 0, stream));
  IN(cudaMemDiscardAndPrefetchBatchAsync(ranges, lengths, 1, places, starts, 1, 0, stream));
#undef IN
}

SCENARIO(last_error_outlives_a_reset) {
  int* d = on_device<int>(1);
  SAY(cudaMemcpy(d, nullptr, 4, static_cast<cudaMemcpyKind>(17)));
  SAY(cudaDeviceReset());
  SAY(cudaPeekAtLastError());
  SAY(cudaGetLastError());
  SAY(cudaGetLastError());
  add_one<<<1, 5000>>>(d);
  SAY(cudaDeviceReset());
  SAY(cudaGetLastError());
  SAY(cudaSetDevice(99));
  SAY(cudaDeviceReset());
  SAY(cudaDeviceReset());
  SAY(cudaGetLastError());
  SAY(cudaSetDevice(99));
  SAY(cudaSetDevice(0));
  SAY(cudaMalloc(&d, 4));
  SAY(cudaPeekAtLastError());
  SAY(cudaDeviceReset());
  SAY(cudaMalloc(&d, 4));
  SAY(cudaGetLastError());
}

static __global__ void write_to(int* p) { *p = 1; }

SCENARIO(last_error_of_a_fault_and_a_reset) {
  write_to<<<1, 1>>>(nullptr);
  SAY(cudaDeviceSynchronize());
  SAY(cudaPeekAtLastError());
  SAY(cudaGetLastError());
  SAY(cudaGetLastError());
  SAY(cudaDeviceReset());
  SAY(cudaPeekAtLastError());
  SAY(cudaGetLastError());
  void* p = nullptr;
  SAY(cudaMalloc(&p, 16));
  SAY(cudaGetLastError());
}

// ---- Boxes ---------------------------------------------------------------------------------------------------------

static void clear(char* bytes, std::size_t count) { std::memset(bytes, 0, count); }

// A number that depends on what is where.
static long long print_of(const char* bytes, std::size_t count) {
  long long sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += static_cast<long long>(static_cast<unsigned char>(bytes[i])) * static_cast<long long>(i + 1);
  return sum;
}

// A table: one row after the other.
SCENARIO(boxes_between_arrays_and_pitched_memory) {
  static char h[4096], back[4096];
  for (int i = 0; i < 4096; ++i) h[i] = static_cast<char>(i * 7 + 3);
  cudaArray_t floats = nullptr, bytes = nullptr, quads = nullptr;
  const cudaChannelFormatDesc of_float = cudaCreateChannelDesc<float>(),
                              of_byte = cudaCreateChannelDesc<unsigned char>(),
                              of_quad = cudaCreateChannelDesc<float4>();
  const cudaExtent all = make_cudaExtent(8, 6, 4);
  NEED(cudaMalloc3DArray(&floats, &of_float, all));
  NEED(cudaMalloc3DArray(&bytes, &of_byte, all));
  NEED(cudaMalloc3DArray(&quads, &of_quad, all));
  cudaPitchedPtr d{};
  NEED(cudaMalloc3D(&d, make_cudaExtent(128, 6, 4)));
  struct {
    const char* name;
    cudaArray_t array;
    std::size_t element;
  } const arrays[] = {{"floats", floats, 4}, {"bytes", bytes, 1}, {"quads", quads, 16}};
  for (const auto& [name, array, element] : arrays) {
    for (const cudaPos& in_array : {make_cudaPos(0, 0, 0), make_cudaPos(2, 1, 1)}) {
      for (const cudaPos& in_memory : {make_cudaPos(0, 0, 0), make_cudaPos(1, 0, 0), make_cudaPos(4, 0, 0),
                                       make_cudaPos(0, 2, 0), make_cudaPos(0, 0, 1), make_cudaPos(4, 1, 1)}) {
        std::printf("%s, array at %zu %zu %zu, memory at %zu %zu %zu\n", name, in_array.x, in_array.y, in_array.z,
                    in_memory.x, in_memory.y, in_memory.z);
        cudaMemcpy3DParms p{};
        p.srcPtr = make_cudaPitchedPtr(h, 128 + 16, 128, 6);
        p.srcPos = in_memory;
        p.dstArray = array;
        p.dstPos = in_array;
        p.extent = make_cudaExtent(3, 2, 2);
        p.kind = cudaMemcpyHostToDevice;
        SAY(cudaMemcpy3D(&p));
        cudaMemcpy3DParms q{};
        q.srcArray = array;
        q.srcPos = in_array;
        q.dstPtr = make_cudaPitchedPtr(back, 128 + 16, 128, 6);
        q.dstPos = in_memory;
        q.extent = make_cudaExtent(3, 2, 2);
        q.kind = cudaMemcpyDeviceToHost;
        clear(back, sizeof back);
        SAY(cudaMemcpy3D(&q));
        SHOW(print_of(back, sizeof back));
        q.dstPtr = d;
        q.kind = cudaMemcpyDeviceToDevice;
        NEED(cudaMemset3D(d, 0, make_cudaExtent(128, 6, 4)));
        SAY(cudaMemcpy3DAsync(&q, nullptr));
        cudaMemcpy3DParms r{};
        r.srcPtr = d;
        r.dstPtr = make_cudaPitchedPtr(back, 128, 128, 6);
        r.extent = make_cudaExtent(128, 6, 4);
        r.kind = cudaMemcpyDeviceToHost;
        clear(back, sizeof back);
        NEED(cudaMemcpy3D(&r));
        SHOW(print_of(back, sizeof back));
        p.srcPtr = d;
        p.kind = cudaMemcpyDeviceToDevice;
        SAY(cudaMemcpy3D(&p));
        clear(back, sizeof back);
        q.dstPtr = make_cudaPitchedPtr(back, 128 + 16, 128, 6);
        q.dstPos = make_cudaPos(0, 0, 0);
        q.kind = cudaMemcpyDeviceToHost;
        SAY(cudaMemcpy3D(&q));
        SHOW(print_of(back, sizeof back));
      }
    }
  }
  std::printf("between arrays\n");
  cudaMemcpy3DParms p{};
  p.srcArray = floats;
  p.dstArray = floats;
  p.srcPos = make_cudaPos(0, 0, 0);
  p.dstPos = make_cudaPos(4, 3, 2);
  p.extent = make_cudaExtent(3, 2, 2);
  p.kind = cudaMemcpyDeviceToDevice;
  SAY(cudaMemcpy3D(&p));
  p.dstArray = quads;
  SAY(cudaMemcpy3D(&p));
  p.dstArray = bytes;
  SAY(cudaMemcpy3D(&p));
  p.dstArray = floats;
  p.dstPos = make_cudaPos(6, 0, 0);
  SAY(cudaMemcpy3D(&p));
}

SCENARIO(boxes_whose_pitch_does_not_suit) {
  static char h[8192];
  cudaPitchedPtr d{};
  NEED(cudaMalloc3D(&d, make_cudaExtent(64, 6, 4)));
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc of_float = cudaCreateChannelDesc<float>();
  NEED(cudaMalloc3DArray(&array, &of_float, make_cudaExtent(8, 6, 4)));
  const auto copy = [&](std::size_t pitch, std::size_t rows, const cudaPos& at, const cudaExtent& extent,
                        bool into_array) {
    cudaMemcpy3DParms p{};
    p.srcPtr = make_cudaPitchedPtr(h, pitch, pitch, rows);
    p.srcPos = at;
    into_array ? void(p.dstArray = array) : void(p.dstPtr = d);
    p.extent = extent;
    p.kind = cudaMemcpyHostToDevice;
    const cudaError_t down = cudaMemcpy3D(&p), later = cudaMemcpy3DAsync(&p, nullptr);
    cudaMemcpy3DParms q{};
    into_array ? void(q.srcArray = array) : void(q.srcPtr = d);
    q.dstPtr = p.srcPtr;
    q.dstPos = at;
    q.extent = extent;
    q.kind = cudaMemcpyDeviceToHost;
    const cudaError_t up = cudaMemcpy3D(&q);
    std::printf("pitch %zu, rows %zu, at %zu %zu %zu, %zu x %zu x %zu%s: %s %s %s\n", pitch, rows, at.x, at.y, at.z,
                extent.width, extent.height, extent.depth, into_array ? ", array" : "", cudaGetErrorName(down),
                cudaGetErrorName(later), cudaGetErrorName(up));
  };
  for (const bool into_array : {false, true}) {
    for (const std::size_t pitch : {0, 1, 8, 15, 16, 17, 31, 32, 33, 64}) {
      copy(pitch, 6, make_cudaPos(0, 0, 0), make_cudaExtent(into_array ? 4 : 16, 2, 2), into_array);
      copy(pitch, 6, make_cudaPos(0, 0, 0), make_cudaExtent(into_array ? 4 : 16, 1, 1), into_array);
      copy(pitch, 6, make_cudaPos(into_array ? 4 : 16, 0, 0), make_cudaExtent(into_array ? 4 : 16, 2, 2), into_array);
    }
    for (const std::size_t rows : {0, 1, 2, 3, 6}) {
      copy(64, rows, make_cudaPos(0, 0, 0), make_cudaExtent(4, 2, 2), into_array);
      copy(64, rows, make_cudaPos(0, 1, 0), make_cudaExtent(4, 2, 2), into_array);
      copy(64, rows, make_cudaPos(0, 0, 0), make_cudaExtent(4, 2, 1), into_array);
    }
    copy(64, 6, make_cudaPos(0, 0, 0), make_cudaExtent(0, 0, 0), into_array);
    copy(64, 6, make_cudaPos(0, 0, 0), make_cudaExtent(4, 0, 1), into_array);
    copy(64, 6, make_cudaPos(0, 0, 0), make_cudaExtent(65, 1, 1), into_array);
    copy(64, 6, make_cudaPos(0, 0, 0), make_cudaExtent(4, 7, 1), into_array);
    copy(64, 6, make_cudaPos(0, 0, 0), make_cudaExtent(4, 1, 5), into_array);
    copy(8, 6, make_cudaPos(0, 0, 0), make_cudaExtent(0, 2, 2), into_array);
  }
  cudaMemcpy3DParms none{};
  none.kind = cudaMemcpyHostToDevice;
  SAY(cudaMemcpy3D(&none));
  none.srcArray = array;
  SAY(cudaMemcpy3D(&none));
  none.srcPtr = d;
  SAY(cudaMemcpy3D(&none));
  none.extent = make_cudaExtent(1, 1, 1);
  SAY(cudaMemcpy3D(&none));
}
