// Special registers. PTX ISA, "Special Registers".
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/described.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"

#include <chrono>

namespace cudasim {

// Descriptions: one value for the warp; %tid of an axis; the number of the lane.
template <class T>
struct ReadsSame;
template <u32 kAxis, class T>
struct ReadsThread;
template <class T>
struct ReadsLane;

namespace {

// What a register holds: for all lanes the same, or one value a lane.
using Uniform = u64 (*)(const Warp&);
using ByLane = u32 (*)(const Warp&, u32 lane);

const Grid& grid(const Warp& w) { return *w.block->grid; }

template <u32 kAxis>
u32 axis(Dim3 d) {
  return kAxis == 0 ? d.x : kAxis == 1 ? d.y : d.z;
}

u32 laneid(const Warp&, u32 lane) { return lane; }
u32 lanemask_eq(const Warp&, u32 lane) { return 1u << lane; }
u32 lanemask_lt(const Warp&, u32 lane) { return (1u << lane) - 1; }
u32 lanemask_le(const Warp&, u32 lane) { return ~0u >> (31 - lane); }
u32 lanemask_gt(const Warp&, u32 lane) { return ~(~0u >> (31 - lane)); }
u32 lanemask_ge(const Warp&, u32 lane) { return ~0u << lane; }

template <u32 kAxis>
u64 ntid(const Warp& w) {
  return axis<kAxis>(grid(w).launch.block);
}
template <u32 kAxis>
u64 ctaid(const Warp& w) {
  return axis<kAxis>(w.block->index);
}
template <u32 kAxis>
u64 nctaid(const Warp& w) {
  return axis<kAxis>(grid(w).launch.grid);
}
template <u32 kAxis>
u64 clusterid(const Warp& w) {
  return axis<kAxis>(w.block->index) / axis<kAxis>(grid(w).cluster);
}
template <u32 kAxis>
u64 nclusterid(const Warp& w) {
  return axis<kAxis>(grid(w).launch.grid) / axis<kAxis>(grid(w).cluster);
}
template <u32 kAxis>
u64 cluster_ctaid(const Warp& w) {
  return axis<kAxis>(w.block->index) % axis<kAxis>(grid(w).cluster);
}
template <u32 kAxis>
u64 cluster_nctaid(const Warp& w) {
  return axis<kAxis>(grid(w).cluster);
}
u64 cluster_ctarank(const Warp& w) { return w.block->rank; }
u64 cluster_nctarank(const Warp& w) { return grid(w).cluster.count(); }
u64 explicit_cluster(const Warp& w) { return grid(w).explicit_cluster; }

u64 warpid(const Warp& w) { return w.index; }
u64 nwarpid(const Warp&) { return kMaxWarpsPerMultiprocessor; }
u64 smid(const Warp& w) { return w.block->number % kMultiprocessors; }
u64 nsmid(const Warp&) { return kMultiprocessors; }
u64 gridid(const Warp& w) { return grid(w).launch.grid_id; }
u64 zero(const Warp&) { return 0; }
// Where cooperative groups look for the grid's barrier; 0 tells them that the launch was not cooperative.
u64 workspace_high(const Warp& w) { return grid(w).workspace() >> 32; }
u64 workspace_low(const Warp& w) { return grid(w).workspace() & ~u32{0}; }
u64 dynamic_shared(const Warp& w) { return grid(w).launch.dynamic_shared; }
u64 all_shared(const Warp& w) { return w.block->shared_bytes; }
// Memory is given in units of 128 bytes.
u64 total_shared(const Warp& w) { return round_up(w.block->shared_bytes, 128); }

u64 reserved_begin(const Warp& w) { return w.block->shared_begin + kReservedShared; }
u64 reserved_end(const Warp& w) { return reserved_begin(w) + kSharedReserved; }

// Nanoseconds since some moment; the same clock for all threads.
u64 nanoseconds() {
  return static_cast<u64>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}
// The clock rate that the device's attributes tell is 1.98 GHz: two cycles a nanosecond come close.
u64 clock64(const Warp&) { return nanoseconds() * 2; }
u64 clock_hi(const Warp& w) { return clock64(w) >> 32; }
u64 globaltimer(const Warp&) { return nanoseconds(); }
u64 globaltimer_hi(const Warp&) { return nanoseconds() >> 32; }

template <Uniform value, class T>
void run_uniform(Warp& warp, const Instruction& i) {
  described<run_uniform<value, T>, ReadsSame<T>>();
  T* d = warp.out<T>(i.slot[0]);
  const T v = static_cast<T>(value(warp));
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = v; });
}

