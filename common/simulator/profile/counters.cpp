#include "common/simulator/profile/counters.hpp"

#include "common/simulator/profile/traffic.hpp"

#include <algorithm>

namespace cudasim {
namespace {

using Accesses = std::vector<LaneAccess>;

// Lanes that touch several places are served in as many requests: f(accesses) for each.
template <class F>
void each_request(const Accesses& all, F f) {
  const auto in_order = [](const LaneAccess& a, const LaneAccess& b) { return a.lane >= b.lane; };
  if (std::adjacent_find(all.begin(), all.end(), in_order) == all.end()) return f(all);
  std::array<u32, kWarpSize> seen{};
  std::vector<Accesses> rounds;
  for (const LaneAccess& access : all) {
    const u32 round = seen[access.lane]++;
    if (round >= rounds.size()) rounds.emplace_back();
    rounds[round].push_back(access);
  }
  for (const Accesses& round : rounds) f(round);
}

// If all lanes change one place and none wants to know what was there, the compiler of a GPU lets one do it for all.
bool one_for_all(const Accesses& accesses, const Notes::Statement& statement) {
  const bool integer = bytes(statement.type) == 4 && !is_float(statement.type);
  return statement.quiet && integer && std::all_of(accesses.begin(), accesses.end(), [&](const LaneAccess& each) {
           return each.address == accesses[0].address;
         });
}

void count_global(GlobalCount& count, const Accesses& all, bool changes) {
  each_request(all, [&](const Accesses& accesses) {
    const GlobalCost cost = global_cost(accesses.data(), accesses.size(), changes);
    ++count.requests;
    count.sectors += cost.sectors;
    count.bytes += cost.bytes;
  });
}

// What each lane asks to be copied in bulk is a request of its own.
void count_bulk(GlobalCount& count, Accesses& all) {
  std::stable_sort(all.begin(), all.end(), [](const LaneAccess& a, const LaneAccess& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.address < b.address;
  });
  u64 next = 0;  // sector that the lane has not touched yet
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || all[i].lane != all[i - 1].lane) ++count.requests, next = 0;
    const u64 first = std::max(all[i].address / kSector, next), end = (all[i].address + all[i].size - 1) / kSector + 1;
    if (end > first) count.sectors += end - first, next = end;
    count.bytes += all[i].size;
  }
}

// The threads' local memories lie interleaved: word n of all lanes of a warp is one line.
void count_local(GlobalCount& count, const Accesses& all) {
  each_request(all, [&](const Accesses& accesses) {
    Accesses words;
    for (const LaneAccess& access : accesses) {
      for (u64 at = access.address; at < access.address + access.size; at = at / 4 * 4 + 4)
        words.push_back({access.lane, 1, at / 4 * 4 * kWarpSize + access.lane * 4});
      count.bytes += access.size;
    }
    count.sectors += global_cost(words.data(), words.size()).sectors;
    ++count.requests;
  });
}

void add_shared(SharedCount& count, const SharedCost& cost) {
  ++count.requests;
  count.wavefronts += cost.wavefronts;
  count.least += cost.least;
}

// Matrices come by rows of 16 bytes, eight of them at a time. Rows that are longer are so many columns of such rows.
void count_matrices(SharedCount& count, const Accesses& all) {
  constexpr u32 kRow = 16, kRows = 8;
  u32 longest = 0;
  for (const LaneAccess& access : all) longest = std::max(longest, access.size);
  Accesses rows;
  for (u32 column = 0; column < longest; column += kRow) {
    for (const LaneAccess& access : all) {
      if (column >= access.size) continue;
      const u32 row = static_cast<u32>(rows.size());
      rows.push_back({row / kRows * kRows % kWarpSize, std::min(kRow, access.size - column), access.address + column});
    }
  }
  if (rows.empty()) return;
  add_shared(count, shared_cost(rows.data(), rows.size(), SharedAccess::matrix));
}

}  // namespace

void GlobalCount::add(const GlobalCount& other) {
  requests += other.requests;
  sectors += other.sectors;
  bytes += other.bytes;
}

void SharedCount::add(const SharedCount& other) {
  requests += other.requests;
  wavefronts += other.wavefronts;
  least += other.least;
}

void KernelCount::add(const KernelCount& other) {
  launches += other.launches;
  warps += other.warps;
  lanes += other.lanes;
  for (u32 c = 0; c < kClasses; ++c) by_class[c] += other.by_class[c];
  branches += other.branches;
  parted += other.parted;
  loads.add(other.loads);
  stores.add(other.stores);
  atomics.add(other.atomics);
  reductions.add(other.reductions);
  copies.add(other.copies);
  textures.add(other.textures);
  local_loads.add(other.local_loads);
  local_stores.add(other.local_stores);
  shared_loads.add(other.shared_loads);
  shared_stores.add(other.shared_stores);
  shared_atomics.add(other.shared_atomics);
  bulk_loads.add(other.bulk_loads);
  bulk_stores.add(other.bulk_stores);
  barriers += other.barriers;
  operand_bytes += other.operand_bytes;
}

