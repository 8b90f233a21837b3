// One lane's access to memory, checked against the allocation at that address.
#include "common/simulator/exec/access.hpp"

#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/builtins.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/wanted.hpp"

#include <algorithm>

namespace cudasim {
namespace {

const char* verb(Access kind) {
  switch (kind) {
    case Access::read: return "read of ";
    case Access::write: return "write of ";
    case Access::atomic: return "atomic operation on ";
  }
  return "";
}

std::string count(u64 n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

// An access while it is checked, with what a fault says of it. `size`: less than was asked for once last_word has cut
// it.
struct CheckedAccess {
  u32 lane;
  Space space;
  u64 address;
  u32 size;
  Access kind;
  bool tolerated = false;  // past the end, where a GPU has memory all the same

  Fault as_fault(FaultKind fault, std::string where, bool mapped) const {
    return Fault{.kind = fault,
                 .what = verb(kind) + count(size),
                 .space = space,
                 .address = address,
                 .size = size,
                 .lane = lane,
                 .where = std::move(where),
                 .mapped = mapped};
  }
  [[noreturn]] void fault(FaultKind fault, std::string where) const { throw as_fault(fault, std::move(where), false); }
  // Past the end of something: a finding where a GPU would let it pass, if that is wanted.
  void past_end(const Warp& warp, std::string where, bool mapped) {
    Fault fault = as_fault(FaultKind::illegal_address, std::move(where), mapped);
    if (!mapped || !hardware_bounds()) throw fault;
    tolerated = true;
    tell_tolerated(std::move(fault), warp);
  }
};

// Where [offset, offset + size) stands to `it`, which has `end` bytes.
std::string beyond(u64 offset, u32 size, u64 end, const std::string& it) {
  if (offset == end) return "just past the end of " + it;
  if (offset > end) return count(offset - end) + " past the end of " + it;
  return "partly outside, with " + count(offset + size - end) + " past the end of " + it;
}

// How far before the beginning of a space an address lies that an index below 0 has led to: downwards from 0, offsets
// go on at the highest of 32 or 64 bits. 0 if it is not such an address.
u64 below_zero(u64 offset) {
  const u64 narrow = (u64{1} << 32) - offset, wide = u64{0} - offset;
  return narrow - 1 < kSharedStride ? narrow : wide - 1 < kSharedStride ? wide : 0;
}

std::string before(u64 distance, const std::string& it) { return count(distance) + " before the beginning of " + it; }

std::string all_shared(const Block& block) { return "the block's " + count(block.shared_bytes) + " of shared memory"; }

std::string all_local(u32 limit) { return "the " + count(limit) + " of local memory that the thread uses now"; }

// A generic address just before the window of shared or local memory belongs to something else; told is what was meant.
void fault_if_before_a_window(const Warp& warp, CheckedAccess checked) {
  checked.space = Space::generic;
  const u64 shared = below_zero(checked.address - kSharedWindow), local = below_zero(checked.address - kLocalWindow);
  if (shared != 0 && warp.block->shared_bytes != 0)
    checked.fault(FaultKind::illegal_address, before(shared, all_shared(*warp.block)));
  if (local != 0) checked.fault(FaultKind::illegal_address, before(local, all_local(local_limit(warp, checked.lane))));
}

// The same of addresses just before those of a block's own shared memory, which are another block's, if it is there.
void fault_if_before_shared(const Block& block, const CheckedAccess& checked, u64 address, FaultKind kind) {
  const u64 below = below_zero(address - u64{block.rank} * kSharedStride);
  if (below != 0 && block.shared_bytes != 0 && address % kSharedStride >= block.shared_bytes)
    checked.fault(kind, before(below, all_shared(block)));
}

std::byte* in_shared(Warp& warp, CheckedAccess& checked, Space space, u64 address) {
  Block* block = warp.block;
  const u32 rank = shared_rank(address);
  if (rank != block->rank) {
    const auto& blocks = block->cluster->blocks;
    // The kinds of fault are those that an H200 reports.
    if (rank >= blocks.size()) {
      fault_if_before_shared(*block, checked, address, FaultKind::trap);
      fault_if_before_a_window(warp, checked);
      checked.fault(FaultKind::trap, "in the shared memory of a block that the cluster does not have");
    }
    if (space == Space::shared) {
      fault_if_before_shared(*block, checked, address, FaultKind::illegal_instruction);
      checked.fault(FaultKind::illegal_instruction,
                    "in the shared memory of another block of the cluster, which an "
                    "instruction for shared::cta memory cannot reach");
    }
    block = blocks[rank].get();
    if (block->live_threads == 0)
      checked.fault(FaultKind::trap, "in the shared memory of a block of the cluster that has ended");
  }
  address %= kSharedStride;
  if (const u64 offset = address - kReservedShared;
      block->grid->kernel.reserved_shared && offset < kSharedReserved && checked.size <= kSharedReserved - offset) {
    return block->shared + reserved_shared_at(block->shared_bytes) + offset;
  }
  if (address > block->shared_bytes || checked.size > block->shared_bytes - address) {
    const u64 mapped = mapped_shared(block->shared_bytes);
    checked.past_end(warp,
                     block->shared_bytes == 0 ? "in shared memory, but the kernel has none"
                                              : beyond(address, checked.size, block->shared_bytes, all_shared(*block)),
                     address <= mapped && checked.size <= mapped - address);
  }
  return block->shared + address;
}

std::byte* in_local(Warp& warp, const CheckedAccess& checked, u64 address) {
  const u32 limit = local_limit(warp, checked.lane);
  if (address > limit || checked.size > limit - address) {
    const u64 below = below_zero(address);
    checked.fault(FaultKind::illegal_address, below != 0 ? before(below, all_local(limit))
                                                         : beyond(address, checked.size, limit, all_local(limit)));
  }
  return warp.block->local(warp, checked.lane) + address;
}

std::byte* in_parameters(Warp& warp, const CheckedAccess& checked, u64 address) {
  const auto& parameters = warp.block->grid->launch.parameters;
  if (checked.kind != Access::read)
    checked.fault(FaultKind::illegal_address, "in the kernel's parameters, which are read-only");
  if (address > parameters.size() || checked.size > parameters.size() - address)
    checked.fault(FaultKind::illegal_address,
                  beyond(address, checked.size, parameters.size(), "the kernel's parameters"));
  return const_cast<std::byte*>(parameters.data()) + address;
}

// C libraries read strings a whole word at a time, the last one past the string's end. The rest of that word is there
// on a GPU, too, so in variables and on the device's heap it may be read; elsewhere an aligned read that is cut off is
// more likely a vector too many. Null if this is no such read.
std::byte* last_word(Warp& warp, CheckedAccess& checked) {
  if (checked.kind != Access::read || checked.size > 8 || checked.address % checked.size != 0) return nullptr;
  const auto a = AddressSpace::instance().find(checked.address);
  if (a == nullptr || a->context != warp.block->grid->launch.context) return nullptr;
  const bool variable = a->kind == MemoryKind::module_global || a->kind == MemoryKind::module_constant;
  if (!variable && !from_heap(*a)) return nullptr;
  checked.size = static_cast<u32>(a->base + a->size - checked.address);
  return a->host + (checked.address - a->base);
}

std::byte* in_global(Warp& warp, CheckedAccess& checked, View* cached) {
  if (cached != nullptr && checked.address >= cached->begin && checked.address < cached->end &&
      checked.size <= cached->end - checked.address && (checked.kind == Access::read || cached->writable))
    return reinterpret_cast<std::byte*>(checked.address + static_cast<u64>(cached->delta));
  AddressSpace& space = AddressSpace::instance();
  const u64 context = warp.block->grid->launch.context;
  const auto view = space.view(checked.address, checked.size, context);
  const bool allowed = view.has_value() && view->readable && (checked.kind == Access::read || view->writable);
  if (!allowed) {
    if (std::byte* word = last_word(warp, checked)) return word;
    const Space really = space_of(checked.address);
    fault_if_before_a_window(warp, checked);
    if (std::byte* at = space.in_last_page(checked.address, checked.size, context)) {
      checked.past_end(warp, space.describe(checked.address, checked.size, context), true);
      return at;
    }
    if (really == Space::global)
      checked.fault(FaultKind::illegal_address, space.describe(checked.address, checked.size, context));
    checked.fault(FaultKind::invalid_address_space,
                  std::string("a generic address of ") + name(really) +
                      " memory, which an instruction for global memory cannot reach: it may come from another kernel");
  }
  if (cached != nullptr) *cached = *view;
  return reinterpret_cast<std::byte*>(checked.address + static_cast<u64>(view->delta));
}

std::byte* find(Warp& warp, CheckedAccess& checked, Space space, u64 address, View* view) {
  switch (space) {
    case Space::shared:
    case Space::shared_cluster: return in_shared(warp, checked, space, address);
    case Space::local: return in_local(warp, checked, address);
    case Space::param: return in_parameters(warp, checked, address);
    default: return in_global(warp, checked, view);
  }
}

bool in_window(u64 address, u64 begin) { return address - begin < kWindowBytes; }

}  // namespace

Space space_of(u64 generic) {
  if (in_window(generic, kSharedWindow)) return Space::shared;
  if (in_window(generic, kLocalWindow)) return Space::local;
  if (in_window(generic, kParamWindow)) return Space::param;
  return Space::global;
}

u64 window(Space space) {
  switch (space) {
    case Space::shared:
    case Space::shared_cluster: return kSharedWindow;
    case Space::local: return kLocalWindow;
    case Space::param: return kParamWindow;
    default: return 0;
  }
}

u32 local_limit(const Warp& warp, u32 lane) {
  const Frame& frame = *warp.frame;
  const u32 end = frame.local_base + frame.code->local_bytes;
  return frame.tops.empty() ? end : std::max(end, frame.tops[lane]);
}

View& GridObserver::view_of(u64 address) {
  const u64 now = AddressSpace::instance().epoch();
  if (epoch_ != now) {
    epoch_ = now;
    for (View& view : views_) view = View();
  }
  // Allocations are at least 64 KiB apart.
  return views_[(address >> 16) % kViews];
}

std::byte* access(Warp& warp, u32 lane, Space space, u64 address, u32 size, u32 align, Access kind, View* view) {
  CheckedAccess checked{lane, space, address, size, kind};
  if (address % align != 0) {
    const Space really = space == Space::generic ? space_of(address) : space;
    const std::string where = "not a multiple of " + std::to_string(align);
    checked.fault(
        FaultKind::misaligned_address,
        really != Space::global && really != Space::constant
            ? where
            : where + "; " + AddressSpace::instance().describe(address, size, warp.block->grid->launch.context));
  }
  if (space == Space::generic) {
    checked.space = space_of(address);
    if (checked.space != Space::global) space = checked.space, address -= window(space);
    if (space == Space::shared) space = Space::shared_cluster;
  }
  if (warp.observer == nullptr || !warp.observer->wants_accesses()) return find(warp, checked, space, address, view);
  View& seen = warp.block->grid->observer->view_of(address);
  std::byte* at = find(warp, checked, space, address, &seen);
  if (!checked.tolerated) warp.observer->touch(lane, space, address, at, checked.size, kind);
  return at;
}

}  // namespace cudasim
