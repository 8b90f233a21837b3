// Memory management: fills.
#include "common/simulator/api/guard.hpp"
#include "common/simulator/state/capture.hpp"
#include "common/simulator/state/transfer.hpp"

namespace cudasim {
namespace {

CUDA_MEMSET_NODE_PARAMS row(CUdeviceptr dst, unsigned value, u32 element, std::size_t count) {
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = dst;
  fill.value = value;
  fill.elementSize = element;
  fill.width = count;
  fill.height = 1;
  return fill;
}

CUDA_MEMSET_NODE_PARAMS rows(CUdeviceptr dst, std::size_t pitch, unsigned value, u32 element, std::size_t width,
                             std::size_t height) {
  CUDA_MEMSET_NODE_PARAMS fill = row(dst, value, element, width);
  fill.pitch = pitch;
  fill.height = height;
  return fill;
}

CUresult fill_later(const CUDA_MEMSET_NODE_PARAMS& description, CUstream handle, const char* label) {
  const auto stream = get_stream(handle);
  Fill fill = make_fill(description, label, capture_of(*stream) != nullptr);
  if (fill.operation.run) stream->enqueue(std::move(fill.operation));
  return CUDA_SUCCESS;
}

// Manual, "API synchronization behavior": returns at once unless the target is pinned or managed memory.
CUresult fill_now(const CUDA_MEMSET_NODE_PARAMS& description, CUstream handle, const char* label) {
  const auto context = current_context();
  Fill fill = make_fill(description, label);
  if (!fill.operation.run) return CUDA_SUCCESS;
  const auto stream = get_stream(handle);
  if (fill.target != Side::device) return stream->run_here(std::move(fill.operation));
  stream->enqueue(std::move(fill.operation));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace cudasim

using namespace cudasim;

// One fill in its four forms: now and later, for the legacy default stream and the thread's own.
#define FILL(now, later, Value, element)                                                           \
  CUDASIM_API CUresult now##_v2(CUdeviceptr dst, Value value, size_t count) {                      \
    return CUDASIM_CALL(dst, value, count) {                                                       \
      return fill_now(row(dst, value, element, count), CU_STREAM_LEGACY, #now "_v2");              \
    };                                                                                             \
  }                                                                                                \
  CUDASIM_API CUresult now##_v2_ptds(CUdeviceptr dst, Value value, size_t count) {                 \
    return CUDASIM_CALL(dst, value, count) {                                                       \
      return fill_now(row(dst, value, element, count), CU_STREAM_PER_THREAD, #now "_v2_ptds");     \
    };                                                                                             \
  }                                                                                                \
  CUDASIM_API CUresult later(CUdeviceptr dst, Value value, size_t count, CUstream stream) {        \
    return CUDASIM_CALL(dst, value, count, stream) {                                               \
      return fill_later(row(dst, value, element, count), stream, #later);                          \
    };                                                                                             \
  }                                                                                                \
  CUDASIM_API CUresult later##_ptsz(CUdeviceptr dst, Value value, size_t count, CUstream stream) { \
    return CUDASIM_CALL(dst, value, count, stream) {                                               \
      return fill_later(row(dst, value, element, count), per_thread(stream), #later "_ptsz");      \
    };                                                                                             \
  }
#define FILL_2D(now, later, Value, element)                                                                     \
  CUDASIM_API CUresult now##_v2(CUdeviceptr dst, size_t pitch, Value value, size_t width, size_t height) {      \
    return CUDASIM_CALL(dst, pitch, value, width, height) {                                                     \
      return fill_now(rows(dst, pitch, value, element, width, height), CU_STREAM_LEGACY, #now "_v2");           \
    };                                                                                                          \
  }                                                                                                             \
  CUDASIM_API CUresult now##_v2_ptds(CUdeviceptr dst, size_t pitch, Value value, size_t width, size_t height) { \
    return CUDASIM_CALL(dst, pitch, value, width, height) {                                                     \
      return fill_now(rows(dst, pitch, value, element, width, height), CU_STREAM_PER_THREAD, #now "_v2_ptds");  \
    };                                                                                                          \
  }                                                                                                             \
  CUDASIM_API CUresult later(CUdeviceptr dst, size_t pitch, Value value, size_t width, size_t height,           \
                             CUstream stream) {                                                                 \
    return CUDASIM_CALL(dst, pitch, value, width, height, stream) {                                             \
      return fill_later(rows(dst, pitch, value, element, width, height), stream, #later);                       \
    };                                                                                                          \
  }                                                                                                             \
  CUDASIM_API CUresult later##_ptsz(CUdeviceptr dst, size_t pitch, Value value, size_t width, size_t height,    \
                                    CUstream stream) {                                                          \
    return CUDASIM_CALL(dst, pitch, value, width, height, stream) {                                             \
      return fill_later(rows(dst, pitch, value, element, width, height), per_thread(stream), #later "_ptsz");   \
    };                                                                                                          \
  }

FILL(cuMemsetD8, cuMemsetD8Async, unsigned char, 1)
FILL(cuMemsetD16, cuMemsetD16Async, unsigned short, 2)
FILL(cuMemsetD32, cuMemsetD32Async, unsigned int, 4)
FILL_2D(cuMemsetD2D8, cuMemsetD2D8Async, unsigned char, 1)
FILL_2D(cuMemsetD2D16, cuMemsetD2D16Async, unsigned short, 2)
FILL_2D(cuMemsetD2D32, cuMemsetD2D32Async, unsigned int, 4)
