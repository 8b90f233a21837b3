// Asynchronous copies and the barriers that count them. PTX ISA, "Data Movement and Conversion Instructions:
// Asynchronous copy", "mbarrier", "st.async", "red.async".
//
// A copy into shared memory reads its source at once and writes when a thread waits for it. A copy out of shared memory
// also reads only then (exec/async.hpp).
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/bulk.hpp"

#include <algorithm>

namespace cudasim {
namespace {

constexpr u32 kIgnore = 1u << 15;  // of cp.async, see bulk.hpp

[[noreturn]] void refuse(u32 lane, std::string what) {
  throw Fault{.kind = FaultKind::illegal_instruction, .what = std::move(what), .lane = lane};
}

// Not in the manual: on an H200 these are an error in a grid that was not launched with clusters.
template <Handler run>
void with_clusters(Warp& warp, const Instruction& i) {
  if (!warp.block->grid->explicit_cluster)
    refuse(u32(std::countr_zero(warp.mask)),
           "sending bytes to shared::cluster memory in a launch without clusters; one block a cluster is enough: "
           ".reqnctapercluster 1, 1, 1");
  run(warp, i);
}

// ---- mbarrier: 64 opaque bits in shared memory

class Phases {
 public:
  static constexpr u32 kMost = (1u << 20) - 1;  // arrivals; transactions: plus or minus

