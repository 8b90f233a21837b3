// Runs a grid: blocks start in order, blocks that spin are run in rotation, and the first fault ends the grid.
//
// A thread of the machine runs a cluster of blocks until it ends or spins. If all started clusters spin, more are
// started: the others may wait for them. A thread takes several short clusters at a time, because threads that asked
// for each one would contend for the lock. A small grid never leaves the thread that launched it.
#include "common/simulator/exec/grid.hpp"

#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/pool.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"

#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace cudasim {
namespace {

constexpr i64 kSlice = 500'000;         // instructions until another cluster may have its turn
constexpr i64 kAlone = 3'000;           // instructions of a grid before it is worth waking others for it
constexpr i64 kShare = 20'000;          // of clusters that a thread takes at a time; if they cost more, some go back
constexpr u64 kShares = 4;              // for each thread, at least, of those that have not begun
constexpr i64 kBlockCost = 50;          // what a block costs at least, in instructions
constexpr i64 kBudget = 6'000'000'000;  // instructions without a block that ends: about a minute of one thread
constexpr i64 kSpinRate = 100'000'000;  // of them in a second, when only time passes
constexpr u64 kStorage = u64{2} << 30;  // bytes of blocks that have started, unless all have to
constexpr std::size_t kOthersTold = 3;  // blocks, in the report of an endless kernel, beside the one that ran
constexpr u64 kTurns = 1024;            // slices of clusters between two looks at the clock
constexpr i64 kFirstNote = 20;  // seconds until a kernel is said to be still at it; then after twice as long each time
constexpr u64 kWorkspace = 64;  // bytes for a cooperative grid's barrier

// Kernels round to nearest and keep subnormal numbers, whatever the program has set for its threads, which ours
// inherit.
class Arithmetic {
 public:
  Arithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~Arithmetic() { std::fesetenv(&before_); }
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

 private:
  std::fenv_t before_;
};

i64 budget_wanted() {
  const char* text = std::getenv("CUDASIM_BUDGET");
  const long long wanted = text != nullptr ? std::strtoll(text, nullptr, 10) : 0;
  return wanted > 0 ? wanted : kBudget;
}

// Calls may use four times the stack's limit here: .param variables, which a GPU keeps in registers, count too.
u32 stack_for(u32 limit) { return static_cast<u32>(round_up(4 * u64{limit}, 16)); }

// Kernels that call nothing keep their threads' local memory close together.
bool needs_stack(const Code& entry) {
  for (const CallSite& site : entry.calls) {
    if (site.callee < kBuiltin || site.callee == kNoTarget) return true;
  }
  for (const Instruction& instruction : entry.instructions) {
    if (is_alloca(instruction.run)) return true;
  }
  return false;
}

// As many as the device would hold at a time; fewer if they need much memory here.
u64 residency(const Grid& grid, u64 cluster_size, bool all) {
  if (all) return ~u64{0};
  const u64 per_multiprocessor =
      std::clamp<u64>(kMaxThreadsPerMultiprocessor / (u64{grid.warps} * kWarpSize), 1, kMaxBlocksPerMultiprocessor) *
      kMultiprocessors;
  const u64 bytes = u64{grid.warps} * grid.frame_stride + grid.stored_shared_bytes + 4096;
  return std::max<u64>(std::min(per_multiprocessor, kStorage / bytes) / cluster_size, 8);
}

template <class T>
void spread(std::byte* to, const void* value) {
  T one;
  std::memcpy(&one, value, sizeof one);
  std::fill_n(reinterpret_cast<T*>(to), kWarpSize, one);
}

}  // namespace

