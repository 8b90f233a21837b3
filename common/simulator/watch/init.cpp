#include "common/simulator/watch/init.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/wanted.hpp"
#include "common/simulator/watch/finding.hpp"
#include "common/simulator/watch/watch.hpp"

#include <optional>

namespace cudasim {
void memory_is_read(u64 address, u64 size, const char* by) {
  if (!checks().init) return;
  const std::optional<u64> missing = first_unwritten(address, size);
  if (!missing) return;
  const std::string lies = AddressSpace::instance().describe(*missing, 1);
  find("read of memory never written", "init " + plain_name(by) + lies.substr(lies.find("the ")),
       {{"access", plain_name(by) + " of " + std::to_string(size) + " bytes at " + hex(address)}, {"which is", lies}});
}

Written* GridReads::find(u64 address, u64& base) {
  const u64 now = tracked_generation();
  if (generation_ != now || address < last_.begin || address >= last_.end) {
    generation_ = now;
    last_ = tracked_at(address);
  }
  base = last_.begin;
  return last_.written.get();
}

// ---- Blocks

BlockReads::BlockReads(GridReads& grid, Block& block) : grid_(grid), block_(block) {}

void BlockReads::start() {
  if (shared_ == nullptr)
    shared_ = std::make_unique<Written>(block_.grid->stored_shared_bytes);
  else
    shared_->unset(0, block_.shared_bytes);
  if (block_.grid->kernel.reserved_shared) shared_->set(reserved_shared_at(block_.shared_bytes), kSharedReserved);
  for (auto& each : local_) each.reset();
  local_.resize(block_.grid->threads);
}

Written& BlockReads::local(u32 thread) {
  if (local_[thread] == nullptr) local_[thread] = std::make_unique<Written>(block_.grid->local_bytes);
  return *local_[thread];
}

void BlockReads::local_begins(const Warp& warp, u32 lanes, u32 offset, u32 size) {
  for (const u32 lane : set_bits(lanes)) {
    const u32 thread = warp.index * kWarpSize + lane;
    if (local_[thread] != nullptr) local_[thread]->unset(offset, size);
  }
}

void BlockReads::local_is_written(const Warp& warp, u32 lanes, u32 offset, u32 size) {
  for (const u32 lane : set_bits(lanes)) local(warp.index * kWarpSize + lane).set(offset, size);
}

// First what is read, then what is written: an instruction reads before it writes.
void BlockReads::touched(Warp& warp, const Site& site, const std::vector<Touch>& touches) {
  for (const Touch& touch : touches) {
    Written* written = nullptr;
    u64 offset = touch.address;
    if (touch.space == Space::shared) {
      written = Watch::of(*touch.owner).reads()->shared_.get();
    } else if (touch.space == Space::local) {
      written = &local(warp.index * kWarpSize + touch.lane);
    } else {
      u64 base = 0;
      written = grid_.find(touch.address, base);
      offset -= base;
    }
    if (written == nullptr) continue;
    if (touch.kind != Access::write) {
      const u64 missing = written->first_unwritten(offset, touch.size);
      if (missing < touch.size) report(warp, site, touch, missing);
    }
    if (touch.kind != Access::read) written->set(offset, touch.size);
  }
}

void BlockReads::report(Warp& warp, const Site& site, const Touch& touch, u64 missing) {
  const Grid& grid = *block_.grid;
  const std::string at = where(grid.program, site);
  const std::string key = "init " + at;
  const u64 address = touch.address + missing;
  const std::string place_name = name(touch.space);
  std::string lies;
  if (touch.space == Space::shared)
    lies = shared_name(grid, address);
  else if (touch.space == Space::local)
    lies = "at offset " + std::to_string(address) + " of the thread's local memory, in a variable of its own";
  else
    lies = AddressSpace::instance().describe(address, 1, grid.launch.context);
  const std::string what = touch.kind == Access::read ? "read of " : "atomic operation on ";
  find(grid, "read of memory never written", key,
       {{"at", at},
        {"thread", thread_name(grid, block_.number, warp.index * kWarpSize + touch.lane)},
        {"access", what + std::to_string(touch.size) + (touch.size == 1 ? " byte at " : " bytes at ") +
                       hex(touch.address) + " (" + place_name + ")"},
        {"which is", lies}});
}

}  // namespace cudasim
