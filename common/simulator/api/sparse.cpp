// Sparse arrays: arrays whose memory comes tile by tile, from memory that was made for it
// (CU_MEM_CREATE_USAGE_TILE_POOL).
//
// An array has addresses of its own here, tiles or not. A tile that is mapped gets the bytes that its memory holds, and
// gives them back when it is unmapped; an unmapped one reads as zero. So one piece of memory is in one place at a time:
// two tiles of the same memory are refused.
#include "common/simulator/api/guard.hpp"
#include "common/simulator/api/virtual_memory.hpp"
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/arrays.hpp"
#include "common/simulator/state/capture.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

namespace cudasim {
namespace {

constexpr u64 kTile = u64{64} << 10;  // bytes

struct Extent {
  u64 x, y, z;
};

// As driver 580 answers for an H200: 64 KiB, as square as they get, by the bytes of an element.
Extent tile_of(const Array& array) {
  const bool three = array.descriptor.Depth > 1 && (array.descriptor.Flags & CUDA_ARRAY3D_LAYERED) == 0;
  switch (array.element) {
    case 1: return three ? Extent{64, 32, 32} : Extent{256, 256, 1};
    case 2: return three ? Extent{32, 32, 32} : Extent{256, 128, 1};
    case 4: return three ? Extent{32, 32, 16} : Extent{128, 128, 1};
    case 8: return three ? Extent{32, 16, 16} : Extent{128, 64, 1};
    default: return three ? Extent{16, 16, 16} : Extent{64, 64, 1};
  }
}

std::shared_ptr<Array> sparse_array(CUarray handle) {
  auto array = arrays().get(handle, CUDA_ERROR_INVALID_HANDLE);
  require((array->descriptor.Flags & CUDA_ARRAY3D_SPARSE) != 0);
  return array;
}

// Where a tile lies in its array; its memory, as long as it has some.
struct Tile {
  std::shared_ptr<Array> array;
  Extent from, size;
};
struct Memory {
  std::shared_ptr<const void> keep;
  std::byte* bytes = nullptr;
};

void move_rows(const Tile& tile, const std::function<void(std::byte* row, u64 offset, u64 bytes)>& each) {
  const AddressSpace::Hold hold;
  const Array& array = *tile.array;
  const auto allocation = AddressSpace::instance().find(array.address);
  if (!allocation) return;
  const Extent full = tile_of(array);
  for (u64 z = 0; z < tile.size.z; ++z) {
    for (u64 y = 0; y < tile.size.y; ++y) {
      const u64 row =
          ((tile.from.z + z) * array.height + tile.from.y + y) * array.pitch() + tile.from.x * array.element;
      each(allocation->host + row, ((z * full.y) + y) * full.x * array.element, tile.size.x * array.element);
    }
  }
}

void fill(const Tile& tile, const Memory& memory) {
  move_rows(tile, [&](std::byte* row, u64 at, u64 bytes) { std::memcpy(row, memory.bytes + at, bytes); });
}

void empty(const Tile& tile, const Memory& memory) {
  move_rows(tile, [&](std::byte* row, u64 at, u64 bytes) {
    std::memcpy(memory.bytes + at, row, bytes);
    std::memset(row, 0, bytes);
  });
}

// Which tile has which memory, as of the calls so far.
struct Mapped {
  std::mutex mutex;
  std::map<std::pair<u64, std::array<u64, 3>>, Memory> by_tile;  // the array's address, and where the tile begins
  std::map<const std::byte*, u64> users;                         // of memory: the array's address
};

Mapped& mapped() {
  static Mapped& only = *new Mapped;
  return only;
}

std::vector<Tile> tiles_named(const CUarrayMapInfo& info) {
  const auto array = sparse_array(info.resource.array);
  require(info.subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL &&
          info.subresource.sparseLevel.level == 0);
  const auto& part = info.subresource.sparseLevel;
  const bool layered = (array->descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  const Extent tile = tile_of(*array);
  const bool flat = tile.z == 1;
  require(flat ? part.offsetZ == 0 && part.extentDepth == 1 : true);
  require(layered ? part.layer < array->depth : part.layer == 0);
  const Extent from{part.offsetX, part.offsetY, flat ? part.layer : part.offsetZ};
  const Extent size{part.extentWidth, part.extentHeight, part.extentDepth};
  const auto fits = [](u64 first, u64 count, u64 step, u64 most) {
    const u64 rounded = (most + step - 1) / step * step;
    return first % step == 0 && count != 0 && first < most && count <= rounded - first &&
           (count % step == 0 || first + count == most);
  };
  require(fits(from.x, size.x, tile.x, array->width) && fits(from.y, size.y, tile.y, array->height) &&
          fits(from.z, size.z, tile.z, array->depth));
  std::vector<Tile> tiles;
  for (u64 z = from.z; z < from.z + size.z; z += tile.z) {
    for (u64 y = from.y; y < from.y + size.y; y += tile.y) {
      for (u64 x = from.x; x < from.x + size.x; x += tile.x) {
        tiles.push_back({array,
                         {x, y, z},
                         {std::min(tile.x, array->width - x), std::min(tile.y, array->height - y),
                          std::min(tile.z, array->depth - z)}});
      }
    }
  }
  return tiles;
}

struct Change {
  Tile tile;
  Memory before, after;
};

// Under Mapped::mutex. The tiles get their memory one after the other.
void map_or_unmap(const CUarrayMapInfo& info, CUdevice device, std::vector<Change>& changes) {
  require(info.resourceType == CU_RESOURCE_TYPE_ARRAY || info.resourceType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
  if (info.resourceType != CU_RESOURCE_TYPE_ARRAY) fail(refuse("cuMemMapArrayAsync", "of mipmapped arrays"));
  require(info.flags == 0 && info.reserved[0] == 0 && info.reserved[1] == 0);
  require(info.memHandleType == CU_MEM_HANDLE_TYPE_GENERIC && info.deviceBitMask == 1u << device);
  const bool maps = info.memOperationType == CU_MEM_OPERATION_TYPE_MAP;
  require(maps || (info.memOperationType == CU_MEM_OPERATION_TYPE_UNMAP && info.memHandle.memHandle == 0));
  const std::vector<Tile> tiles = tiles_named(info);
  TilePool pool{};
  if (maps) {
    pool = tile_pool(info.memHandle.memHandle);
    require(pool.device == device && info.offset % kTile == 0 && info.offset <= pool.size &&
            tiles.size() <= (pool.size - info.offset) / kTile);
  }
  Mapped& all = mapped();
  u64 offset = info.offset;
  for (const Tile& tile : tiles) {
    Change change{tile, {}, {}};
    Memory& now = all.by_tile[{tile.array->address, {tile.from.x, tile.from.y, tile.from.z}}];
    change.before = now;
    all.users.erase(now.bytes);
    now = {};
    if (maps) {
      std::byte* const bytes = pool.bytes + offset;
      if (all.users.count(bytes) != 0) fail(refuse("cuMemMapArrayAsync", "of memory that another tile has"));
      change.after = now = {pool.keep, bytes};
      all.users[bytes] = tile.array->address;
      offset += kTile;
    }
    changes.push_back(std::move(change));
  }
}

CUresult map_arrays(const CUarrayMapInfo* list, unsigned count, CUstream handle) {
  const auto stream = get_stream(handle);
  require(list != nullptr && count != 0);
  require_not_captured(*stream);
  const auto context = stream->context.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  auto changes = std::make_shared<std::vector<Change>>();
  Mapped& all = mapped();
  const std::scoped_lock lock(all.mutex);
  // Memory of arrays that are gone is free again.
  std::erase_if(all.by_tile, [&](const auto& one) {
    if (AddressSpace::instance().find(one.first.first)) return false;
    all.users.erase(one.second.bytes);
    return true;
  });
  for (unsigned i = 0; i < count; ++i) map_or_unmap(list[i], context->device.ordinal, *changes);
  Operation operation;
  operation.kind = OperationKind::copy;
  operation.label = "cuMemMapArrayAsync";
  operation.run = [changes] {
    for (const Change& change : *changes) {
      if (change.before.bytes != nullptr) empty(change.tile, change.before);
      if (change.after.bytes != nullptr) fill(change.tile, change.after);
    }
    return CUDA_SUCCESS;
  };
  stream->enqueue(std::move(operation));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace cudasim

using namespace cudasim;

CUDASIM_API CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* properties, CUarray array) {
  return CUDASIM_CALL(properties, array) {
    require_calls_permitted();
    require(properties != nullptr);
    const Extent tile = tile_of(*sparse_array(array));
    *properties = {};
    properties->tileExtent.width = static_cast<unsigned>(tile.x);
    properties->tileExtent.height = static_cast<unsigned>(tile.y);
    properties->tileExtent.depth = static_cast<unsigned>(tile.z);
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuMemMapArrayAsync(CUarrayMapInfo* mapInfoList, unsigned int count, CUstream stream) {
  return CUDASIM_CALL(mapInfoList, count, stream) { return map_arrays(mapInfoList, count, stream); };
}

CUDASIM_API CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo* mapInfoList, unsigned int count, CUstream stream) {
  return CUDASIM_CALL(mapInfoList, count, stream) { return map_arrays(mapInfoList, count, per_thread(stream)); };
}
