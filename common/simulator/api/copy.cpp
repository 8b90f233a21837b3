// Memory management: copies of every kind.
#include "common/simulator/state/memory/transfer.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/api/copy_fields.hpp"
#include "common/simulator/state/graphs/captured_work.hpp"
#include "common/simulator/state/memory/arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cudasim {
namespace {

// Up to this size an asynchronous copy from pageable memory is set aside by the call and done later (manual, "API
// synchronization behavior"); above it the call waits for the stream and moves the bytes through the staging buffer
// itself, as driver 580 does between 2 and 4 MiB.
constexpr u64 kStagedAtOnce = u64{2} << 20;

// Manual, "API synchronization behavior": between two places on devices the call returns at once, else when it is done.
template <class Describe>
CUresult copy_now(Describe describe) {
  const auto context = current_context();
  Copy copy = make_copy(describe(), call_in_progress().symbol);
  if (!copy.operation.run) return CUDA_SUCCESS;
  const auto stream = get_stream(default_stream());
  if (copy.touches_host()) return stream->run_here(std::move(copy.operation));
  stream->enqueue(std::move(copy.operation));
  return CUDA_SUCCESS;
}

// The same copy from a private copy of the source.
Copy staged(const CUDA_MEMCPY3D& description) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(description.WidthInBytes);
  std::memcpy(bytes->data(),
              description.srcMemoryType == CU_MEMORYTYPE_HOST ? description.srcHost
                                                              : reinterpret_cast<const void*>(description.srcDevice),
              bytes->size());
  CUDA_MEMCPY3D from_bytes = description;
  from_bytes.srcMemoryType = CU_MEMORYTYPE_HOST;
  from_bytes.srcHost = bytes->data();
  Copy copy = make_copy(from_bytes, call_in_progress().symbol);
  copy.operation.run = [bytes, run = std::move(copy.operation.run)] { return run(); };
  return copy;
}

// Copies from or to pageable memory, and from host to host, may not return before they are done: the program may use
// the memory again at once.
template <class Describe>
CUresult copy_later(Describe describe, CUstream handle) {
  const auto stream = get_stream(handle);
  const CUDA_MEMCPY3D description = describe();
  if (capture_of(*stream)) {
    if (make_copy(description, call_in_progress().symbol, true).bytes == 0) return CUDA_SUCCESS;  // no node
    if (add_if_captured(*stream, [&](const Graph&) { return CopyPart{description, nullptr}; })) return CUDA_SUCCESS;
  }
  Copy copy = make_copy(description, call_in_progress().symbol);
  const bool pageable = copy.from == Side::pageable || copy.to == Side::pageable;
  const bool between_hosts = copy.from != Side::device && copy.to != Side::device;
  if (!(pageable || between_hosts)) {
    stream->enqueue(std::move(copy.operation));
    return CUDA_SUCCESS;
  }
  const bool simple = description.Height == 1 && description.Depth == 1 && description.srcXInBytes == 0 &&
                      description.srcY == 0 && description.srcZ == 0;
  if (copy.from == Side::pageable && copy.to == Side::device && copy.bytes <= kStagedAtOnce && simple) {
    stream->enqueue(staged(description).operation);
    return CUDA_SUCCESS;
  }
  return stream->run_here(std::move(copy.operation));
}

u64 number(const void* pointer) { return reinterpret_cast<u64>(pointer); }

CUDA_MEMCPY3D linear(CUmemorytype from, u64 source, CUmemorytype to, u64 target, std::size_t bytes) {
  return Linear::copy(from, source, to, target, bytes);
}

constexpr CUmemorytype kHost = CU_MEMORYTYPE_HOST;
constexpr CUmemorytype kDevice = CU_MEMORYTYPE_DEVICE;
constexpr CUmemorytype kUnified = CU_MEMORYTYPE_UNIFIED;
constexpr CUmemorytype kArray = CU_MEMORYTYPE_ARRAY;

CUDA_MEMCPY3D from_2d(const CUDA_MEMCPY2D* copy) {
  require(copy != nullptr);
  auto wide = with_rows_of<CUDA_MEMCPY3D>(*copy);
  wide.Depth = 1;
  return wide;
}

CUDA_MEMCPY3D given(const CUDA_MEMCPY3D* copy) {
  require(copy != nullptr);
  return *copy;
}

