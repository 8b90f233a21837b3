#include "common/simulator/watch/watch.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/order.hpp"
#include "common/simulator/wanted.hpp"
#include "common/simulator/watch/launches.hpp"
#include "common/simulator/watch/variables.hpp"

#include <cstring>

namespace cudasim {

std::unique_ptr<GridObserver> watch_grid(Grid& grid) {
  const Checks& wanted = checks();
  if (!wanted.memory && !wanted.race && !wanted.init && !wanted.sync && !notes_wanted()) return nullptr;
  auto watch = std::make_unique<GridWatch>(grid);
  const bool needed =
      watch->variables || watch->races != nullptr || watch->reads != nullptr || watch->sync || watch->sight != nullptr;
  return needed ? std::move(watch) : nullptr;
}

GridWatch::GridWatch(Grid& grid)
    : variables(checks().memory && !grid.kernel.shared_variables.empty()), sync(checks().sync), sight(Sight::of(grid)) {
  if (checks().race) races = std::make_shared<GridRaces>(grid);
  // Copies and fills of the device runtime report what they have read and written when they have run.
  if (checks().init && !grid.kernel.name.starts_with(kRuntimeKernels)) reads = std::make_unique<GridReads>(grid);
}

GridWatch::~GridWatch() {
  if (races == nullptr) return;
  races->report_doubts();
  launches_left(*races);
}

std::unique_ptr<BlockObserver> GridWatch::observe(Block& block) { return std::make_unique<Watch>(*this, block); }

Watch::Watch(GridWatch& grid, Block& block) : grid_(grid), block_(block) {
  if (grid.races != nullptr) races_ = std::make_unique<BlockRaces>(*grid.races, block);
  if (grid.reads != nullptr) reads_ = std::make_unique<BlockReads>(*grid.reads, block);
  if (grid.sync) sync_ = std::make_unique<BlockSync>(block);
}

void Watch::start() {
  touches_.clear();
  asynchronous_ = is_together_ = false;
  sight_ = grid_.sight != nullptr && grid_.sight->sees(block_) ? grid_.sight.get() : nullptr;
  wants_accesses_ = grid_.variables || races_ != nullptr || reads_ != nullptr || sight_ != nullptr;
  if (races_ != nullptr) races_->start();
  if (reads_ != nullptr) reads_->start();
  if (sync_ != nullptr) sync_->start();
}

// ---- Memory

namespace {

Block* owner_of(Block& block, const std::byte* at) {
  if (block.cluster->blocks.size() == 1) return &block;
  for (const auto& each : block.cluster->blocks) {
    if (at >= each->shared && at < each->shared + each->grid->stored_shared_bytes) return each.get();
  }
  return &block;
}

// Keeps what a write overwrites. Other threads of the kernel may write there at the same time.
void keep(std::byte* to, const std::byte* from, u32 size) {
  const auto by = [&](auto word) {
    for (u32 at = 0; at < size; at += sizeof word) {
      word = raw_load<decltype(word)>(from + at);
      std::memcpy(to + at, &word, sizeof word);
    }
  };
  if (size == 4) return by(u32{});
  if (size % 8 == 0) return by(u64{});
  by(u8{});
}
bool same(const std::byte* before, const std::byte* at, u32 size) {
  std::byte now[Touch::kKept];
  keep(now, at, size);
  return std::memcmp(before, now, size) == 0;
}

}  // namespace

void Watch::touch(u32 lane, Space space, u64 address, std::byte* at, u32 size, Access kind) {
  if (space == Space::param || space == Space::constant || is_together_) return;
  Touch& touch = touches_.emplace_back();
  touch.lane = lane;
  touch.kind = kind;
  touch.address = address;
  touch.size = size;
  touch.at = at;
  touch.asynchronous = asynchronous_;
  if (space == Space::shared || space == Space::shared_cluster) {
    touch.space = Space::shared;
    touch.owner = owner_of(block_, at);
    touch.address = static_cast<u64>(at - touch.owner->shared);
  } else if (space == Space::local) {
    touch.space = Space::local;
  }
  if (races_ != nullptr && kind == Access::write && size <= Touch::kKept) keep(touch.before, at, size);
}

void Watch::begins(Warp& warp, const Code& code, const Instruction& instruction, u32 mask) {
  if (sight_ != nullptr) sight_->begin(warp, code, instruction, mask);
  if (reads_ != nullptr && reads_->holds()) reads_->begins(warp, {&code, &instruction}, mask);
  is_together_ = mask != 0 && sight_ == nullptr && together_.begins(warp, {&code, &instruction}, mask);
}

void Watch::failed(Warp& warp, const Fault& fault) {
  if (sight_ != nullptr) sight_->fault(warp, fault);
}

void Watch::executed(Warp& warp, const Code& code, const Instruction& instruction, u32 mask) {
  if (sight_ != nullptr) sight_->end(warp, touches_);
  if (mask == 0) return;
  if (reads_ != nullptr && reads_->holds()) reads_->carried(warp, {&code, &instruction});
  if (is_together_) hand_on_together(warp, {&code, &instruction});
  if (!touches_.empty()) hand_on(warp, {&code, &instruction});
  if (reads_ != nullptr) reads_->ended();
  asynchronous_ = false;
}

// Most of them in one step; what needs a closer look, lane by lane.
void Watch::hand_on_together(Warp& warp, const Site& site) {
  is_together_ = false;
  together_.ended(warp);
  const bool variables = grid_.variables && together_.shared;
  const bool read = reads_ == nullptr || reads_->touched(together_);
  const bool raced = races_ == nullptr || races_->touched(warp, site, together_);
  if (!variables && read && raced) return;
  together_.list(block_, touches_);
  if (variables) check_variables(warp, site, touches_);
  if (!read) reads_->touched(warp, site, touches_);
  if (!raced) races_->touched(warp, site, touches_);
  touches_.clear();
}

void Watch::hand_on(Warp& warp, const Site& site) {
  for (Touch& t : touches_)
    t.silent = races_ != nullptr && t.kind == Access::write && t.size <= Touch::kKept && same(t.before, t.at, t.size);
  if (grid_.variables) check_variables(warp, site, touches_);
  if (reads_ != nullptr) reads_->touched(warp, site, touches_);
  if (races_ != nullptr) races_->touched(warp, site, touches_);
  touches_.clear();
}

void Watch::local_is_new(const Warp& warp, u32 offset, u32 size) {
  if (reads_ != nullptr) reads_->local_is_new(warp, offset, size);
}
void Watch::frame_is_new(const Frame& frame) {
  if (reads_ != nullptr) reads_->frame_is_new(frame);
}
void Watch::passed(const Warp& warp, const Passed& to, const Passed& from, u32 size) {
  if (reads_ != nullptr) reads_->passed(warp, to, from, size);
}
void Watch::local_is_written(const Warp& warp, u32 lane, u32 offset, u32 size) {
  if (reads_ != nullptr) reads_->local_is_written(warp, lane, offset, size);
}

// ---- Synchronization

void Watch::arrive(Warp& warp, const Instruction& at, u32 id, u32 count) {
  if (sync_ != nullptr) sync_->arrive(warp, {warp.frame->code, &at}, id, count);
  if (races_ != nullptr) races_->arrive(warp, warp.mask, id);
  if (sight_ != nullptr) sight_->arrive(warp, id);
}

void Watch::open(u32 id) {
  if (sync_ != nullptr) sync_->open(id);
  if (races_ != nullptr) races_->open(id);
  if (sight_ != nullptr) sight_->open(block_, id);
}

void Watch::meet(Warp& warp, const Instruction& at, const u32* members) {
  if (sync_ != nullptr) sync_->meet(warp, {warp.frame->code, &at}, members);
  if (races_ == nullptr) return;
  for (u32 rest = warp.mask; rest != 0;) {
    const u32 mask = members[first_lane(rest)];
    const u32 group = lanes_where(rest, [&](u32 lane) { return members[lane] == mask; });
    rest &= ~group;
    races_->meet(warp, group);
  }
}

void Watch::come(Warp& warp, const Instruction& at, const u32* members) {
  if (sync_ != nullptr) sync_->come(warp, {warp.frame->code, &at}, members);
}
void Watch::met(Warp& warp, u32 lanes) {
  if (races_ != nullptr) races_->meet(warp, lanes);
}

void Watch::fence(Warp& warp, const Instruction& at) {
  if (races_ != nullptr) races_->fence(warp, (at.control & kBlockScope) != 0);
}

void Watch::cluster_arrive(Warp& warp) {
  if (races_ != nullptr) races_->cluster_arrive(warp, warp.mask);
}
void Watch::cluster_open() {
  if (races_ != nullptr) races_->cluster_open();
}

void Watch::release(Warp& warp, u32 lane, std::byte* at) {
  if (races_ == nullptr) return;
  Block* owner = owner_of(block_, at);
  races_->release(warp, lane, static_cast<u64>(at - owner->shared), *owner, false);
}
void Watch::acquire(Warp& warp, u32 lane, std::byte* at) {
  if (races_ == nullptr) return;
  Block* owner = owner_of(block_, at);
  races_->acquire(warp, lane, static_cast<u64>(at - owner->shared), *owner);
}
void Watch::release_copies(Warp& warp, u32 lane, std::byte* at) {
  if (races_ == nullptr) return;
  // The copies of this very instruction are among them.
  hand_on(warp, {warp.frame->code, &warp.frame->code->instructions[warp.pc - 1]});
  Block* owner = owner_of(block_, at);
  races_->release(warp, lane, static_cast<u64>(at - owner->shared), *owner, true);
}

void Watch::commit(Warp& warp, bool bulk) {
  if (races_ != nullptr) races_->commit(warp, warp.mask, bulk);
}
void Watch::wait(Warp& warp, u32 lane, u32 pending, bool bulk) {
  if (races_ != nullptr) races_->wait(warp, lane, pending, bulk);
}
void Watch::wait_all(Warp& warp) {
  if (races_ != nullptr) races_->wait_all(warp, warp.mask);
}

}  // namespace cudasim
