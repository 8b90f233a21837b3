// Tensor maps, for the bulk copies of tiles. CUDA Driver API manual, "Tensor Map Object Management".
//
// Interleaved layouts are not simulated: an H200 counts in them what no manual says. Nor is im2col::w, which compute
// capability 9.0 does not have. Both kinds of maps can be encoded, as with a driver, but a copy that uses one stops
// with a report.
#include "common/simulator/memory/tensor_map.hpp"

#include "common/simulator/api/call.hpp"

#include <cstring>

#if CUDA_VERSION >= 12000

namespace cudasim {
namespace {

constexpr u64 kMostStride = u64{1} << 40, kMostSize = u64{1} << 32;
constexpr u32 kMostBox = 256, kMostStep = 8, kMostPixels = 1024;

void describe_type(TensorMap& map, CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: map.type = Type::u8; return;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16: map.type = Type::u16; return;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32: map.type = Type::u32; return;
    case CU_TENSOR_MAP_DATA_TYPE_INT32: map.type = Type::s32; return;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64: map.type = Type::u64; return;
    case CU_TENSOR_MAP_DATA_TYPE_INT64: map.type = Type::s64; return;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16: map.type = Type::f16; return;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: map.type = Type::bf16; return;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32: map.type = Type::f32; return;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ: map.type = Type::f32; return;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: map.type = Type::f64; return;
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ: map.type = Type::f32, map.round = true; return;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

Swizzle swizzle_of(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE: return Swizzle::none;
    case CU_TENSOR_MAP_SWIZZLE_32B: return Swizzle::bytes_32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return Swizzle::bytes_64;
    case CU_TENSOR_MAP_SWIZZLE_128B: return Swizzle::bytes_128;
    default: fail(CUDA_ERROR_INVALID_VALUE);  // the others are sm_100's
  }
}

void require_place(const CUtensorMap* map) {
  current_context();
  require(map != nullptr && reinterpret_cast<u64>(map) % alignof(TensorMap) == 0);
}

// The part that tiles and im2col have in common: the tensor.
TensorMap tensor(CUtensorMapDataType type, u32 rank, u32 least_rank, void* address, const cuuint64_t* size,
                 const cuuint64_t* stride, const cuuint32_t* step) {
  require(rank >= least_rank && rank <= TensorMap::kMostDimensions);
  require(size != nullptr && step != nullptr && (rank == 1 || stride != nullptr));
  TensorMap map;
  describe_type(map, type);
  map.dimensions = u8(rank);
  map.address = reinterpret_cast<u64>(address);
  require(map.address != 0 && map.address % 16 == 0);
  for (u32 k = 0; k < rank; ++k) {
    require(size[k] != 0 && size[k] <= kMostSize);
    require(step[k] != 0 && step[k] <= kMostStep);
    map.size[k] = u32(size[k] - 1);
    map.step[k] = u8(step[k]);
    if (k == 0) continue;
    map.stride[k - 1] = stride[k - 1];
    require(map.stride[k - 1] % 16 == 0 && map.stride[k - 1] < kMostStride);
  }
  return map;
}
// NC/8HWC8 and NC/16HWC16: a pixel's 16 or 32 bytes lie together, and are what is counted.
void interleaved(TensorMap& map, CUtensorMapInterleave interleave) {
  if (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE) return;
  require(interleave == CU_TENSOR_MAP_INTERLEAVE_16B || interleave == CU_TENSOR_MAP_INTERLEAVE_32B);
  require(map.dimensions >= 3);
  map.interleave = interleave == CU_TENSOR_MAP_INTERLEAVE_16B ? 16 : 32;
  require(map.address % map.interleave == 0);
  for (u32 k = 0; k + 1 < map.dimensions; ++k) require(map.stride[k] % map.interleave == 0);
}
// How the box is stored in shared memory.
void describe_copy(TensorMap& map, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                   CUtensorMapFloatOOBfill fill) {
  require(static_cast<unsigned>(promotion) <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B);  // there is no cache to promote in
  require(static_cast<unsigned>(fill) <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  map.swizzle = swizzle_of(swizzle);
  const u32 row = map.box[0] * map.element();
  require(row % 16 == 0);
  require(map.swizzle == Swizzle::none || map.interleave != 0 || row <= 16u << u32(map.swizzle));
  require(fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || is_float(map.type));
  map.fill_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}

void describe_pixels(TensorMap& map, u32 channels, u32 pixels) {
  require(channels != 0 && channels <= kMostBox);
  require(pixels != 0 && pixels <= kMostPixels);
  map.im2col = true;
  map.step[0] = 1;  // channels have none
  map.box[0] = u16(channels);
  map.pixels = u16(pixels);
}

}  // namespace

CUresult driver::call_cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                             cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
                                             const cuuint64_t* globalStrides, const cuuint32_t* boxDim,
                                             const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                             CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                             CUtensorMapFloatOOBfill oobFill) {
  require_place(tensorMap);
  require(boxDim != nullptr);
  TensorMap map = tensor(tensorDataType, tensorRank, 1, globalAddress, globalDim, globalStrides, elementStrides);
  interleaved(map, interleave);
  for (u32 k = 0; k < tensorRank; ++k) {
    require(boxDim[k] != 0 && boxDim[k] <= kMostBox);
    map.box[k] = u16(boxDim[k]);
  }
  describe_copy(map, swizzle, l2Promotion, oobFill);
  std::memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuTensorMapEncodeIm2col(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                              cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
                                              const cuuint64_t* globalStrides, const int* pixelBoxLowerCorner,
                                              const int* pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
                                              cuuint32_t pixelsPerColumn, const cuuint32_t* elementStrides,
                                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                              CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
  require_place(tensorMap);
  require(pixelBoxLowerCorner != nullptr && pixelBoxUpperCorner != nullptr);
  TensorMap map = tensor(tensorDataType, tensorRank, 3, globalAddress, globalDim, globalStrides, elementStrides);
  interleaved(map, interleave);
  describe_pixels(map, channelsPerPixel, pixelsPerColumn);
  // One corner's offsets have 16 bits together, W first.
  const int bits = tensorRank == 3 ? 16 : tensorRank == 4 ? 8 : 5, most = (1 << (bits - 1)) - 1;
  for (u32 k = 0; k < tensorRank - 2; ++k) {
    const int lower = pixelBoxLowerCorner[k], upper = pixelBoxUpperCorner[k];
    require(lower >= -most - 1 && lower <= most && upper >= -most - 1 && upper <= most);
    require(i64{map.size[k + 1]} + upper >= lower);
    map.lower[k] = i16(lower);
    map.upper[k] = i16(upper);
  }
  describe_copy(map, swizzle, l2Promotion, oobFill);
  std::memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12080
CUresult driver::call_cuTensorMapEncodeIm2colWide(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                                  cuuint32_t tensorRank, void* globalAddress,
                                                  const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                                  int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth,
                                                  cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                                  const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                                  CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                                  CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
  require_place(tensorMap);
  require(mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W || mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128);
  TensorMap map = tensor(tensorDataType, tensorRank, 3, globalAddress, globalDim, globalStrides, elementStrides);
  interleaved(map, interleave);
  describe_pixels(map, channelsPerPixel, pixelsPerColumn);
  map.wide = true;
  constexpr int kMost = 32767;
  for (const int corner : {pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth}) {
    require(corner >= -kMost - 1 && corner <= kMost);
  }
  map.lower[0] = i16(pixelBoxLowerCornerWidth);
  map.upper[0] = i16(pixelBoxUpperCornerWidth);
  describe_copy(map, swizzle, l2Promotion, oobFill);
  std::memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}
#endif

CUresult driver::call_cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) {
  require(tensorMap != nullptr && reinterpret_cast<u64>(tensorMap) % alignof(TensorMap) == 0);
  TensorMap map;
  std::memcpy(static_cast<void*>(&map), tensorMap, sizeof map);
  require(map.mark == TensorMap::kMark);
  map.address = reinterpret_cast<u64>(globalAddress);
  require(map.address != 0 && map.address % 16 == 0);
  std::memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}

#endif

}  // namespace cudasim