  explicit Phases(u64 bits)
      : pending(static_cast<u32>(bits & kMost)),
        expected(static_cast<u32>(bits >> 20 & kMost)),
        transactions(static_cast<i32>(static_cast<i64>(bits << 1) >> 41)),
        phase(static_cast<u32>(bits >> 63)) {}
  u64 bits() const {
    return u64{pending} | u64{expected} << 20 | (static_cast<u64>(i64{transactions}) & 0x7f'ffff) << 40 |
           u64{phase} << 63;
  }
  // The phase ends with the last arrival and the last transaction; the next begins at once.
  void complete_if_due() {
    if (pending != 0 || transactions != 0) return;
    phase ^= 1;
    pending = expected;
  }

  u32 pending, expected;
  i32 transactions;
  u32 phase;
};

std::byte* object(Warp& warp, u32 lane, Space space, u64 address, Access kind = Access::atomic) {
  const Space really = space == Space::generic ? space_of(address) : space;
  if (really != Space::shared && really != Space::shared_cluster)
    refuse(lane, "an mbarrier that is not in shared memory");
  return access(warp, lane, space, address, 8, 8, kind, nullptr);
}

// f(phases) changes the object at memory operand `n`, and where it lies comes back.
template <class F>
std::byte* change(Warp& warp, const Instruction& i, u32 n, Slot slot, u32 lane, F f, Access kind = Access::atomic) {
  std::byte* at = object(warp, lane, space_of_operand(i, n), operand_address(warp, i, n, slot, lane), kind);
  Phases phases(raw_load<u64>(at));
  f(phases);
  raw_store<u64>(at, phases.bits());
  return at;
}

void transactions(Phases& phases, u32 lane, i64 more) {
  const i64 sum = phases.transactions + more;
  if (sum > Phases::kMost || sum < -i64{Phases::kMost}) refuse(lane, "an mbarrier's transaction count out of range");
  phases.transactions = static_cast<i32>(sum);
}

void arrive(Phases& phases, u32 lane, u32 count) {
  if (count == 0 || count > phases.pending) {
    const char* why = phases.expected == 0
                          ? ": it has not been initialized, has been invalidated, or every thread has dropped out of it"
                          : "";
    refuse(lane, "mbarrier.arrive of " + std::to_string(count) + ", where " + std::to_string(phases.pending) +
                     " arrivals are pending" + why);
  }
  phases.pending -= count;
}

void run_init(Warp& warp, const Instruction& i) {
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 count = warp.in<u32>(i.slot[1])[lane];
    if (count == 0 || count > Phases::kMost) refuse(lane, "mbarrier.init with a count of " + std::to_string(count));
    change(warp, i, 0, i.slot[0], lane, [&](Phases& p) { p = Phases(u64{count} | u64{count} << 20); }, Access::write);
  }
  warp.polls = 0;
}

void run_invalidate(Warp& warp, const Instruction& i) {
  for (const u32 lane : set_bits(warp.mask)) {
    change(warp, i, 0, i.slot[0], lane, [](Phases& p) { p = Phases(0); }, Access::write);
  }
}

template <bool kComplete>
void run_transactions(Warp& warp, const Instruction& i) {
  for (const u32 lane : set_bits(warp.mask)) {
    const i64 count = warp.in<u32>(i.slot[1])[lane];
    change(warp, i, 0, i.slot[0], lane, [&](Phases& p) {
      transactions(p, lane, kComplete ? -count : count);
      if (kComplete) p.complete_if_due();
    });
  }
  warp.polls = 0;
}

constexpr u32 kDrop = 1u << kFlags;
constexpr u32 kExpect = 2u << kFlags;  // the third operand is a transaction count

// state, [a] [, count]. The state is the object's before the arrival: its phase is what test_wait asks for.
void run_arrive(Warp& warp, const Instruction& i) {
  raw_fence_release();
  for (const u32 lane : set_bits(warp.mask)) {
    const bool expect = (i.control & kExpect) != 0;
    const u32 operand = i.slot[2] == kNoSlot ? 1 : warp.in<u32>(i.slot[2])[lane];
    std::byte* at = change(warp, i, 0, i.slot[1], lane, [&](Phases& p) {
      const u64 state = p.bits();
      if (expect) transactions(p, lane, operand);
      const u32 count = expect ? 1 : operand;
      arrive(p, lane, count);
      if ((i.control & kDrop) != 0) p.expected -= std::min(count, p.expected);
      p.complete_if_due();
      if (i.slot[0] != kNoSlot) warp.out<u64>(i.slot[0])[lane] = state;
    });
    if (warp.observer != nullptr) warp.observer->release(warp, lane, at);
  }
  warp.polls = 0;
}

constexpr u32 kParity = 1u << kFlags;
constexpr u32 kTry = 2u << kFlags;  // it may put the thread to sleep for a while

// d, [a], state (64 bits) or parity (32 bits) [, time]
void run_test(Warp& warp, const Instruction& i) {
  u32 complete = 0;
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 asked = (i.control & kParity) != 0 ? warp.in<u32>(i.slot[2])[lane] & 1
                                                 : static_cast<u32>(warp.in<u64>(i.slot[2])[lane] >> 63);
    std::byte* at = object(warp, lane, space_of_operand(i, 0), operand_address(warp, i, 0, i.slot[1], lane));
    warp.block->cluster->signals.settle(at);
    complete |= u32{Phases(raw_load<u64>(at)).phase != asked} << lane;
    if (warp.observer != nullptr && (complete >> lane & 1) != 0) warp.observer->acquire(warp, lane, at);
  }
  raw_fence_acquire();
  const u32 incomplete = warp.mask & ~complete;
  warp.set_predicate(i.slot[0], complete);
  if (incomplete == 0) return;
  if ((i.control & kTry) != 0)
    warp.rest();
  else
    warp.poll();
}

void run_pending_count(Warp& warp, const Instruction& i) {
  u32* d = warp.out<u32>(i.slot[0]);
  const u64* state = warp.in<u64>(i.slot[1]);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = static_cast<u32>(state[lane] & Phases::kMost); });
}

// ---- Copies

