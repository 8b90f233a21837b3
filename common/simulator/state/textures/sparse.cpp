#include "common/simulator/state/textures/sparse.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <span>

namespace cudasim {

namespace {

constexpr u64 kTile = u64{64} << 10;  // bytes

bool is_layered(const Array& array) {
  return (array.descriptor.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}

}  // namespace

TileExtent tile_of(const Array& array) {
  const bool three = array.descriptor.Depth > 1 && !is_layered(array);
  switch (array.element) {
    case 1: return three ? TileExtent{64, 32, 32} : TileExtent{256, 256, 1};
    case 2: return three ? TileExtent{32, 32, 32} : TileExtent{256, 128, 1};
    case 4: return three ? TileExtent{32, 32, 16} : TileExtent{128, 128, 1};
    case 8: return three ? TileExtent{32, 16, 16} : TileExtent{128, 64, 1};
    default: return three ? TileExtent{16, 16, 16} : TileExtent{64, 64, 1};
  }
}

std::shared_ptr<Array> sparse_array(CUarray handle) {
  auto array = arrays().get(handle, CUDA_ERROR_INVALID_HANDLE);
  require((array->descriptor.Flags & CUDA_ARRAY3D_SPARSE) != 0);
  return array;
}

namespace {

// A tile, or what a tail holds of one level: its place in the array, and in the memory of the mapping.
struct Tile {
  std::shared_ptr<Array> array;
  TileExtent from, size;
  u64 row, slice;  // bytes, in that memory
  u64 offset = 0;
  u64 bytes = kTile;
};
// What it has of its memory, as long as it has some.
struct Memory {
  std::shared_ptr<const void> keep;
  std::byte* bytes = nullptr;
  std::byte* units = nullptr;  // the kTile bytes that these begin in …
  u64 count = 0;               // … and how many such they reach into
};

void move_rows(const Tile& tile, const std::function<void(std::byte* row, u64 offset, u64 bytes)>& each) {
  const AddressSpace::Hold hold;
  const Array& array = *tile.array;
  const auto allocation = AddressSpace::instance().find(array.address);
  if (!allocation) return;
  for (u64 z = 0; z < tile.size.z; ++z) {
    for (u64 y = 0; y < tile.size.y; ++y) {
      const u64 row =
          ((tile.from.z + z) * array.height + tile.from.y + y) * array.pitch() + tile.from.x * array.element;
      each(allocation->host + row, z * tile.slice + y * tile.row, tile.size.x * array.element);
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
  std::map<const std::byte*, u64> users;                         // which mapping, counted, has these kTile bytes
  u64 mappings = 0;

  void forget(const Memory& memory) {
    for (u64 i = 0; i < memory.count; ++i) users.erase(memory.units + i * kTile);
  }
};

Mapped& mapped() {
  static Mapped& only = *new Mapped;
  return only;
}

}  // namespace

std::shared_ptr<Array> level_of(const MipmappedArray& mipmap, std::size_t level) {
  require(level < mipmap.levels.size());
  return sparse_array(mipmap.levels[level]);
}

std::shared_ptr<MipmappedArray> sparse_mipmap(CUmipmappedArray handle) {
  auto mipmap = mipmapped_arrays().get(handle, CUDA_ERROR_INVALID_HANDLE);
  require((arrays().get(mipmap->levels.front())->descriptor.Flags & CUDA_ARRAY3D_SPARSE) != 0);
  return mipmap;
}

std::size_t tail_begins(const MipmappedArray& mipmap) {
  const TileExtent tile = tile_of(*level_of(mipmap, 0));
  for (std::size_t i = 0; i < mipmap.levels.size(); ++i) {
    const auto level = level_of(mipmap, i);
    if (level->width < tile.x || level->height < tile.y || (tile.z > 1 && level->depth < tile.z)) return i;
  }
  return mipmap.levels.size();
}

namespace {

// One layer's levels from there on, one after the other.
std::vector<Tile> tail_of(const MipmappedArray& mipmap, u64 layer) {
  std::vector<Tile> parts;
  u64 offset = 0;
  for (std::size_t i = tail_begins(mipmap); i < mipmap.levels.size(); ++i) {
    const auto level = level_of(mipmap, i);
    const u64 depth = is_layered(*level) ? 1 : level->depth, slice = level->pitch() * level->height;
    parts.push_back(
        {level, {0, 0, layer}, {level->width, level->height, depth}, level->pitch(), slice, offset, slice * depth});
    offset += slice * depth;
  }
  return parts;
}

}  // namespace

u64 tail_size(const MipmappedArray& mipmap) {
  u64 bytes = 0;
  for (const Tile& part : tail_of(mipmap, 0)) {
    const u64 rows = std::clamp<u64>(std::bit_ceil(part.size.y), 8, 128);
    bytes += round_up(part.row, 64) * round_up(part.size.y, rows) * part.size.z;
  }
  return round_up(bytes, kTile);
}

namespace {

std::vector<Tile> tiles_of_level(const std::shared_ptr<Array>& array, const CUarrayMapInfo& info) {
  const auto& part = info.subresource.sparseLevel;
  const TileExtent tile = tile_of(*array);
  const bool flat = tile.z == 1;
  require(flat ? part.offsetZ == 0 && part.extentDepth == 1 : true);
  require(is_layered(*array) ? part.layer < array->depth : part.layer == 0);
  const TileExtent from{part.offsetX, part.offsetY, flat ? part.layer : part.offsetZ};
  const TileExtent size{part.extentWidth, part.extentHeight, part.extentDepth};
  const auto fits = [](u64 first, u64 count, u64 step, u64 most) {
    const u64 rounded = round_up(most, step);
    return first % step == 0 && count != 0 && first < most && count <= rounded - first &&
           (count % step == 0 || first + count == most);
  };
  require(fits(from.x, size.x, tile.x, array->width) && fits(from.y, size.y, tile.y, array->height) &&
          fits(from.z, size.z, tile.z, array->depth));
  const u64 row = tile.x * array->element;
  std::vector<Tile> tiles;
  for (u64 z = from.z; z < from.z + size.z; z += tile.z) {
    for (u64 y = from.y; y < from.y + size.y; y += tile.y) {
      for (u64 x = from.x; x < from.x + size.x; x += tile.x) {
        tiles.push_back({array,
                         {x, y, z},
                         {std::min(tile.x, array->width - x), std::min(tile.y, array->height - y),
                          std::min(tile.z, array->depth - z)},
                         row,
                         row * tile.y,
                         tiles.size() * kTile});
      }
    }
  }
  return tiles;
}

std::vector<Tile> tail_named(const MipmappedArray& mipmap, const CUarrayMapInfo& info) {
  const auto& part = info.subresource.miptail;
  const auto base = level_of(mipmap, 0);
  require(is_layered(*base) ? part.layer < base->depth : part.layer == 0);
  const u64 whole = tail_size(mipmap);
  require(part.offset % kTile == 0 && part.size % kTile == 0 && part.size != 0 && part.offset < whole &&
          part.size <= whole - part.offset);
  if (part.size != whole) fail(refuse("cuMemMapArrayAsync", "for part of a mip tail"));
  return tail_of(mipmap, part.layer);
}

std::vector<Tile> tiles_named(const CUarrayMapInfo& info) {
  const bool is_level = info.subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
  require(is_level || info.subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL);
  if (info.resourceType == CU_RESOURCE_TYPE_ARRAY) {
    const auto array = sparse_array(info.resource.array);
    require(is_level && info.subresource.sparseLevel.level == 0);
    return tiles_of_level(array, info);
  }
  require(info.resourceType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
  const auto mipmap = sparse_mipmap(info.resource.mipmap);
  if (!is_level) return tail_named(*mipmap, info);
  const unsigned level = info.subresource.sparseLevel.level;
  require(level < tail_begins(*mipmap));
  return tiles_of_level(level_of(*mipmap, level), info);
}

struct Change {
  Tile tile;
  Memory before, after;
};

// Under Mapped::mutex. The tiles get their memory one after the other.
void map_or_unmap(const CUarrayMapInfo& info, CUdevice device, std::vector<Change>& changes) {
  require(info.flags == 0 && info.reserved[0] == 0 && info.reserved[1] == 0);
  require(info.memHandleType == CU_MEM_HANDLE_TYPE_GENERIC && info.deviceBitMask == 1u << device);
  const bool maps = info.memOperationType == CU_MEM_OPERATION_TYPE_MAP;
  require(maps || (info.memOperationType == CU_MEM_OPERATION_TYPE_UNMAP && info.memHandle.memHandle == 0));
  const std::vector<Tile> tiles = tiles_named(info);
  TilePool pool{};
  if (maps) {
    pool = tile_pool(info.memHandle.memHandle);
    require(pool.device == device && info.offset % kTile == 0 && info.offset <= pool.size &&
            tiles.back().offset + tiles.back().bytes <= pool.size - info.offset);
  }
  Mapped& all = mapped();
  const u64 mapping = ++all.mappings;
  for (const Tile& tile : tiles) {
    Change change{tile, {}, {}};
    Memory& now = all.by_tile[{tile.array->address, {tile.from.x, tile.from.y, tile.from.z}}];
    change.before = now;
    all.forget(now);
    now = {};
    if (maps) {
      const u64 first = (info.offset + tile.offset) / kTile, end = info.offset + tile.offset + tile.bytes;
      const Memory after{pool.keep, pool.bytes + info.offset + tile.offset, pool.bytes + first * kTile,
                         (end + kTile - 1) / kTile - first};
      for (u64 i = 0; i < after.count; ++i) {
        const auto [user, fresh] = all.users.emplace(after.units + i * kTile, mapping);
        if (!fresh && user->second != mapping) fail(refuse("cuMemMapArrayAsync", "for memory that another tile uses"));
      }
      change.after = now = after;
    }
    changes.push_back(std::move(change));
  }
}

}  // namespace

void map_tiles(Stream& stream, const Device& device, std::span<const CUarrayMapInfo> list) {
  auto changes = std::make_shared<std::vector<Change>>();
  Mapped& all = mapped();
  const std::scoped_lock lock(all.mutex);
  // Memory of arrays that are gone is free again.
  std::erase_if(all.by_tile, [&](const auto& one) {
    if (AddressSpace::instance().find(one.first.first)) return false;
    all.forget(one.second);
    return true;
  });
  for (const CUarrayMapInfo& info : list) map_or_unmap(info, device.ordinal, *changes);
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
  stream.enqueue(std::move(operation));
}

}  // namespace cudasim
