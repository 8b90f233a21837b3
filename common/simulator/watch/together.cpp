#include "common/simulator/watch/together.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/isa/memory.hpp"

#include <utility>

namespace cudasim {

bool Together::begins(Warp& warp, const Site& site, u32 mask) {
  const Instruction& i = *site.instruction;
  const StatementInfo& statement = site.code->statements[i.statement];
  const Way way = way_of(i.control);
  if (statement.element == 0 || (i.control & (kStrong | kAcquires | kReleases)) != 0) return false;
  if (way == Way::local || way == Way::parameter || way == Way::carefully) return false;
  const u32 elements = i.control & kElements;
  writes = statement.carries == Carries::stores;
  size = elements * statement.element;
  lanes = mask;
  return find(warp, i, i.slot[writes ? 0 : elements]);
}

bool Together::find(Warp& warp, const Instruction& i, Slot base) {
  Block& block = *warp.block;
  const Listed list(warp, i, base);
  const u64 first = list.address[first_lane(lanes)];
  const u64 own = kSharedWindow + block.shared_begin;
  u64 begin = base == kNoSlot ? 0 : block.shared_begin;
  shared = space_in(i) == Space::shared;
  if (space_in(i) == Space::generic && first - own < kSharedStride) shared = true, begin = own;
  const View* const view = shared ? nullptr : lend(i, block.grid->launch.context, first);
  if (!shared && (view == nullptr || (writes && !view->writable))) return false;
  const Region region = shared ? Region{begin, block.shared_bytes, 0} : Region{view->begin, view->end - view->begin, 0};
  if (!region.holds(first, size)) return false;

  const u64 last = region.size - size, low = size - 1;
  u64 outside = 0;
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    const u64 at = (lanes >> lane & 1) != 0 ? list.address[lane] : first;
    outside |= (at - region.begin > last ? 1 : 0) | (at & low);
    address[lane] = at;
  }
  if (outside != 0) return false;
  const u32 pairs = lanes & lanes << 1;
  follows = pairs & lanes_where([&](u32 lane) { return address[lane] - address[(lane - 1) % kWarpSize] == size; });
  repeats = pairs & lanes_where([&](u32 lane) { return address[lane] == address[(lane - 1) % kWarpSize]; });
  if (writes && !apart()) return false;
  if (!shared) {
    host = static_cast<u64>(view->delta);
  } else {
    host = reinterpret_cast<u64>(block.shared);
    for (u64& at : address) at -= begin;
  }
  if (writes) each_word([&](u32 word, u64 at) { before_[word] = at; });
  views_ = std::exchange(warp.views, lent_.data());
  block.quick_shared_bytes = block.shared_bytes;
  return true;
}

// What the executor may use for the instruction, if it contains the address.
const View* Together::lend(const Instruction& i, u64 context, u64 first) {
  AddressSpace& space = AddressSpace::instance();
  const u64 now = space.epoch();
  if (std::exchange(epoch_, now) != now) lent_.fill(View());
  View& view = lent_[reinterpret_cast<u64>(&i) / sizeof(Instruction) % kViews];
  if (first >= view.begin && first + size <= view.end) return &view;
  const auto found = space.view(first, size, context);
  if (!found || !found->readable) return nullptr;
  view = *found;
  return &view;
}

// Whether no two lanes have the same address.
bool Together::apart() const {
  if (row()) return true;
  bool ascending = lanes == kAllLanes;
  for (u32 lane = 1; lane < kWarpSize; ++lane) ascending &= address[lane - 1] < address[lane];
  if (ascending) return true;
  for (u32 rest = lanes; rest != 0; rest &= rest - 1) {
    const u64 mine = address[first_lane(rest)];
    const u32 same = lanes_where([&](u32 lane) { return address[lane] == mine; });
    if ((same & rest & (rest - 1)) != 0) return false;
  }
  return true;
}

// f(number, value) for each lane's first 8 bytes, and its last 8 if it has 16.
template <class F>
void Together::each_word(F f) const {
  for (const u32 lane : set_bits(lanes)) {
    const std::byte* const at = cudasim::at(host + address[lane]);
    switch (size) {
      case 1: f(lane, raw_load<u8>(at)); break;
      case 2: f(lane, raw_load<u16>(at)); break;
      case 4: f(lane, raw_load<u32>(at)); break;
      default:
        f(lane, raw_load<u64>(at));
        if (size == 16) f(kWarpSize + lane, raw_load<u64>(at + 8));
    }
  }
}

void Together::ended(Warp& warp) {
  warp.views = views_;
  warp.block->quick_shared_bytes = 0;
  silent = writes ? lanes : 0;
  if (writes) each_word([&](u32 word, u64 now) { silent &= ~(u32{before_[word] != now} << word % kWarpSize); });
}

void Together::list(Block& block, std::vector<Touch>& touches) const {
  for (const u32 lane : set_bits(lanes)) {
    Touch& touch = touches.emplace_back();
    touch.lane = lane;
    touch.kind = writes ? Access::write : Access::read;
    touch.space = shared ? Space::shared : Space::global;
    touch.silent = (silent >> lane & 1) != 0;
    touch.size = size;
    touch.address = address[lane];
    touch.owner = shared ? &block : nullptr;
    touch.at = at(host + address[lane]);
  }
}

}  // namespace cudasim