template <ByLane value, class T>
void run_by_lane(Warp& warp, const Instruction& i) {
  if constexpr (value == laneid) described<run_by_lane<value, T>, ReadsLane<T>>();
  T* d = warp.out<T>(i.slot[0]);
  for_lanes(warp.mask, [=, &warp](u32 lane) { d[lane] = static_cast<T>(value(warp, lane)); });
}

void run_is_explicit_cluster(Warp& warp, const Instruction& i) {
  warp.set_predicate(i.slot[0], explicit_cluster(warp) != 0 ? kAllLanes : 0);
}

// A thread may read the clock in a loop to wait: let others run.
template <Uniform value, class T>
void run_clock(Warp& warp, const Instruction& i) {
  T* d = warp.out<T>(i.slot[0]);
  const T v = static_cast<T>(value(warp));
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = v; });
  warp.poll();
}

template <u32 kAxis, class T>
void run_tid(Warp& warp, const Instruction& i) {
  described<run_tid<kAxis, T>, ReadsThread<kAxis, T>>();
  T* d = warp.out<T>(i.slot[0]);
  const u32* tid = grid(warp).tid[kAxis].data() + warp.index * kWarpSize;
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = static_cast<T>(tid[lane]); });
}

struct Register {
  std::string_view name;
  Handler half, word, wide;  // into a register of 2, 4, 8 bytes; null: not of that size
};

template <Uniform value>
constexpr Register uniform(std::string_view name) {
  return {name, run_uniform<value, u16>, run_uniform<value, u32>, run_uniform<value, u64>};
}
template <ByLane value>
constexpr Register by_lane(std::string_view name) {
  return {name, run_by_lane<value, u16>, run_by_lane<value, u32>, run_by_lane<value, u64>};
}
template <u32 kAxis>
constexpr Register tid(std::string_view name) {
  return {name, run_tid<kAxis, u16>, run_tid<kAxis, u32>, run_tid<kAxis, u64>};
}
template <Uniform value>
constexpr Register clock_register(std::string_view name) {
  return {name, nullptr, run_clock<value, u32>, run_clock<value, u64>};
}

