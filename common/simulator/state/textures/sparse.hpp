// Sparse arrays: arrays whose memory comes tile by tile, from memory that was made for it
// (CU_MEM_CREATE_USAGE_TILE_POOL). In a mipmapped array, the levels that are too small for a tile share theirs,
// layer by layer: its tail.
//
// An array has addresses of its own here, tiles or not. A tile that is mapped gets the bytes that its memory holds, and
// gives them back when it is unmapped; an unmapped one reads as zero. So one piece of memory is in one place at a time:
// two tiles of the same memory are refused.
#pragma once
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/memory/arrays.hpp"
#include "common/simulator/state/memory/virtual_memory.hpp"
#include "common/simulator/state/streams/capture.hpp"

#include <span>

namespace cudasim {

struct TileExtent {
  u64 x, y, z;
};

// As driver 580 reports for an H200: 64 KiB, as square as they get, by the bytes of an element.
TileExtent tile_of(const Array& array);
std::shared_ptr<Array> sparse_array(CUarray handle);
std::shared_ptr<Array> level_of(const MipmappedArray& mipmap, std::size_t level);
std::shared_ptr<MipmappedArray> sparse_mipmap(CUmipmappedArray handle);

// The first level that is smaller than a tile; the number of levels if none is.
std::size_t tail_begins(const MipmappedArray& mipmap);

// The memory that a layer's tail takes. Driver 580 counts rows in pieces of 64 bytes, and as many of them as the next
// power of two, or in pieces of 128.
u64 tail_size(const MipmappedArray& mipmap);

// Maps and unmaps tiles in the order of the stream.
void map_tiles(Stream& stream, const Device& device, std::span<const CUarrayMapInfo> list);

}  // namespace cudasim