// cp.async [to], [from], size [, bytes of them to read, or a predicate to read none; the rest is zero]
void run_copy(Warp& warp, const Instruction& i) {
  if (warp.observer != nullptr) warp.observer->asynchronous();
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 size = warp.in<u32>(i.slot[2])[lane];
    if (size != 4 && size != 8 && size != 16) refuse(lane, "cp.async of " + std::to_string(size) + " bytes");
    u32 wanted = size;
    if (i.slot[3] != kNoSlot) {
      const bool ignore = (i.control & kIgnore) != 0;
      wanted = ignore ? (warp.predicate(i.slot[3]) >> lane & 1 ? 0 : size) : warp.in<u32>(i.slot[3])[lane];
    }
    if (wanted > size) refuse(lane, "cp.async that reads more bytes than it writes");
    std::byte* to = access(warp, lane, space_of_operand(i, 0), operand_address(warp, i, 0, i.slot[0], lane), size, size,
                           Access::write, nullptr);
    std::byte bytes[AsyncGroups::kMostBytes] = {};
    if (wanted != 0) {
      copy_bytes(bytes,
                 access(warp, lane, space_of_operand(i, 1), operand_address(warp, i, 1, i.slot[1], lane), wanted, size,
                        Access::read, &view_of(warp, i)),
                 wanted);
    }
    warp.block->async.copy(warp, lane, to, bytes, size);
  }
  warp.polls = 0;
}

void run_nothing(Warp&, const Instruction&) {}
void run_commit(Warp& warp, const Instruction&) {
  warp.block->async.commit(warp);
  if (warp.observer != nullptr) warp.observer->commit(warp, false);
}
void run_wait_all(Warp& warp, const Instruction&) {
  warp.block->async.wait_all(warp);
  if (warp.observer != nullptr) warp.observer->wait_all(warp);
}
void run_wait(Warp& warp, const Instruction& i) {
  const u32* left = warp.in<u32>(i.slot[0]);
  warp.block->async.wait(warp, left[first_lane(warp.mask)]);
  if (warp.observer == nullptr) return;
  for (const u32 lane : set_bits(warp.mask)) warp.observer->wait(warp, lane, left[lane], false);
}

// When the copies before it have completed, it arrives; without .noinc it first makes room for the arrival.
constexpr u32 kNoIncrement = 1u << kFlags;
void run_copy_arrive(Warp& warp, const Instruction& i) {
  for (const u32 lane : set_bits(warp.mask)) {
    std::byte* at = object(warp, lane, space_of_operand(i, 0), operand_address(warp, i, 0, i.slot[0], lane));
    Phases now(raw_load<u64>(at));
    if ((i.control & kNoIncrement) == 0) {
      if (now.pending == Phases::kMost) refuse(lane, "an mbarrier with more arrivals than it can count");
      ++now.pending;
      raw_store<u64>(at, now.bits());
    } else if (now.pending == 0) {
      refuse(lane, "cp.async.mbarrier.arrive.noinc, where no arrivals are pending");
    }
    warp.block->cluster->signals.add(at, [at, copies = warp.block->async.everything_before(warp, lane)] {
      copies();
      Phases p(raw_load<u64>(at));
      if (p.pending != 0) --p.pending;
      p.complete_if_due();
      raw_store<u64>(at, p.bits());
    });
    if (warp.observer != nullptr) warp.observer->release_copies(warp, lane, at);
  }
  warp.polls = 0;
}

void check_bulk(u32 lane, u32 size) {
  if (size % 16 != 0) refuse(lane, "a bulk copy of " + std::to_string(size) + " bytes: not a multiple of 16");
}

// `bytes` of a transaction have arrived at an mbarrier.
void count_bytes(std::byte* barrier, u32 bytes) {
  Phases p(raw_load<u64>(barrier));
  p.transactions -= static_cast<i32>(bytes);
  p.complete_if_due();
  raw_store<u64>(barrier, p.bits());
}
void deliver_bytes(Warp& warp, u32 lane, std::byte* barrier, std::byte* to, std::vector<std::byte> bytes) {
  const u32 size = static_cast<u32>(bytes.size());
  deliver(warp, lane, barrier, size, [to, bytes = std::move(bytes)] { copy_bytes(to, bytes.data(), bytes.size()); });
}

