// Tensor maps, for the bulk copies of tiles. CUDA Driver API manual, "Tensor Map Object Management".
//
// Interleaved layouts, im2col boxes and the types that are converted on their way are not simulated.
#include "common/simulator/memory/tensor_map.hpp"

#include "common/simulator/api/guard.hpp"

#include <cstring>

#if CUDA_VERSION >= 12000

namespace cudasim {
namespace {

constexpr u64 kMostStride = u64{1} << 40, kMostSize = u64{1} << 32;
constexpr u32 kMostBox = 256, kMostStep = 8;

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
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ: map.type = Type::f32, map.flush = true; return;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: map.type = Type::f64; return;
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ: fail(refuse("cuTensorMapEncodeTiled", "of tf32"));
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

Swizzle swizzle_of(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE: return Swizzle::none;
    case CU_TENSOR_MAP_SWIZZLE_32B: return Swizzle::bytes_32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return Swizzle::bytes_64;
    case CU_TENSOR_MAP_SWIZZLE_128B: return Swizzle::bytes_128;
    default: fail(refuse("cuTensorMapEncodeTiled", "with this swizzle"));
  }
}

}  // namespace
}  // namespace cudasim

using namespace cudasim;

CUDASIM_API CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                            cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
                                            const cuuint64_t* globalStrides, const cuuint32_t* boxDim,
                                            const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                            CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                            CUtensorMapFloatOOBfill oobFill) {
  return CUDASIM_CALL(tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, boxDim,
                      elementStrides, interleave, swizzle, l2Promotion, oobFill) {
    require(tensorMap != nullptr && reinterpret_cast<u64>(tensorMap) % alignof(TensorMap) == 0);
    require(tensorRank >= 1 && tensorRank <= TensorMap::kMostDimensions);
    require(globalDim != nullptr && boxDim != nullptr && elementStrides != nullptr);
    require(tensorRank == 1 || globalStrides != nullptr);
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
      return refuse("cuTensorMapEncodeTiled", "with an interleaved layout");
    TensorMap map;
    describe_type(map, tensorDataType);
    map.dimensions = u8(tensorRank);
    map.address = reinterpret_cast<u64>(globalAddress);
    require(map.address != 0 && map.address % 16 == 0);
    const u32 element = bytes(map.type);
    for (u32 k = 0; k < tensorRank; ++k) {
      require(globalDim[k] != 0 && globalDim[k] <= kMostSize);
      require(boxDim[k] != 0 && boxDim[k] <= kMostBox && elementStrides[k] != 0 && elementStrides[k] <= kMostStep);
      map.size[k] = u32(globalDim[k] - 1);
      map.box[k] = u16(boxDim[k]);
      map.step[k] = u8(elementStrides[k]);
      if (k == 0) continue;
      map.stride[k - 1] = globalStrides[k - 1];
      require(map.stride[k - 1] % 16 == 0 && map.stride[k - 1] < kMostStride);
    }
    map.swizzle = swizzle_of(swizzle);
    const u32 row = boxDim[0] * element;
    require(row % 16 == 0);
    require(map.swizzle == Swizzle::none || row <= 16u << u32(map.swizzle));
    require(oobFill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || is_float(map.type));
    map.fill_nan = oobFill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    if (map.fill_nan && element != 2) return refuse("cuTensorMapEncodeTiled", "with NaNs of more than two bytes");
    std::memcpy(tensorMap, &map, sizeof map);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) {
  return CUDASIM_CALL(tensorMap, globalAddress) {
    require(tensorMap != nullptr && reinterpret_cast<u64>(tensorMap) % alignof(TensorMap) == 0);
    TensorMap map;
    std::memcpy(static_cast<void*>(&map), tensorMap, sizeof map);
    require(map.mark == TensorMap::kMark);
    map.address = reinterpret_cast<u64>(globalAddress);
    require(map.address != 0 && map.address % 16 == 0);
    std::memcpy(tensorMap, &map, sizeof map);
    return CUDA_SUCCESS;
  };
}

#endif
