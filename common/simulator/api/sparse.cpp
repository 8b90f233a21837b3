// Sparse arrays (CUDA Driver API manual, "Virtual Memory Management", "Memory Management").
#include "common/simulator/state/textures/sparse.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/memory/arrays.hpp"
#include "common/simulator/state/memory/virtual_memory.hpp"
#include "common/simulator/state/streams/capture.hpp"

namespace cudasim {

namespace {

void set_extent(CUDA_ARRAY_SPARSE_PROPERTIES& properties, const TileExtent& tile) {
  properties.tileExtent.width = static_cast<unsigned>(tile.x);
  properties.tileExtent.height = static_cast<unsigned>(tile.y);
  properties.tileExtent.depth = static_cast<unsigned>(tile.z);
}

}  // namespace

CUresult driver::call_cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* properties, CUarray array) {
  require_calls_permitted();
  require(properties != nullptr);
  const TileExtent tile = tile_of(*sparse_array(array));
  *properties = {};
  set_extent(*properties, tile);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* properties,
                                                          CUmipmappedArray array) {
  require_calls_permitted();
  const auto mipmap = sparse_mipmap(array);
  require(properties != nullptr);
  *properties = {};
  set_extent(*properties, tile_of(*level_of(*mipmap, 0)));
  properties->miptailFirstLevel = static_cast<unsigned>(tail_begins(*mipmap));
  properties->miptailSize = tail_size(*mipmap);
  if (properties->miptailFirstLevel == 0) properties->flags = CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuMemMapArrayAsync(CUarrayMapInfo* list, unsigned count, CUstream handle) {
  const auto stream = get_stream(handle);
  require(list != nullptr && count != 0);
  require_not_captured(*stream);
  const auto context = stream->context.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  map_tiles(*stream, context->device, {list, count});
  return CUDA_SUCCESS;
}

}  // namespace cudasim
