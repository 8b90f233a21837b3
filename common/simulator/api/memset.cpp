// Memory management: fills.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/graphs/captured_work.hpp"
#include "common/simulator/state/memory/transfer.hpp"

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

CUresult fill_later(const CUDA_MEMSET_NODE_PARAMS& description, CUstream handle) {
  const auto stream = get_stream(handle);
  const bool nothing = description.width == 0 || description.height == 0;
  const auto describe = [&](const Graph&) { return FillPart{description, nullptr}; };  // what is there: at its launch
  if (!nothing && add_if_captured(*stream, describe)) return CUDA_SUCCESS;
  Fill fill = make_fill(description, call_in_progress().symbol);
  if (fill.operation.run) stream->enqueue(std::move(fill.operation));
  return CUDA_SUCCESS;
}

// Manual, "API synchronization behavior": returns at once unless the target is pinned or managed memory.
CUresult fill_now(const CUDA_MEMSET_NODE_PARAMS& description) {
  const auto context = current_context();
  Fill fill = make_fill(description, call_in_progress().symbol);
  if (!fill.operation.run) return CUDA_SUCCESS;
  const auto stream = get_stream(default_stream());
  if (fill.target != Side::device) return stream->run_here(std::move(fill.operation));
  stream->enqueue(std::move(fill.operation));
  return CUDA_SUCCESS;
}

}  // namespace

// ---- A row for each function: the fill that its parameters describe -------------------------------------------------

#define FILLS(symbol, described, ...) \
  CUresult driver::call_##symbol(__VA_ARGS__) { return fill_now(described); }
#define FILLS_ASYNC(symbol, described, ...) \
  CUresult driver::call_##symbol(__VA_ARGS__, CUstream stream) { return fill_later(described, stream); }

FILLS(cuMemsetD8_v2, row(dst, value, 1, count), CUdeviceptr dst, unsigned char value, size_t count)
FILLS_ASYNC(cuMemsetD8Async, row(dst, value, 1, count), CUdeviceptr dst, unsigned char value, size_t count)
FILLS(cuMemsetD16_v2, row(dst, value, 2, count), CUdeviceptr dst, unsigned short value, size_t count)
FILLS_ASYNC(cuMemsetD16Async, row(dst, value, 2, count), CUdeviceptr dst, unsigned short value, size_t count)
FILLS(cuMemsetD32_v2, row(dst, value, 4, count), CUdeviceptr dst, unsigned int value, size_t count)
FILLS_ASYNC(cuMemsetD32Async, row(dst, value, 4, count), CUdeviceptr dst, unsigned int value, size_t count)
FILLS(cuMemsetD2D8_v2, rows(dst, pitch, value, 1, width, height), CUdeviceptr dst, size_t pitch, unsigned char value,
      size_t width, size_t height)
FILLS_ASYNC(cuMemsetD2D8Async, rows(dst, pitch, value, 1, width, height), CUdeviceptr dst, size_t pitch,
            unsigned char value, size_t width, size_t height)
FILLS(cuMemsetD2D16_v2, rows(dst, pitch, value, 2, width, height), CUdeviceptr dst, size_t pitch, unsigned short value,
      size_t width, size_t height)
FILLS_ASYNC(cuMemsetD2D16Async, rows(dst, pitch, value, 2, width, height), CUdeviceptr dst, size_t pitch,
            unsigned short value, size_t width, size_t height)
FILLS(cuMemsetD2D32_v2, rows(dst, pitch, value, 4, width, height), CUdeviceptr dst, size_t pitch, unsigned int value,
      size_t width, size_t height)
FILLS_ASYNC(cuMemsetD2D32Async, rows(dst, pitch, value, 4, width, height), CUdeviceptr dst, size_t pitch,
            unsigned int value, size_t width, size_t height)

}  // namespace cudasim