// [to], [from], size, [mbarrier]: three memory operands. With a mask, for each block of the cluster that it names, at
// the same offset in its shared memory.
template <bool kMulticast>
void run_bulk_to_shared(Warp& warp, const Instruction& i) {
  if (warp.observer != nullptr) warp.observer->asynchronous();
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 size = warp.in<u32>(i.slot[2])[lane];
    check_bulk(lane, size);
    std::vector<std::byte> bytes(size);
    if (size != 0) {
      copy_bytes(bytes.data(),
                 access(warp, lane, space_of_operand(i, 1), operand_address(warp, i, 1, i.slot[1], lane), size, 16,
                        Access::read, nullptr),
                 size);
    }
    const u64 to = operand_address(warp, i, 0, i.slot[0], lane), barrier = operand_address(warp, i, 2, i.slot[3], lane);
    const auto send = [&](Space space, u64 to, Space barrier_space, u64 barrier) {
      std::byte* place = size == 0 ? nullptr : access(warp, lane, space, to, size, 16, Access::write, nullptr);
      deliver_bytes(warp, lane, object(warp, lane, barrier_space, barrier), place, bytes);
    };
    if constexpr (kMulticast) {
      for (const u32 rank : set_bits(warp.in<u16>(i.slot[4])[lane])) {
        const u64 block = u64{rank} * kSharedStride;
        send(Space::shared_cluster, block + to % kSharedStride, Space::shared_cluster, block + barrier % kSharedStride);
      }
    } else {
      send(space_of_operand(i, 0), to, space_of_operand(i, 2), barrier);
    }
  }
  warp.polls = 0;
}

// [to], [from], size: bulk operations that a group waits for, without an mbarrier; perform(to, from, size) is what
// happens in the end.
template <class Perform>
void run_in_bulk_group(Warp& warp, const Instruction& i, Access to_access, Perform perform) {
  if (warp.observer != nullptr) warp.observer->asynchronous();
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 size = warp.in<u32>(i.slot[2])[lane];
    check_bulk(lane, size);
    if (size == 0) continue;
    std::byte* to = access(warp, lane, space_of_operand(i, 0), operand_address(warp, i, 0, i.slot[0], lane), size, 16,
                           to_access, nullptr);
    const std::byte* from = access(warp, lane, space_of_operand(i, 1), operand_address(warp, i, 1, i.slot[1], lane),
                                   size, 16, Access::read, nullptr);
    warp.block->async.bulk(warp, lane, [=] { perform(to, from, size); });
  }
  warp.polls = 0;
}

void run_bulk_to_global(Warp& warp, const Instruction& i) {
  run_in_bulk_group(warp, i, Access::write,
                    [](std::byte* to, const std::byte* from, u32 size) { copy_bytes(to, from, size); });
}

// cp.reduce.async.bulk [to], [from], size
void run_bulk_reduction(Warp& warp, const Instruction& i) {
  const auto operation = static_cast<BulkReduction>(i.control >> kFlags & 7);
  const auto type = static_cast<Type>(i.control >> (kFlags + 3) & 0xff);
  run_in_bulk_group(warp, i, Access::atomic, [=](std::byte* to, const std::byte* from, u32 size) {
    reduce_bytes(operation, type, to, from, size);
  });
}

