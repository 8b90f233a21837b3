#include "common/simulator/state/memory/transfer.hpp"

#include "common/simulator/exec/builtins.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/memory/arrays.hpp"
#include "common/simulator/state/memory/graph_memory.hpp"
#include "common/simulator/state/memory/pools.hpp"
#include "common/simulator/watch/init.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace cudasim {
namespace {

// The buffer that copies from and to pageable memory go through.
constexpr u64 kStaging = u64{2} << 20;

// Rows of bytes in memory of one kind: row y of slice z begins at address + z * slice + y * pitch.
struct Rows {
  u64 address = 0;
  u64 pitch = 0, slice = 0;
  u64 extent = 0;      // bytes from the first to the last
  bool host = false;   // plain host memory: the address is the process's own
  bool copied = true;  // not filled: what only the host may touch of a mapping will do
};

struct Box {
  u64 width = 0, height = 0, depth = 0;
};

bool host_may_touch(const Allocation& allocation) {
  if (allocation.kind == MemoryKind::virtual_mapping) return (allocation.flags & Allocation::kForHost) != 0;
  return allocation.base < kDeviceBase;
}

// The host memory behind a stretch of device addresses: one piece for each allocation (mappings may adjoin).
class Pieces {
 public:
  // False if part of it is not there, or not to be touched like this.
  bool find(const Rows& rows, bool write) {
    if (rows.host) {
      pieces_.push_back({rows.address, rows.extent, reinterpret_cast<std::byte*>(rows.address)});
      return true;
    }
    u64 at = rows.address, left = rows.extent;
    while (left != 0) {
      const auto allocation = AddressSpace::instance().find(at);
      if (!allocation) return false;
      const bool for_host_only =
          allocation->kind == MemoryKind::virtual_mapping || allocation->kind == MemoryKind::host_pinned;
      const bool by_host = rows.copied && for_host_only && host_may_touch(*allocation);
      if (!by_host && !(write ? allocation->device_writable : allocation->device_readable)) return false;
      const u64 offset = at - allocation->base;
      const u64 size = std::min(left, allocation->size - offset);
      pieces_.push_back({at, size, allocation->host + offset});
      at += size;
      left -= size;
    }
    return true;
  }

  // The memory at `address`, and in `size` how many of the bytes wanted are contiguous there.
  std::byte* at(u64 address, u64& size) const {
    auto piece = pieces_.begin();
    while (address - piece->begin >= piece->size) ++piece;
    const u64 offset = address - piece->begin;
    size = std::min(size, piece->size - offset);
    return piece->host + offset;
  }