constexpr Register kRegisters[] = {
    tid<0>("%tid.x"),
    tid<1>("%tid.y"),
    tid<2>("%tid.z"),
    uniform<ntid<0>>("%ntid.x"),
    uniform<ntid<1>>("%ntid.y"),
    uniform<ntid<2>>("%ntid.z"),
    by_lane<laneid>("%laneid"),
    uniform<warpid>("%warpid"),
    uniform<nwarpid>("%nwarpid"),
    uniform<ctaid<0>>("%ctaid.x"),
    uniform<ctaid<1>>("%ctaid.y"),
    uniform<ctaid<2>>("%ctaid.z"),
    uniform<nctaid<0>>("%nctaid.x"),
    uniform<nctaid<1>>("%nctaid.y"),
    uniform<nctaid<2>>("%nctaid.z"),
    uniform<smid>("%smid"),
    uniform<nsmid>("%nsmid"),
    uniform<gridid>("%gridid"),
    uniform<clusterid<0>>("%clusterid.x"),
    uniform<clusterid<1>>("%clusterid.y"),
    uniform<clusterid<2>>("%clusterid.z"),
    uniform<nclusterid<0>>("%nclusterid.x"),
    uniform<nclusterid<1>>("%nclusterid.y"),
    uniform<nclusterid<2>>("%nclusterid.z"),
    uniform<cluster_ctaid<0>>("%cluster_ctaid.x"),
    uniform<cluster_ctaid<1>>("%cluster_ctaid.y"),
    uniform<cluster_ctaid<2>>("%cluster_ctaid.z"),
    uniform<cluster_nctaid<0>>("%cluster_nctaid.x"),
    uniform<cluster_nctaid<1>>("%cluster_nctaid.y"),
    uniform<cluster_nctaid<2>>("%cluster_nctaid.z"),
    uniform<cluster_ctarank>("%cluster_ctarank"),
    uniform<cluster_nctarank>("%cluster_nctarank"),
    by_lane<lanemask_eq>("%lanemask_eq"),
    by_lane<lanemask_le>("%lanemask_le"),
    by_lane<lanemask_lt>("%lanemask_lt"),
    by_lane<lanemask_ge>("%lanemask_ge"),
    by_lane<lanemask_gt>("%lanemask_gt"),
    clock_register<clock64>("%clock"),
    clock_register<clock_hi>("%clock_hi"),
    clock_register<clock64>("%clock64"),
    clock_register<globaltimer>("%globaltimer"),
    clock_register<globaltimer>("%globaltimer_lo"),
    clock_register<globaltimer_hi>("%globaltimer_hi"),
    uniform<dynamic_shared>("%dynamic_smem_size"),
    uniform<total_shared>("%total_smem_size"),
    uniform<all_shared>("%aggr_smem_size"),
    uniform<workspace_high>("%envreg1"),
    uniform<workspace_low>("%envreg2"),
    // What the system keeps of shared memory. The manual does not say what the two parts are for: cooperative groups
    // have the barriers of tiles of several warps in the second (cooperative_groups/details/memory.h).
    uniform<reserved_begin>("%reserved_smem_offset_begin"),
    uniform<reserved_end>("%reserved_smem_offset_end"),
    uniform<reserved_end>("%reserved_smem_offset_cap"),
    uniform<reserved_begin>("%reserved_smem_offset_0"),
    uniform<reserved_begin>("%reserved_smem_offset_1"),
    uniform<zero>("%current_graph_exec"),  // no graph is instantiated for launches from a device
};

// %pm0 … %pm7, %pm0_64 … and the other %envreg0 … %envreg31: counters that are not started and the driver's own
// registers; zero.
bool is_numbered(std::string_view name, std::string_view prefix, u32 count, std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() < prefix.size() + suffix.size()) return false;
  const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits[0] == '0')) return false;
  u32 number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<u32>(c - '0');
  }
  return number < count;
}

}  // namespace

// Source: the "Notes" of each register in the PTX ISA; ptxas refuses them by these, too.
Since special_register_since(std::string_view name) {
  static constexpr Since kYounger[] = {
      {"%reserved_smem_offset_begin", 76, 80},
      {"%reserved_smem_offset_end", 76, 80},
      {"%reserved_smem_offset_cap", 76, 80},
      {"%reserved_smem_offset_0", 76, 80},
      {"%reserved_smem_offset_1", 76, 80},
      {"%is_explicit_cluster", 78, 90},
      {"%clusterid", 78, 90},
      {"%nclusterid", 78, 90},
      {"%cluster_ctaid", 78, 90},
      {"%cluster_nctaid", 78, 90},
      {"%cluster_ctarank", 78, 90},
      {"%cluster_nctarank", 78, 90},
      {"%current_graph_exec", 80, 50},
      {"%aggr_smem_size", 81, 90},
  };
  const std::string_view whole = name.substr(0, name.find('.'));
  for (const Since& each : kYounger) {
    if (each.name == whole) return each;
  }
  return {whole, 0, 0};
}

bool tells_of_reserved_shared(std::string_view name) { return name.starts_with("%reserved_smem_offset"); }

Handler special_register_handler(std::string_view name, u32 bytes) {
  if (name == "%is_explicit_cluster") return bytes == 0 ? run_is_explicit_cluster : nullptr;
  for (const Register& r : kRegisters) {
    if (r.name == name) return bytes == 2 ? r.half : bytes == 4 ? r.word : bytes == 8 ? r.wide : nullptr;
  }
  if (is_numbered(name, "%envreg", 32, "") || is_numbered(name, "%pm", 8, "") || is_numbered(name, "%pm", 8, "_64"))
    return bytes == 4 ? run_uniform<zero, u32> : bytes == 8 ? run_uniform<zero, u64> : nullptr;
  return nullptr;
}

}  // namespace cudasim
