// Asynchronous copies that have not completed.
#include "common/simulator/exec/async.hpp"

#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/raw.hpp"

#include <algorithm>

namespace cudasim {
namespace {

void store_bytes(std::byte* to, const std::byte* from, u32 size) {
  for (u32 at = 0; at + 4 <= size; at += 4) {
    u32 word;
    std::memcpy(&word, from + at, sizeof word);
    raw_store<u32>(to + at, word);
  }
}

}  // namespace

AsyncGroups::Thread& AsyncGroups::thread(const Warp& warp, u32 lane) {
  if (threads_.empty()) threads_.resize(warp.block->warps.size() * kWarpSize);
  return threads_[warp.index * kWarpSize + lane];
}

// The oldest `count` copies.
void AsyncGroups::complete(Thread& thread, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k)
    store_bytes(thread.copies[k].to, thread.copies[k].bytes, thread.copies[k].size);
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + static_cast<std::ptrdiff_t>(count));
  thread.done += count;
}

void AsyncGroups::copy(const Warp& warp, u32 lane, std::byte* to, const std::byte* bytes, u32 size) {
  Thread& t = thread(warp, lane);
  Copy& copy = t.copies.emplace_back();
  copy.to = to;
  copy.group = t.committed;
  copy.size = size;
  std::memcpy(copy.bytes, bytes, size);
  ++t.issued;
}

void AsyncGroups::commit(const Warp& warp) {
  for_lanes(warp.mask, [&](u32 lane) { ++thread(warp, lane).committed; });
}

void AsyncGroups::wait(const Warp& warp, u32 left) {
  if (threads_.empty()) return;
  for (const u32 lane : set_bits(warp.mask)) {
    Thread& t = thread(warp, lane);
    const u64 end = t.committed > left ? t.committed - left : 0;
    std::size_t count = 0;
    while (count < t.copies.size() && t.copies[count].group < end) ++count;
    complete(t, count);
  }
}

void AsyncGroups::wait_all(const Warp& warp) {
  if (threads_.empty()) return;
  for (const u32 lane : set_bits(warp.mask)) {
    Thread& t = thread(warp, lane);
    complete(t, t.copies.size());
  }
}

Completion AsyncGroups::everything_before(const Warp& warp, u32 lane) {
  const u64 end = thread(warp, lane).issued;
  return [this, index = warp.index * kWarpSize + lane, end] {
    Thread& t = threads_[index];
    if (t.done < end) complete(t, static_cast<std::size_t>(end - t.done));
  };
}

void AsyncGroups::Queue::complete_all_but(u64 left) {
  const u64 end = committed > left ? committed - left : 0;
  std::size_t count = 0;
  for (; count < waiting.size() && waiting[count].first < end; ++count) waiting[count].second();
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
}

void AsyncGroups::bulk(const Warp& warp, u32 lane, Completion copy) { thread(warp, lane).bulk.add(std::move(copy)); }

void AsyncGroups::commit_bulk(const Warp& warp) {
  for_lanes(warp.mask, [&](u32 lane) { ++thread(warp, lane).bulk.committed; });
}

void AsyncGroups::wait_bulk(const Warp& warp, u32 lane, u32 left) {
  if (!threads_.empty()) thread(warp, lane).bulk.complete_all_but(left);
}

void AsyncGroups::multiply(const Warp& warp, Completion product) { thread(warp, 0).products.add(std::move(product)); }

void AsyncGroups::commit_products(const Warp& warp) { ++thread(warp, 0).products.committed; }

void AsyncGroups::wait_for_products(const Warp& warp, u32 left) { thread(warp, 0).products.complete_all_but(left); }

void AsyncGroups::start() {
  if (!threads_.empty()) threads_.assign(threads_.size(), Thread());
}

void AsyncGroups::end() {
  for (Thread& t : threads_) {
    for (const auto& [group, copy] : t.bulk.waiting) copy();
    t.bulk.waiting.clear();
  }
}

void AsyncSignals::settle_some(const std::byte* barrier) {
  const auto others =
      std::stable_partition(waiting_.begin(), waiting_.end(), [=](const Entry& e) { return e.barrier != barrier; });
  std::vector<Entry> due(std::make_move_iterator(others), std::make_move_iterator(waiting_.end()));
  waiting_.erase(others, waiting_.end());
  for (const Entry& entry : due) entry.completion();
}

}  // namespace cudasim