Grid::Grid(const Launch& l)
    : launch(l),
      program(*l.program),
      kernel(*l.kernel),
      entry(*l.program->functions[l.kernel->function]),
      threads(static_cast<u32>(l.block.count())),
      warps((threads + kWarpSize - 1) / kWarpSize),
      cluster(l.cluster),
      explicit_cluster(l.explicit_cluster),
      shared_bytes(
          round_up(l.kernel->static_shared, l.dynamic_shared != 0 ? std::max(l.kernel->dynamic_shared_align, 1u) : 1) +
          l.dynamic_shared),
      stored_shared_bytes(l.kernel->reserved_shared ? reserved_shared_at(shared_bytes) + kSharedReserved
                                                    : stored_shared(shared_bytes)),
      local_bytes(round_up(l.kernel->local_bytes, 16) + (needs_stack(entry) ? stack_for(l.stack_bytes) : 0)),
      frame_stride(round_up(entry.frame_bytes, 64) + (entry.frame_bytes % 4096 == 0 ? 64 : 0)),
      clusters_(l.grid.count() / l.cluster.count()),
      limit_(residency(*this, l.cluster.count(), l.cooperative)),
      budget_(budget_wanted()),
      waiting_{{0, clusters_}},
      next_note_(kFirstNote) {
  for (auto& t : tid) t.resize(warps * kWarpSize);
  u32 thread = 0;
  for (u32 z = 0; z < l.block.z; ++z) {
    for (u32 y = 0; y < l.block.y; ++y) {
      for (u32 x = 0; x < l.block.x; ++x, ++thread) tid[0][thread] = x, tid[1][thread] = y, tid[2][thread] = z;
    }
  }
  set_constants();
  if (l.observe != nullptr) observer = l.observe(*this);
  look_for_compiled(0);
  if (l.cooperative) {
    Allocation wanted;
    wanted.size = kWorkspace;
    wanted.context = l.context;
    wanted.device = l.device;
    wanted.label = "the cooperative grid's barrier";
    workspace_ = AddressSpace::instance().allocate(wanted, 256, true);
  }
}

// The entry's constants are the program's, unless some of them are this launch's.
void Grid::set_constants() {
  constants = entry.constant_base;
  if (entry.of_launch.empty()) return;
  const std::size_t size = entry.constants.size() - kConstantAlign;
  constants_ = Buffer(size);
  constants = constants_.get();
  std::memcpy(constants_.get(), entry.constant_base, size);
  const u32 block[] = {launch.block.x, launch.block.y, launch.block.z},
            grid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
  for (const Code::OfLaunch& each : entry.of_launch) {
    const u32* sizes = each.kind == Code::OfLaunch::block_size ? block : grid;
    const void* value = each.kind == Code::OfLaunch::parameter
                            ? static_cast<const void*>(launch.parameters.data() + each.index)
                            : sizes + each.index;
    std::byte* const to = constants_.get() + each.at;
    if (each.bytes == 4)
      spread<u32>(to, value);
    else if (each.bytes == 8)
      spread<u64>(to, value);
    else
      for (u32 lane = 0; lane < kWarpSize; ++lane) std::memcpy(to + lane * each.bytes, value, each.bytes);
  }
}

Grid::~Grid() {
  if (workspace_ != nullptr) AddressSpace::instance().release(workspace_->base);
}

bool Grid::start_new() const {
  if (waiting_.empty()) return false;
  if (yielded_.empty()) return true;
  return starts_first_ > 0 && resident_ < limit_;
}

bool Grid::has_work() {
  std::lock_guard lock(mutex_);
  return !stop_ && (start_new() || !yielded_.empty());
}

void Grid::start(Cluster& c, u64 number) {
  const u32 size = static_cast<u32>(cluster.count());
  const Dim3 clusters{launch.grid.x / cluster.x, launch.grid.y / cluster.y, launch.grid.z / cluster.z};
  const u32 x = static_cast<u32>(number % clusters.x), y = static_cast<u32>(number / clusters.x % clusters.y),
            z = static_cast<u32>(number / clusters.x / clusters.y);
  if (c.blocks.empty()) {
    for (u32 i = 0; i < size; ++i) c.blocks.push_back(std::make_unique<Block>(*this));
  }
  c.arrived = 0;
  for (u32 rank = 0; rank < size; ++rank) {
    const Dim3 index{x * cluster.x + rank % cluster.x, y * cluster.y + rank / cluster.x % cluster.y,
                     z * cluster.z + rank / cluster.x / cluster.y};
    c.blocks[rank]->start(c, index.x + u64{launch.grid.x} * (index.y + u64{launch.grid.y} * index.z), index, rank);
  }
}