// All devices share one address space, so the contexts of a peer copy only have to exist; driver 580 takes none, too.
CUDA_MEMCPY3D from_peer(const CUDA_MEMCPY3D_PEER* copy) {
  require(copy != nullptr);
  for (const CUcontext each : {copy->srcContext, copy->dstContext}) {
    if (each != nullptr) get_context(each);
  }
  return with_slices_of<CUDA_MEMCPY3D>(*copy);
}

// The address alone identifies the owner, and driver 580 accepts a null context.
CUDA_MEMCPY3D peer(CUcontext to, CUdeviceptr target, CUcontext from, CUdeviceptr source, std::size_t bytes) {
  if (to != nullptr) get_context(to);
  if (from != nullptr) get_context(from);
  return linear(kDevice, source, kDevice, target, bytes);
}

// `array`, from byte `offset` of its first row.
CUDA_MEMCPY3D into_array(CUmemorytype from, u64 source, CUarray array, std::size_t offset, std::size_t bytes) {
  require(array != nullptr);
  CUDA_MEMCPY3D copy = linear(from, source, kArray, 0, bytes);
  copy.dstArray = array;
  copy.dstXInBytes = offset;
  return copy;
}

CUDA_MEMCPY3D out_of_array(CUarray array, std::size_t offset, CUmemorytype to, u64 target, std::size_t bytes) {
  require(array != nullptr);
  CUDA_MEMCPY3D copy = linear(kArray, 0, to, target, bytes);
  copy.srcArray = array;
  copy.srcXInBytes = offset;
  return copy;
}

CUDA_MEMCPY3D between_arrays(CUarray to, std::size_t to_offset, CUarray from, std::size_t offset, std::size_t bytes) {
  require(to != nullptr);
  CUDA_MEMCPY3D copy = out_of_array(from, offset, kArray, 0, bytes);
  copy.dstArray = to;
  copy.dstXInBytes = to_offset;
  return copy;
}

#if CUDA_VERSION >= 12080
// The batch calls: `one(i)` describes copy i. Each is entered like an asynchronous copy of its own, one after another,
// which is one of the orders that the manual allows; *failed gets the number of the one that was refused.
template <class Describe>
CUresult copy_batch(std::size_t count, std::size_t* failed, CUstream handle, Describe one) {
  const auto stream = get_stream(handle);
  require(count != 0 && !stream->legacy);
  require(capture_of(*stream) == nullptr, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);  // which stays of use: driver 580
  for (std::size_t i = 0; i < count; ++i) {
    if (failed != nullptr) *failed = i;
    make_copy(one(i), call_in_progress().symbol);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const CUresult answer = copy_later([&] { return one(i); }, handle);
    if (answer != CUDA_SUCCESS) return answer;
  }
  if (failed != nullptr) *failed = SIZE_MAX;
  return CUDA_SUCCESS;
}

void require_attributes(const CUmemcpyAttributes* attributes, const std::size_t* starts, std::size_t count,
                        std::size_t copies) {
  require(attributes != nullptr && starts != nullptr && count != 0 && count <= copies && starts[0] == 0);
  for (std::size_t i = 0; i < count; ++i) {
    require(i == 0 || (starts[i] > starts[i - 1] && starts[i] < copies));
    require(attributes[i].srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
            attributes[i].srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
    require((attributes[i].flags & ~unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}) == 0);
  }
}

CUresult copy_pointers(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                       const CUmemcpyAttributes* attributes, const std::size_t* starts, std::size_t attribute_count,
                       std::size_t* failed, CUstream stream) {
  if (failed != nullptr) *failed = SIZE_MAX;
  require_calls_permitted();
  require(to != nullptr && from != nullptr && sizes != nullptr);
  require_attributes(attributes, starts, attribute_count, count);
  return copy_batch(count, failed, stream, [&](std::size_t i) {
    require(sizes[i] != 0);
    return linear(kUnified, from[i], kUnified, to[i], sizes[i]);
  });
}

// Bytes of an element: 1 for a pointer, whose elements are those of the array at the other end.
u64 element_of(const CUmemcpy3DOperand& operand) {
  return operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? arrays().get(operand.op.array.array)->element : 1;
}