// [to], [from], size, [mbarrier]: into the shared memory of a block of the cluster.
void run_bulk_reduction_in_cluster(Warp& warp, const Instruction& i) {
  if (warp.observer != nullptr) warp.observer->asynchronous();
  const auto operation = static_cast<BulkReduction>(i.control >> kFlags & 7);
  const auto type = static_cast<Type>(i.control >> (kFlags + 3) & 0xff);
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 size = warp.in<u32>(i.slot[2])[lane];
    check_bulk(lane, size);
    std::byte* to = size == 0 ? nullptr
                              : access(warp, lane, space_of_operand(i, 0), operand_address(warp, i, 0, i.slot[0], lane),
                                       size, 16, Access::atomic, nullptr);
    std::vector<std::byte> bytes(size);
    if (size != 0) {
      copy_bytes(bytes.data(),
                 access(warp, lane, space_of_operand(i, 1), operand_address(warp, i, 1, i.slot[1], lane), size, 16,
                        Access::read, nullptr),
                 size);
    }
    std::byte* barrier = object(warp, lane, space_of_operand(i, 2), operand_address(warp, i, 2, i.slot[3], lane));
    deliver(warp, lane, barrier, size,
            [=, bytes = std::move(bytes)] { reduce_bytes(operation, type, to, bytes.data(), bytes.size()); });
  }
  warp.polls = 0;
}
void run_commit_bulk(Warp& warp, const Instruction&) {
  warp.block->async.commit_bulk(warp);
  if (warp.observer != nullptr) warp.observer->commit(warp, true);
}
void run_wait_bulk(Warp& warp, const Instruction& i) {
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 left = warp.in<u32>(i.slot[0])[lane];
    warp.block->async.wait_bulk(warp, lane, left);
    if (warp.observer != nullptr) warp.observer->wait(warp, lane, left, true);
  }
}

// st.async [to], values, [mbarrier]
template <class T>
void run_store_async(Warp& warp, const Instruction& i) {
  const u32 elements = i.control >> kFlags & 7, size = elements * sizeof(T);
  const auto slot = [&](u32 n) { return i.wide != nullptr ? i.wide[n] : i.slot[n]; };
  if (warp.observer != nullptr) warp.observer->asynchronous();
  for (const u32 lane : set_bits(warp.mask)) {
    std::byte* to = access(warp, lane, Space::shared_cluster, operand_address(warp, i, 0, slot(0), lane), size, size,
                           Access::write, nullptr);
    std::vector<std::byte> bytes(size);
    for (u32 e = 0; e < elements; ++e) raw_store<T>(bytes.data() + e * sizeof(T), warp.in<T>(slot(1 + e))[lane]);
    deliver_bytes(warp, lane,
                  object(warp, lane, space_of_operand(i, 1), operand_address(warp, i, 1, slot(1 + elements), lane)), to,
                  std::move(bytes));
  }
  warp.polls = 0;
}

Space shared_space(const Form& form) {
  if (form.has("shared::cluster")) return Space::shared_cluster;
  return form.has("shared") || form.has("shared::cta") ? Space::shared : Space::generic;
}

u32 barrier_control(const Form& form, u32 operand) { return operand_control(shared_space(form), form.width[operand]); }

template <Handler run>
Bound bind_barrier(const Form& form) {
  return {run, barrier_control(form, 0)};
}

template <u32 kMore>
Bound bind_arrive(const Form& form) {
  return {run_arrive, barrier_control(form, 1) | kMore};
}

template <u32 kMore>
Bound bind_test(const Form& form) {
  return {run_test, barrier_control(form, 1) | kMore};
}

Bound bind_copy(const Form& form) {
  const u32 ignore = form.predicate >> 3 & 1 ? kIgnore : 0;
  return {run_copy, ignore | operand_control(Space::shared, form.width[0]) |
                        operand_control(Space::global, form.width[1]) << kOperandBits};
}

Bound bind_copy_arrive(const Form& form) {
  return {run_copy_arrive, barrier_control(form, 0) | (form.has("noinc") ? kNoIncrement : 0)};
}

// Modifiers may come in any order, but only one way round has rows: into shared::cluster (or the block's own) from
// global or shared::cta memory.
template <Handler run>
Bound bind_bulk_to_shared(const Form& form) {
  const Space from = form.has("global") ? Space::global : Space::shared;
  const Space to = form.has("shared::cluster") ? Space::shared_cluster : Space::shared;
  return {run, operand_control(to, form.width[0]) | operand_control(from, form.width[1]) << kOperandBits |
                   operand_control(to, form.width[3]) << (2 * kOperandBits)};
}