// The next clusters: as many as make a share if each costs so many instructions (0: unknown).
Grid::Numbers Grid::take_waiting(i64 cost) {
  Numbers& first = waiting_.front();
  const u64 all = first.end - first.begin, fair = all / (kShares * machine_threads()),
            worth = cost == 0 ? 1 : static_cast<u64>(kShare / cost);
  const Numbers taken{first.begin, first.begin + std::clamp<u64>(worth, 1, std::max<u64>(fair, 1))};
  first.begin = taken.end;
  if (first.begin == first.end) waiting_.pop_front();
  return taken;
}

// The next cluster to run, or null. `wait`: waits until another thread returns one, or all have ended.
// cost: see take_waiting.
Grid::Share Grid::take(bool wait, i64 cost) {
  Share taken;
  {
    std::unique_lock lock(mutex_);
    while (!stop_ && !start_new() && yielded_.empty() && finished_ < clusters_) {
      if (!wait) return {};
      changed_.wait(lock);
    }
    if (stop_ || finished_ == clusters_) return {};
    if (!start_new()) {
      taken.cluster = std::move(yielded_.front());
      yielded_.pop_front();
      const bool all_spin = idle_ > 16 * resident_;
      lock.unlock();
      // What they wait for may be the host's to write, or another grid's.
      if (all_spin) std::this_thread::yield();
      return taken;
    }
    taken.next = take_waiting(cost);
    ++resident_;
    if (starts_first_ > 0) --starts_first_;
    spent_ = 0;
    if (!free_clusters_.empty()) {
      taken.cluster = std::move(free_clusters_.back());
      free_clusters_.pop_back();
    }
  }
  if (taken.cluster == nullptr) taken.cluster = std::make_unique<Cluster>();
  start(*taken.cluster, taken.next.begin++);
  return taken;
}

// What is said when the budget is spent while this cluster runs.
Fault Grid::endless(const Cluster& c, const std::string& why) const {
  Fault fault{.kind = FaultKind::timeout, .what = why + " (CUDASIM_BUDGET); the threads of this block:"};
  for (const auto& block : c.blocks) {
    if (block->live_threads == 0) continue;
    block->park_held();
    fault.what += block->who_waits_where();
    for (const Warp& warp : block->warps) {
      if (warp.fragments.empty()) continue;
      locate(fault, warp, warp.fragments.front());
      break;
    }
    break;
  }
  return fault;
}

// How many seconds blocks may spin.
i64 Grid::patience() const { return std::max<i64>(budget_ / kSpinRate, 1); }

// Blocks that spin leave the machine to others, so they use up few instructions: time counts for them as well.
bool Grid::spins_for_ever(Outcome outcome) {
  const bool all = outcome == Outcome::spins && !start_new();
  const auto now = all ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  if (!all || spinning_ == std::chrono::steady_clock::time_point{}) {
    spinning_ = now;
    return false;
  }
  return now - spinning_ > std::chrono::seconds(patience());
}

// A user who waits for a long kernel sees that it is at work, and how far it has come.
void Grid::note_progress() {
  if (++turns_ % kTurns != 0) return;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_).count();
  if (seconds < next_note_) return;
  next_note_ = 2 * seconds;
  const u64 size = cluster.count();
  std::fprintf(stderr, "cudasim: kernel %s has run for %lld s: %llu of %llu blocks have ended\n",
               readable(kernel.name).c_str(), static_cast<long long>(seconds),
               static_cast<unsigned long long>(finished_ * size), static_cast<unsigned long long>(clusters_ * size));
}

// What observes a grid wants to see each instruction.
void Grid::look_for_compiled(i64 spent) {
  if (launch.compile == nullptr || observer != nullptr || compiled.load(std::memory_order_relaxed) != nullptr) return;
  entry.spent.fetch_add(spent, std::memory_order_relaxed);
  const FoundCompiled found = launch.compile(launch);
  if (found.code == nullptr) return;
  compiled_shape.store(found.shape, std::memory_order_relaxed);
  compiled.store(found.code, std::memory_order_release);
}