CUDA_MEMCPY3D from_operation(const CUDA_MEMCPY3D_BATCH_OP& operation) {
  const auto known = [](const CUmemcpy3DOperand& operand) {
    return operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER || operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
  };
  require(known(operation.src) && known(operation.dst));
  require(operation.extent.width != 0 && operation.extent.height != 0 && operation.extent.depth != 0);
  require(operation.srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
          operation.srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
  const u64 from = element_of(operation.src), to = element_of(operation.dst);
  require(from == to || from == 1 || to == 1);
  const u64 element = std::max(from, to);
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = operation.extent.width * element;
  copy.Height = operation.extent.height;
  copy.Depth = operation.extent.depth;
  if (operation.src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    copy.srcMemoryType = kArray;
    copy.srcArray = operation.src.op.array.array;
    copy.srcXInBytes = operation.src.op.array.offset.x * element;
    copy.srcY = operation.src.op.array.offset.y;
    copy.srcZ = operation.src.op.array.offset.z;
  } else {
    copy.srcMemoryType = kUnified;
    copy.srcDevice = operation.src.op.ptr.ptr;
    copy.srcPitch = operation.src.op.ptr.rowLength * element;
    copy.srcHeight = operation.src.op.ptr.layerHeight;
  }
  if (operation.dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    copy.dstMemoryType = kArray;
    copy.dstArray = operation.dst.op.array.array;
    copy.dstXInBytes = operation.dst.op.array.offset.x * element;
    copy.dstY = operation.dst.op.array.offset.y;
    copy.dstZ = operation.dst.op.array.offset.z;
  } else {
    copy.dstMemoryType = kUnified;
    copy.dstDevice = operation.dst.op.ptr.ptr;
    copy.dstPitch = operation.dst.op.ptr.rowLength * element;
    copy.dstHeight = operation.dst.op.ptr.layerHeight;
  }
  return copy;
}

#if CUDA_VERSION >= 13020
CUresult copy_with_attributes(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, const CUmemcpyAttributes* attributes,
                              CUstream stream) {
  constexpr std::size_t first = 0;
  require_calls_permitted();
  require_attributes(attributes, &first, 1, 1);
  return copy_later([&] { return linear(kUnified, from, kUnified, to, bytes); }, stream);
}

CUresult copy_box(const CUDA_MEMCPY3D_BATCH_OP* operation, unsigned long long flags, CUstream stream) {
  require_calls_permitted();
  require(operation != nullptr && flags == 0);
  return copy_later([&] { return from_operation(*operation); }, stream);
}
#endif

CUresult copy_boxes(std::size_t count, const CUDA_MEMCPY3D_BATCH_OP* operations, std::size_t* failed,
                    unsigned long long flags, CUstream stream) {
  if (failed != nullptr) *failed = SIZE_MAX;
  require_calls_permitted();
  require(operations != nullptr && flags == 0);
  return copy_batch(count, failed, stream, [&](std::size_t i) { return from_operation(operations[i]); });
}
#endif

}  // namespace

// ---- A row for each function: the copy that its parameters describe -------------------------------------------------

#define COPIES(symbol, described, ...)          \
  CUresult driver::call_##symbol(__VA_ARGS__) { \
    return copy_now([&] { return described; }); \
  }
#define COPIES_ASYNC(symbol, described, ...)                     \
  CUresult driver::call_##symbol(__VA_ARGS__, CUstream stream) { \
    return copy_later([&] { return described; }, stream);        \
  }
// A graph's node copies within one context.
#define COPIES_PEER_ASYNC(symbol, described, ...)                \
  CUresult driver::call_##symbol(__VA_ARGS__, CUstream stream) { \
    require_not_captured(*get_stream(stream));                   \
    return copy_later([&] { return described; }, stream);        \
  }

COPIES(cuMemcpy, linear(kUnified, src, kUnified, dst, bytes), CUdeviceptr dst, CUdeviceptr src, size_t bytes)
COPIES(cuMemcpyHtoD_v2, linear(kHost, number(src), kDevice, dst, bytes), CUdeviceptr dst, const void* src, size_t bytes)
COPIES(cuMemcpyDtoH_v2, linear(kDevice, src, kHost, number(dst), bytes), void* dst, CUdeviceptr src, size_t bytes)
COPIES(cuMemcpyDtoD_v2, linear(kDevice, src, kDevice, dst, bytes), CUdeviceptr dst, CUdeviceptr src, size_t bytes)
COPIES(cuMemcpyPeer, peer(dst_context, dst, src_context, src, bytes), CUdeviceptr dst, CUcontext dst_context,
       CUdeviceptr src, CUcontext src_context, size_t bytes)
COPIES(cuMemcpyHtoA_v2, into_array(kHost, number(src), dst, offset, bytes), CUarray dst, size_t offset, const void* src,
       size_t bytes)