Bound bind_bulk_to_global(const Form& form) {
  return {run_bulk_to_global, operand_control(Space::global, form.width[0]) |
                                  operand_control(Space::shared, form.width[1]) << kOperandBits};
}

u32 reduction_control(const Form& form) {
  return static_cast<u32>(bulk_reduction(form)) << kFlags | static_cast<u32>(form.type[0]) << (kFlags + 3);
}
Bound bind_bulk_reduction(const Form& form) {
  return {run_bulk_reduction, operand_control(Space::global, form.width[0]) |
                                  operand_control(Space::shared, form.width[1]) << kOperandBits |
                                  reduction_control(form)};
}
Bound bind_bulk_reduction_in_cluster(const Form& form) {
  return {with_clusters<run_bulk_reduction_in_cluster>,
          operand_control(Space::shared_cluster, form.width[0]) |
              operand_control(Space::shared, form.width[1]) << kOperandBits |
              operand_control(Space::shared_cluster, form.width[3]) << (2 * kOperandBits) | reduction_control(form)};
}

Bound bind_store_async(const Form& form) {
  const u32 control = operand_control(Space::shared_cluster, form.width[0]) |
                      operand_control(Space::shared_cluster, form.width[2]) << kOperandBits | form.vector << kFlags;
  return {bits(form.type[0]) == 32 ? with_clusters<run_store_async<u32>> : with_clusters<run_store_async<u64>>,
          control};
}

// red.async [to], value, [mbarrier]
template <class T>
void run_reduce_async(Warp& warp, const Instruction& i) {
  if (warp.observer != nullptr) warp.observer->asynchronous();
  const auto operation = static_cast<BulkReduction>(i.control >> kFlags & 7);
  const auto type = static_cast<Type>(i.control >> (kFlags + 3) & 0xff);
  for (const u32 lane : set_bits(warp.mask)) {
    std::byte* to = access(warp, lane, Space::shared_cluster, operand_address(warp, i, 0, i.slot[0], lane), sizeof(T),
                           sizeof(T), Access::atomic, nullptr);
    std::byte* barrier = object(warp, lane, space_of_operand(i, 1), operand_address(warp, i, 1, i.slot[2], lane));
    deliver(warp, lane, barrier, sizeof(T), [=, value = warp.in<T>(i.slot[1])[lane]] {
      std::byte bytes[sizeof(T)];
      raw_store<T>(bytes, value);
      reduce_bytes(operation, type, to, bytes, sizeof(T));
    });
  }
  warp.polls = 0;
}
Bound bind_reduce_async(const Form& form) {
  const u32 control = operand_control(Space::shared_cluster, form.width[0]) |
                      operand_control(Space::shared_cluster, form.width[2]) << kOperandBits | reduction_control(form);
  return {bits(form.type[0]) == 32 ? with_clusters<run_reduce_async<u32>> : with_clusters<run_reduce_async<u64>>,
          control};
}

template <Handler run>
Bound bind(const Form&) {
  return run;
}

#define OWN "{.shared|shared::cta}"
#define ANY "{.shared|shared::cta|shared::cluster}"
// An order has a scope, and a scope an order.
#define ARRIVE "{.release|relaxed.cta|cluster}"
#define TEST "{.acquire|relaxed.cta|cluster}"
#define BYTES ".mbarrier::complete_tx::bytes"