 private:
  struct Piece {
    u64 begin, size;
    std::byte* host;
  };
  std::vector<Piece> pieces_;
};

// Pinned buffers for staging; as many as there are copies at the same time.
class Staging {
 public:
  Staging() {
    Pool& free = pool();
    const std::scoped_lock lock(free.mutex);
    if (!free.buffers.empty()) {
      buffer_ = std::move(free.buffers.back());
      free.buffers.pop_back();
    } else {
      buffer_ = std::make_unique_for_overwrite<std::byte[]>(kStaging);
    }
  }
  ~Staging() {
    Pool& free = pool();
    const std::scoped_lock lock(free.mutex);
    free.buffers.push_back(std::move(buffer_));
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  std::byte* get() const { return buffer_.get(); }

 private:
  struct Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<std::byte[]>> buffers;
  };
  static Pool& pool() {
    static Pool& only = *new Pool;
    return only;
  }
  std::unique_ptr<std::byte[]> buffer_;
};

void move_staged(std::byte* to, const std::byte* from, u64 size) {
  const Staging staging;
  for (u64 done = 0; done < size; done += kStaging) {
    const u64 part = std::min(kStaging, size - done);
    std::memcpy(staging.get(), from + done, part);
    std::memcpy(to + done, staging.get(), part);
  }
}

void move_row(const Pieces& from, u64 source, const Pieces& to, u64 target, u64 width, bool staged) {
  while (width != 0) {
    u64 size = width;
    const std::byte* const source_bytes = from.at(source, size);
    std::byte* const target_bytes = to.at(target, size);
    if (staged)
      move_staged(target_bytes, source_bytes, size);
    else
      std::memmove(target_bytes, source_bytes, size);
    source += size;
    target += size;
    width -= size;
  }
}

CUresult lost(const char* label, u64 address) {
  std::fprintf(stderr, "cudasim: %s: the memory at 0x%llx was freed before the stream reached this operation\n", label,
               static_cast<unsigned long long>(address));
  return CUDA_ERROR_ILLEGAL_ADDRESS;
}

// For the check of what is never written.
void note(const Rows& source, u64 read, const Rows& target, u64 written, u64 size, const char* label) {
  const bool to_host = target.address < kDeviceBase && !AddressSpace::instance().reserved_for_both(target.address, 1);
  if (to_host) return memory_is_read(read, size, label);
  if (source.host)
    memory_is_written(written, size);
  else
    memory_is_copied(written, read, size);
}

CUresult run_copy(const Rows& source, const Rows& target, const Box& box, bool staged, const char* label) {
  const AddressSpace::Hold hold;
  Pieces from, to;
  if (!from.find(source, false)) return lost(label, source.address);
  if (!to.find(target, true)) return lost(label, target.address);
  for (u64 z = 0; z < box.depth; ++z) {
    for (u64 y = 0; y < box.height; ++y) {
      const u64 read = source.address + z * source.slice + y * source.pitch;
      const u64 written = target.address + z * target.slice + y * target.pitch;
      move_row(from, read, to, written, box.width, staged);
      note(source, read, target, written, box.width, label);
    }
  }
  return CUDA_SUCCESS;
}

// Rows that follow each other without a gap are one row.
void join_rows(Rows& source, Rows& target, Box& box) {
  if (source.pitch == box.width && target.pitch == box.width) {
    box.width *= box.height;
    box.height = 1;
    if (source.slice == box.width && target.slice == box.width) {
      box.width *= box.depth;
      box.depth = 1;
    }
  }
}

Side kind_of(const Allocation& allocation) {
  if (allocation.kind == MemoryKind::virtual_mapping && (allocation.flags & Allocation::kOnHost) != 0) {
    return Side::pinned;
  }
  switch (allocation.kind) {
    case MemoryKind::host_pinned:
    case MemoryKind::host_registered: return Side::pinned;
    case MemoryKind::managed: return Side::managed;
    default: return Side::device;
  }
}

// One end of a CUDA_MEMCPY3D.
struct End {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  u64 x, y, z, lod, pitch, height;
};

u64 checked(unsigned __int128 value) {
  require(value < (u64{1} << 62));
  return static_cast<u64>(value);
}

Rows rows_of_array(const End& end, const Box& box) {
  using Wide = unsigned __int128;
  const auto array = arrays().get(end.array);
  const auto fits = [](u64 first, u64 count, u64 size) { return first <= size && count <= size - first; };
  require(fits(end.x, box.width, array->pitch()) && fits(end.y, box.height, array->height) &&
          fits(end.z, box.depth, array->depth));
  Rows rows;
  rows.pitch = array->pitch();
  rows.slice = rows.pitch * array->height;
  rows.address = array->address + end.z * rows.slice + end.y * rows.pitch + end.x;
  rows.extent = checked(Wide{box.depth - 1} * rows.slice + Wide{box.height - 1} * rows.pitch + box.width);
  return rows;
}

Rows rows_of(const End& end, const Box& box, bool write, bool in_graph, Side& side, bool copied = true) {
  using Wide = unsigned __int128;
  require(end.lod == 0 || end.type != CU_MEMORYTYPE_ARRAY);
  if (end.type == CU_MEMORYTYPE_ARRAY) return side = Side::device, rows_of_array(end, box);
  Rows rows;
  rows.copied = copied;
  rows.pitch = end.pitch != 0 ? end.pitch : checked(Wide{end.x} + box.width);
  const u64 height = end.height != 0 ? end.height : checked(Wide{end.y} + box.height);
  if (box.height > 1 || box.depth > 1) {
    require(rows.pitch >= checked(Wide{end.x} + box.width), CUDA_ERROR_INVALID_VALUE,
            [] { return "the pitch is smaller than a row"; });
    require(end.pitch < (u64{1} << 31));  // CU_DEVICE_ATTRIBUTE_MAX_PITCH
  }
  if (box.depth > 1) require(height >= checked(Wide{end.y} + box.height));
  // Where a copy of three dimensions names them, driver 580 looks at the rows and planes of one row and one plane, too.
  if (end.height != 0) {
    require(rows.pitch >= checked(Wide{end.x} + box.width) && height >= checked(Wide{end.y} + box.height));
  }
  rows.slice = checked(Wide{rows.pitch} * height);
  const u64 start = checked(Wide{end.z} * rows.slice + Wide{end.y} * rows.pitch + end.x);
  rows.extent = checked(Wide{box.depth - 1} * rows.slice + Wide{box.height - 1} * rows.pitch + box.width);

  const u64 base = end.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<u64>(end.host) : end.device;
  require(base != 0, CUDA_ERROR_INVALID_VALUE, [] { return "the address is null"; });
  rows.address = base + start;
  require(rows.address >= base && rows.address + rows.extent >= rows.address);
  // A device's address is known for one under whatever name it comes.
  const bool by_host_pointer = end.type == CU_MEMORYTYPE_HOST && rows.address < kDeviceBase;

  const auto outside = [&] {
    return std::to_string(rows.extent) + " bytes were requested at " + hex(rows.address) + ", which is " +
           AddressSpace::instance().describe(rows.address, static_cast<u32>(std::min<u64>(rows.extent, ~u32{0})));
  };
  if (in_graph && !by_host_pointer && is_graph_memory(rows.address)) return side = Side::device, rows;
  const auto allocation = AddressSpace::instance().find(rows.address);
  // A kernel's heap is the kernels' alone; the host may fill it, but not copy it (driver 580).
  require(!allocation || !copied || !from_heap(*allocation), CUDA_ERROR_INVALID_VALUE,
          [] { return "memory of malloc in a kernel cannot be copied by the host: copy it in a kernel"; });
  // What a pool has on the host is copied as the host's, or as unified memory, but not as a device's (driver 580).
  require(!allocation || !copied || end.type != CU_MEMORYTYPE_DEVICE || allocation->kind != MemoryKind::host_pinned ||
          pool_of(allocation->base) == nullptr);
  if (allocation && (!by_host_pointer || host_may_touch(*allocation))) {
    side = kind_of(*allocation);
    if (Pieces().find(rows, write)) return rows;
    require(by_host_pointer, CUDA_ERROR_INVALID_VALUE, outside);  // plain memory may go on where registered memory ends
  }
  require(end.type != CU_MEMORYTYPE_DEVICE && rows.address + rows.extent <= kDeviceBase, CUDA_ERROR_INVALID_VALUE,
          outside);
  require(!AddressSpace::instance().reserved_for_both(rows.address, rows.extent), CUDA_ERROR_INVALID_VALUE, outside);
  require(host_range_is_mapped(rows.address, rows.extent), CUDA_ERROR_INVALID_VALUE,
          [] { return "the host has no memory there"; });
  side = Side::pageable;
  rows.host = true;
  return rows;
}

template <class T>
void fill_row(std::byte* at, u64 count, T value) {
  std::fill_n(reinterpret_cast<T*>(at), count, value);
}

void fill_row(std::byte* at, u64 bytes, u32 value, u32 element) {
  const u32 low = value & 0xff;
  if (element == 1 || (element == 2 && value == low * 0x101) || value == low * 0x1010101) {
    std::memset(at, static_cast<int>(low), bytes);
  } else if (element == 2) {
    fill_row(at, bytes / 2, static_cast<u16>(value));
  } else {
    fill_row(at, bytes / 4, value);
  }
}

CUresult run_fill(const Rows& target, const Box& box, u32 value, u32 element, const char* label) {
  const AddressSpace::Hold hold;
  Pieces to;
  if (!to.find(target, true)) return lost(label, target.address);
  for (u64 y = 0; y < box.height; ++y) {
    u64 address = target.address + y * target.pitch;
    for (u64 left = box.width; left != 0;) {
      u64 size = left;
      std::byte* const bytes = to.at(address, size);
      memory_is_written(address, size);
      fill_row(bytes, size, value, element);  // allocations begin and end at multiples of the element
      address += size;
      left -= size;
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace

bool host_range_is_mapped(u64 address, u64 size) {
  const u64 begin = address / kHostPage * kHostPage;
  const u64 end = round_up(address + size, kHostPage);
  if (end < begin) return false;
  // Which pages are resident does not matter here: for unmapped memory it fails with ENOMEM. (So does msync, but
  // valgrind takes it for a use of the bytes.)
  constexpr u64 kAtOnce = 4096;  // pages
  unsigned char resident[kAtOnce];
  for (u64 at = begin; at < end; at += kAtOnce * kHostPage) {
    const u64 length = std::min(end - at, kAtOnce * kHostPage);
    if (mincore(reinterpret_cast<void*>(at), length, resident) != 0 && errno == ENOMEM) return false;
  }
  return true;
}

CUDA_MEMCPY3D Linear::copy(CUmemorytype from, u64 source, CUmemorytype to, u64 target, u64 bytes) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = from;
  copy.srcHost = reinterpret_cast<const void*>(source);
  copy.srcDevice = source;
  copy.dstMemoryType = to;
  copy.dstHost = reinterpret_cast<void*>(target);
  copy.dstDevice = target;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy;
}

Copy make_copy(const CUDA_MEMCPY3D& copy, const char* label, bool in_graph) {
  const auto known = [](CUmemorytype type) { return type >= CU_MEMORYTYPE_HOST && type <= CU_MEMORYTYPE_UNIFIED; };
  require(known(copy.srcMemoryType) && known(copy.dstMemoryType));
  Copy made;
  made.operation.kind = OperationKind::copy;
  made.operation.label = label;
  made.operation.parameters = std::make_shared<CUDA_MEMCPY3D>(copy);
  Box box{copy.WidthInBytes, copy.Height, copy.Depth};
  if (box.width == 0 || box.height == 0 || box.depth == 0) return made;
  Rows source = rows_of({copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcXInBytes, copy.srcY,
                         copy.srcZ, copy.srcLOD, copy.srcPitch, copy.srcHeight},
                        box, false, in_graph, made.from);
  Rows target = rows_of({copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstXInBytes, copy.dstY,
                         copy.dstZ, copy.dstLOD, copy.dstPitch, copy.dstHeight},
                        box, true, in_graph, made.to);
  made.operation.bytes = made.bytes = box.width * box.height * box.depth;
  const bool staged = (made.from == Side::pageable) != (made.to == Side::pageable);
  join_rows(source, target, box);
  made.operation.run = [source, target, box, staged, label] { return run_copy(source, target, box, staged, label); };
  return made;
}

namespace {

// From the first byte to behind the last.
unsigned __int128 extent(const CUDA_MEMSET_NODE_PARAMS& fill) {
  using Wide = unsigned __int128;
  return Wide{fill.width} * fill.elementSize + (fill.height > 1 ? Wide{fill.height - 1} * fill.pitch : Wide{0});
}

bool wraps(const CUDA_MEMSET_NODE_PARAMS& fill) { return (extent(fill) + fill.dst) >> 64 != 0; }

// As driver 580: it computes the end of rows modulo 2^64, finds that in the allocation, and the device then fails.
void require_wrapped(const CUDA_MEMSET_NODE_PARAMS& fill) {
  const auto allocation = AddressSpace::instance().find(fill.dst);
  require(fill.pitch >= fill.width * fill.elementSize);
  require(allocation && fill.dst + static_cast<u64>(extent(fill)) <= allocation->base + allocation->size);
}

}  // namespace

Fill make_fill(CUDA_MEMSET_NODE_PARAMS fill, const char* label, bool in_graph) {
  Fill made;
  made.operation.kind = OperationKind::fill;
  made.operation.label = label;
  made.operation.parameters = std::make_shared<CUDA_MEMSET_NODE_PARAMS>(fill);
  const u32 element = fill.elementSize;
  require(element == 1 || element == 2 || element == 4);
  if (fill.width == 0 || fill.height == 0) return made;
  require(fill.dst % element == 0 && (fill.height == 1 || fill.pitch % element == 0), CUDA_ERROR_INVALID_VALUE,
          [&] { return "address and pitch must be multiples of " + std::to_string(element); });
  require(in_graph || fill.height == 1 || fill.pitch != 0);  // as driver 580
  if (!in_graph && fill.height == 1) {
    fill.width = fill.width * element / element;  // of one row, the size in bytes is reckoned modulo 2^64
    if (fill.width == 0) return made;
  }
  if (!in_graph && wraps(fill)) {
    require_wrapped(fill);
    made.operation.run = [label] {
      std::fprintf(stderr, "cudasim: %s: the size exceeds the address space\n", label);
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    };
    return made;
  }
  Box box{checked(static_cast<unsigned __int128>(fill.width) * element), fill.height, 1};
  Rows rows =
      rows_of({CU_MEMORYTYPE_DEVICE, nullptr, fill.dst, nullptr, 0, 0, 0, 0, fill.height == 1 ? 0 : fill.pitch, 0}, box,
              true, in_graph, made.target, false);
  Rows same = rows;
  join_rows(rows, same, box);
  made.operation.bytes = box.width * box.height * box.depth;
  made.operation.run = [rows, box, value = fill.value, element, label] {
    return run_fill(rows, box, value, element, label);
  };
  return made;
}

}  // namespace cudasim