COPIES(cuMemcpyDtoA_v2, into_array(kDevice, src, dst, offset, bytes), CUarray dst, size_t offset, CUdeviceptr src,
       size_t bytes)
COPIES(cuMemcpyAtoH_v2, out_of_array(src, offset, kHost, number(dst), bytes), void* dst, CUarray src, size_t offset,
       size_t bytes)
COPIES(cuMemcpyAtoD_v2, out_of_array(src, offset, kDevice, dst, bytes), CUdeviceptr dst, CUarray src, size_t offset,
       size_t bytes)
COPIES(cuMemcpyAtoA_v2, between_arrays(dst, dst_offset, src, src_offset, bytes), CUarray dst, size_t dst_offset,
       CUarray src, size_t src_offset, size_t bytes)
COPIES(cuMemcpy2D_v2, from_2d(copy), const CUDA_MEMCPY2D* copy)
COPIES(cuMemcpy2DUnaligned_v2, from_2d(copy), const CUDA_MEMCPY2D* copy)
COPIES(cuMemcpy3D_v2, given(copy), const CUDA_MEMCPY3D* copy)
COPIES(cuMemcpy3DPeer, from_peer(copy), const CUDA_MEMCPY3D_PEER* copy)
COPIES_ASYNC(cuMemcpyAsync, linear(kUnified, src, kUnified, dst, bytes), CUdeviceptr dst, CUdeviceptr src, size_t bytes)
COPIES_ASYNC(cuMemcpyHtoDAsync_v2, linear(kHost, number(src), kDevice, dst, bytes), CUdeviceptr dst, const void* src,
             size_t bytes)
COPIES_ASYNC(cuMemcpyDtoHAsync_v2, linear(kDevice, src, kHost, number(dst), bytes), void* dst, CUdeviceptr src,
             size_t bytes)
COPIES_ASYNC(cuMemcpyDtoDAsync_v2, linear(kDevice, src, kDevice, dst, bytes), CUdeviceptr dst, CUdeviceptr src,
             size_t bytes)
COPIES_PEER_ASYNC(cuMemcpyPeerAsync, peer(dst_context, dst, src_context, src, bytes), CUdeviceptr dst,
                  CUcontext dst_context, CUdeviceptr src, CUcontext src_context, size_t bytes)
COPIES_ASYNC(cuMemcpyHtoAAsync_v2, into_array(kHost, number(src), dst, offset, bytes), CUarray dst, size_t offset,
             const void* src, size_t bytes)
COPIES_ASYNC(cuMemcpyAtoHAsync_v2, out_of_array(src, offset, kHost, number(dst), bytes), void* dst, CUarray src,
             size_t offset, size_t bytes)
COPIES_ASYNC(cuMemcpy2DAsync_v2, from_2d(copy), const CUDA_MEMCPY2D* copy)
COPIES_ASYNC(cuMemcpy3DAsync_v2, given(copy), const CUDA_MEMCPY3D* copy)
COPIES_PEER_ASYNC(cuMemcpy3DPeerAsync, from_peer(copy), const CUDA_MEMCPY3D_PEER* copy)

#if CUDA_VERSION >= 12080
CUresult driver::call_cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                                         CUmemcpyAttributes* attributes, size_t* starts, size_t attribute_count,
                                         size_t* failed, CUstream stream) {
  return copy_pointers(dsts, srcs, sizes, count, attributes, starts, attribute_count, failed, stream);
}

CUresult driver::call_cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                                            CUmemcpyAttributes* attributes, size_t* starts, size_t attribute_count,
                                            CUstream stream) {
  return copy_pointers(dsts, srcs, sizes, count, attributes, starts, attribute_count, nullptr, stream);
}

CUresult driver::call_cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed,
                                           unsigned long long flags, CUstream stream) {
  return copy_boxes(count, operations, failed, flags, stream);
}

CUresult driver::call_cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                              unsigned long long flags, CUstream stream) {
  return copy_boxes(count, operations, nullptr, flags, stream);
}
#if CUDA_VERSION >= 13020
CUresult driver::call_cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                                                  CUmemcpyAttributes* attributes, CUstream stream) {
  return copy_with_attributes(dst, src, bytes, attributes, stream);
}

CUresult driver::call_cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP* operation, unsigned long long flags,
                                                    CUstream stream) {
  return copy_box(operation, flags, stream);
}
#endif
#endif

}  // namespace cudasim