const Row kBarrierRows[] = {
    {"mbarrier.init" OWN ".b64", "[m] u32", bind_barrier<run_init>, 70, 80},
    {"mbarrier.inval" OWN ".b64", "[m]", bind_barrier<run_invalidate>, 70, 80},
    {"mbarrier.expect_tx{.relaxed.cta|cluster}" ANY ".b64", "[m] u32", bind_barrier<run_transactions<false>>, 80, 90},
    {"mbarrier.complete_tx{.relaxed.cta|cluster}" ANY ".b64", "[m] u32", bind_barrier<run_transactions<true>>, 80, 90},
    {"mbarrier.arrive" ARRIVE ANY ".b64", "=b64_ [m] u32?", bind_arrive<0>, 70, 80},
    {"mbarrier.arrive.expect_tx" ARRIVE ANY ".b64", "=b64_ [m] u32", bind_arrive<kExpect>, 80, 90},
    {"mbarrier.arrive.noComplete{.release.cta}" OWN ".b64", "=b64_ [m] u32", bind_arrive<0>, 70, 80},
    {"mbarrier.arrive_drop" ARRIVE ANY ".b64", "=b64_ [m] u32?", bind_arrive<kDrop>, 70, 80},
    {"mbarrier.arrive_drop.expect_tx" ARRIVE ANY ".b64", "=b64_ [m] u32", bind_arrive<kDrop | kExpect>, 80, 90},
    {"mbarrier.arrive_drop.noComplete{.release.cta}" OWN ".b64", "=b64_ [m] u32", bind_arrive<kDrop>, 70, 80},
    {"mbarrier.test_wait" TEST OWN ".b64", "=pred_ [m] b64", bind_test<0>, 70, 80},
    {"mbarrier.test_wait.parity" TEST OWN ".b64", "=pred_ [m] u32", bind_test<kParity>, 71, 80},
    {"mbarrier.try_wait" TEST OWN ".b64", "=pred_ [m] b64 u32?", bind_test<kTry>, 78, 90},
    {"mbarrier.try_wait.parity" TEST OWN ".b64", "=pred_ [m] u32 u32?", bind_test<kTry | kParity>, 78, 90},
    {"mbarrier.pending_count.b64", "=u32 b64", bind<run_pending_count>, 70, 80},
};