SiteCount& Counter::site(const Code& code, const Instruction& instruction) {
  if (last_ == nullptr || last_->code != &code) {
    last_ = &sites_[&code];
    last_->code = &code;
    last_->by_instruction.resize(code.instructions.size());
  }
  return last_->by_instruction[static_cast<std::size_t>(&instruction - code.instructions.data())];
}

void Counter::executed(const Code& code, const Instruction& instruction, u32 lanes, bool parted,
                       const std::vector<Touch>& touches) {
  SiteCount& count = site(code, instruction);
  ++count.warps;
  count.lanes += static_cast<u32>(__builtin_popcount(lanes));
  count.parted += parted;
  if (touches.empty() || code.notes == nullptr || instruction.statement >= code.notes->statements.size()) return;
  count_touches(count, code.notes->statements[instruction.statement], touches);
}

void count_touches(SiteCount& count, const Notes::Statement& statement, const std::vector<Touch>& touches) {
  Accesses global, shared, local, bulk;
  const bool matrix = statement.kind == Class::matrix;
  for (const Touch& touch : touches) {
    // What a thread asks to be copied in bulk goes past the paths that serve the warps.
    if (statement.kind == Class::memory_other && (touch.asynchronous || touch.size > 16)) {
      if (touch.space == Space::global)
        bulk.push_back({touch.lane, touch.size, touch.address}), count.kind = touch.kind;
      continue;
    }
    Accesses& accesses = touch.space == Space::shared ? shared : touch.space == Space::local ? local : global;
    accesses.push_back({touch.lane, touch.size, touch.address});
    if (statement.kind != Class::copy_async || touch.space == Space::global) count.kind = touch.kind;
  }
  if (!bulk.empty()) count_bulk(count.bulk, bulk);
  if (!global.empty() && matrix) {  // all lanes together ask for all rows
    const GlobalCost cost = global_cost(global.data(), global.size());
    count.global.add({1, cost.sectors, cost.bytes});
  } else if (!global.empty()) {
    count_global(count.global, global, count.kind == Access::atomic && !one_for_all(global, statement));
  }
  // Arguments of calls are in local memory here, and in registers on a GPU.
  const bool passed = statement.kind == Class::load_constant || statement.kind == Class::move;
  if (!local.empty() && !passed) count_local(count.local, local);
  // An mbarrier is in shared memory, but no load, store or atomic operation of the program.
  if (shared.empty() || statement.kind == Class::copy_async || statement.kind == Class::barrier) return;
  if (matrix) return count_matrices(count.shared, shared);
  const bool counted = (statement.quiet && statement.adds_one) || one_for_all(shared, statement);
  const SharedAccess access = count.kind == Access::atomic  ? (counted ? SharedAccess::counting : SharedAccess::atomic)
                              : count.kind == Access::write ? SharedAccess::store
                                                            : SharedAccess::load;
  each_request(shared, [&](const Accesses& of_it) {
    add_shared(count.shared, shared_cost(of_it.data(), of_it.size(), access));
  });
}

KernelCount Counter::sum() const {
  KernelCount sum;
  sum.launches = 1;
  for (const auto& [code, sites] : sites_) {
    const auto& statements = code->notes->statements;
    for (std::size_t i = 0; i < sites.by_instruction.size(); ++i) {
      const SiteCount& count = sites.by_instruction[i];
      const u32 index = code->instructions[i].statement;
      const bool known = index < statements.size();
      const Class kind = known ? statements[index].kind : Class::control;
      if (!known || statements[index].instruction == i) {
        sum.warps += count.warps;
        sum.lanes += count.lanes;
        sum.by_class[static_cast<u32>(kind)] += count.warps;
        if (known && statements[index].branches) sum.branches += count.warps, sum.parted += count.parted;
        if (known && statements[index].barrier) sum.barriers += count.warps;
        if (known) sum.operand_bytes += count.warps * statements[index].operand_bytes;
      }
      (count.kind == Access::read ? sum.bulk_loads : sum.bulk_stores).add(count.bulk);
      const auto by_kind = [&](auto& loads, auto& stores, auto& atomics) -> auto& {
        return count.kind == Access::read ? loads : count.kind == Access::write ? stores : atomics;
      };
      if (kind == Class::copy_async)
        sum.copies.add(count.global);
      else if (kind == Class::texture)
        sum.textures.add(count.global);
      else
        by_kind(sum.loads, sum.stores, known && statements[index].quiet ? sum.reductions : sum.atomics)
            .add(count.global);
      by_kind(sum.local_loads, sum.local_stores, sum.local_stores).add(count.local);
      by_kind(sum.shared_loads, sum.shared_stores, sum.shared_atomics).add(count.shared);
    }
  }
  return sum;
}

}  // namespace cudasim