// outcome: of the share's last cluster that has begun, which `spent` so many instructions.
void Grid::give_back(Share share, Outcome outcome, i64 spent) {
  std::unique_lock lock(mutex_);
  note_progress();
  if (share.next.begin != share.next.end) {
    const auto behind = std::find_if(waiting_.begin(), waiting_.end(),
                                     [&](const Numbers& other) { return other.begin > share.next.begin; });
    waiting_.insert(behind, share.next);
    changed_.notify_one();
  }
  if (share.finished != 0) {
    finished_ += share.finished;
    spent_ = 0;
    idle_ = starts_first_ = 0;
  }
  if (outcome == Outcome::finished) {
    --resident_;
    free_clusters_.push_back(std::move(share.cluster));
    if (finished_ == clusters_) changed_.notify_all();
    return;
  }
  spent_ += spent;
  const bool spins = spins_for_ever(outcome);
  if (spent_ > budget_ || spins) {
    Fault fault =
        endless(*share.cluster, spins ? "all blocks that have started are waiting, and none has made progress for " +
                                            std::to_string(patience()) + " s"
                                      : std::to_string(budget_) + " instructions have run since a block last ended");
    for (std::size_t i = 0; i < yielded_.size() && i < kOthersTold; ++i) {
      Block& other = *yielded_[i]->blocks.front();
      other.park_held();
      if (other.live_threads != 0) fault.what += "\nblock " + coordinates(other.index) + ":" + other.who_waits_where();
    }
    if (yielded_.size() > kOthersTold)
      fault.what += "\nand " + std::to_string(yielded_.size() - kOthersTold) + " more blocks that have started";
    lock.unlock();
    fail(std::move(fault));
    return;
  }
  idle_ += outcome == Outcome::spins ? 16 : 1;
  if (idle_ > 32 * resident_ || launch.cooperative) {
    starts_first_ = std::max<u64>(resident_, 1);
    idle_ = 0;
  }
  yielded_.push_back(std::move(share.cluster));
  lock.unlock();
  changed_.notify_one();
}

void Grid::fail(Fault f) {
  std::lock_guard lock(mutex_);
  stop_ = true;
  if (!fault.has_value()) {
    f.kernel = kernel.name;
    if (f.report.empty()) f.report = report(f);
    fault = std::move(f);
  }
  changed_.notify_all();
}

void Grid::cancel() {
  std::lock_guard lock(mutex_);
  stop_ = true;
  changed_.notify_all();
}

bool Grid::work(bool caller) {
  const Arithmetic arithmetic;
  Views views(launch.context);
  bool offered = !caller || observer != nullptr;  // an observed grid stays on one thread
  i64 done = 0, cost = 0, looked = 0;  // cost: of the last cluster that ended
  const i64 slice = std::min(kSlice, budget_);
  for (Share share; (share = take(caller, offered ? cost : 0)).cluster != nullptr;) {
    Outcome outcome;
    i64 spent = 0;
    const i64 enough = done + kShare;
    try {
      for (;;) {
        i64 left = offered ? slice : std::min(kAlone, slice);
        const i64 given = left;
        outcome = share.cluster->run(views, left);
        spent = given - left + kBlockCost;
        done += spent;
        if (outcome != Outcome::finished) break;
        cost = spent;
        ++share.finished;
        if (share.next.begin == share.next.end || done > enough || stop_) break;
        start(*share.cluster, share.next.begin++);
      }
    } catch (Fault& f) {
      fail(std::move(f));
      return false;
    } catch (const std::bad_alloc&) {
      fail(Fault{.kind = FaultKind::trap, .what = "the host has too little memory to run the kernel"});
      return false;
    } catch (const std::exception& e) {
      fail(Fault{.kind = FaultKind::trap, .what = std::string("the simulator failed: ") + e.what()});
      return false;
    }
    look_for_compiled(done - looked);
    looked = done;
    give_back(std::move(share), outcome, spent);
    if (launch.between_blocks != nullptr) launch.between_blocks(launch.device);
    if (launch.cancelled != nullptr && launch.cancelled->load(std::memory_order_relaxed)) return cancel(), false;
    if (!offered && done >= kAlone && has_work()) {
      offer(*this);
      offered = true;
    }
    if (!caller && is_needed_elsewhere(launch.priority)) return true;
  }
  return false;
}

std::optional<Fault> run(const Launch& launch) {
  AddressSpace::Hold hold;
  Grid grid(launch);
  grid.work(true);
  withdraw(grid);
  if (grid.fault.has_value()) std::fputs(grid.fault->report.c_str(), stderr);
  return std::move(grid.fault);
}

}  // namespace cudasim