const Row kRows[] = {

// Past L1, 16 bytes at a time.
#define COPIES(cache, sizes)                                                                     \
  {"cp.async." cache ".shared|shared::cta.global{.L2::64B|L2::128B|L2::256B}",                   \
   "[m] [m] u32!(" sizes ") u32^pred?",                                                          \
   bind_copy,                                                                                    \
   70,                                                                                           \
   80,                                                                                           \
   counts_as(Class::copy_async)},                                                                \
  {                                                                                              \
    "cp.async." cache ".shared|shared::cta.global.L2::cache_hint{.L2::64B|L2::128B|L2::256B}",   \
        "[m] [m] u32!(" sizes ") u32^pred? b64", bind_copy, 74, 80, counts_as(Class::copy_async) \
  }
    COPIES("ca", "4|8|16"),
    COPIES("cg", "16"),
    {"cp.async.commit_group", "", bind<run_commit>, 70, 80, counts_as(Class::barrier)},
    {"cp.async.wait_group", "u32", bind<run_wait>, 70, 80, counts_as(Class::barrier)},
    {"cp.async.wait_all", "", bind<run_wait_all>, 70, 80, counts_as(Class::barrier)},
    {"cp.async.mbarrier.arrive{.noinc}" OWN ".b64", "[m]", bind_copy_arrive, 70, 80, counts_as(Class::copy_async)},

#define BULK_TO(space, ptx)                                                                                        \
  {"cp.async.bulk." space ".global" BYTES, "[m] [m] u32 [m]", bind_bulk_to_shared<run_bulk_to_shared<false>>, ptx, \
   90},                                                                                                            \
      {"cp.async.bulk." space ".global.L2::cache_hint" BYTES, "[m] [m] u32 [m] b64",                               \
       bind_bulk_to_shared<run_bulk_to_shared<false>>, ptx, 90}
    BULK_TO("shared::cluster", 80),
    BULK_TO("shared::cta", 86),
    {"cp.async.bulk.shared::cluster.global.multicast::cluster" BYTES, "[m] [m] u32 [m] b16",
     bind_bulk_to_shared<run_bulk_to_shared<true>>, 80, 90},
    {"cp.async.bulk.shared::cluster.global.multicast::cluster.L2::cache_hint" BYTES, "[m] [m] u32 [m] b16 b64",
     bind_bulk_to_shared<run_bulk_to_shared<true>>, 80, 90},
    {"cp.async.bulk.shared::cluster.shared::cta" BYTES, "[m] [m] u32 [m]",
     bind_bulk_to_shared<with_clusters<run_bulk_to_shared<false>>>, 80, 90},
    {"cp.async.bulk.global.shared::cta.bulk_group", "[m] [m] u32", bind_bulk_to_global, 80, 90},
    {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint", "[m] [m] u32 b64", bind_bulk_to_global, 80, 90},
#define REDUCE(what)                                                                                       \
  {"cp.reduce.async.bulk.global.shared::cta.bulk_group" what, "[m] [m] u32", bind_bulk_reduction, 80, 90}, \
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint" what, "[m] [m] u32 b64",        \
       bind_bulk_reduction, 80, 90}
#define REDUCE_NEAR(what)                                                                                            \
  {"cp.reduce.async.bulk.shared::cluster.shared::cta" BYTES what, "[m] [m] u32 [m]", bind_bulk_reduction_in_cluster, \
   80, 90}
    REDUCE(".and|or|xor.b32|b64"),
    REDUCE(".add.u32|s32|u64|f32|f64"),
    REDUCE(".inc|dec.u32"),
    REDUCE(".min|max.u32|s32|u64|s64|f16|bf16"),
    REDUCE(".add.noftz.f16|bf16"),
    REDUCE_NEAR(".and|or|xor.b32"),
    REDUCE_NEAR(".add.u32|s32|u64"),
    REDUCE_NEAR(".inc|dec.u32"),
    REDUCE_NEAR(".min|max.u32|s32"),
    {"cp.async.bulk.prefetch.L2.global", "[m] u32", bind<run_nothing>, 80, 90},
    {"cp.async.bulk.prefetch.L2.global.L2::cache_hint", "[m] u32 b64", bind<run_nothing>, 80, 90},
    {"cp.async.bulk.commit_group", "", bind<run_commit_bulk>, 80, 90, counts_as(Class::barrier)},
    {"cp.async.bulk.wait_group{.read}", "u32", bind<run_wait_bulk>, 80, 90, counts_as(Class::barrier)},

    {"st.async{.weak}{.shared::cluster}{" BYTES "}{.v2|v4}.b32|b64|u32|u64|s32|s64|f32|f64", "[m] {t0}v [m]",
     bind_store_async, 81, 90},
#define REDUCE_ASYNC(what) \
  {"red.async.relaxed.cluster{.shared::cluster}" BYTES what, "[m] t0 [m]", bind_reduce_async, 81, 90}
    REDUCE_ASYNC(".add.u32|s32|u64|s64"),
    REDUCE_ASYNC(".min|max.u32|s32"),
    REDUCE_ASYNC(".inc|dec.u32"),
    REDUCE_ASYNC(".and|or|xor.b32"),
};

}  // namespace

std::span<const Row> mbarrier_rows() { return kBarrierRows; }
std::span<const Row> async_rows() { return kRows; }

void copy_bytes(std::byte* to, const std::byte* from, u64 size) {
  for (u64 at = 0; at + 4 <= size; at += 4) raw_store<u32>(to + at, raw_load<u32>(from + at));
  for (u64 at = size / 4 * 4; at < size; ++at) raw_store<u8>(to + at, raw_load<u8>(from + at));
}

std::byte* mbarrier_at(Warp& warp, u32 lane, Space space, u64 address) { return object(warp, lane, space, address); }

void deliver(Warp& warp, u32 lane, std::byte* barrier, u32 bytes, Completion copy) {
  if (warp.observer != nullptr) warp.observer->release_copies(warp, lane, barrier);
  warp.block->cluster->signals.add(barrier, [barrier, bytes, copy = std::move(copy)] {
    copy();
    count_bytes(barrier, bytes);
  });
}

}  // namespace cudasim
