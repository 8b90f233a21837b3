#include "common/simulator/state/launches/children.hpp"

#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/launches/launch.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <unordered_map>

namespace cudasim {
namespace {

// What a grid that runs has asked for.
struct Asked {
  u32 places = 0;  // that it has not given back
  std::vector<Child> children;
  // Launches that Context::pending_launches does not count: how many each thread has made, and how many of all threads
  // are pending.
  std::unordered_map<u64, u32> of_thread;
  u64 unfinished = 0;
};
struct Line {
  std::mutex mutex;
  std::unordered_map<u64, Asked> of_grid;
};
Line& line() {
  static auto& all = *new Line;
  return all;
}

// What the grid, which has ended, launched, in its order; those in the stream for tails last.
std::vector<Child> take_launched(Context& context, ChildTable table, u64 grid) {
  Asked asked;
  {
    const std::scoped_lock lock(line().mutex);
    const auto found = line().of_grid.find(grid);
    if (found == line().of_grid.end()) return {};
    asked = std::move(found->second);
    line().of_grid.erase(found);
  }
  for (u32 i = 0; i < kPlaces && asked.places != 0; ++i) {
    ChildPlace& place = table.places[i];
    if (std::atomic_ref<u32>(place.state) == 0 || std::atomic_ref<u64>(place.grid) != grid) continue;
    std::atomic_ref<u64>(place.grid) = 0;
    std::atomic_ref<u32>(place.state) = 0;
    --asked.places;
    --context.pending_launches;
  }
  std::stable_partition(asked.children.begin(), asked.children.end(),
                        [](const Child& child) { return child.stream != kTailStream; });
  return std::move(asked.children);
}

}  // namespace

ChildPlace* take_place(const ContextLaunch& parent) {
  std::atomic<u64>& pending = parent.owner->pending_launches;
  const u64 limit = parent.owner->limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT);
  {
    const std::scoped_lock lock(line().mutex);
    if (pending + line().of_grid[parent.grid_id].unfinished >= limit) return nullptr;
    ++pending;
  }
  const ChildTable table = child_table(*parent.program);
  static std::atomic<u32> next{0};  // behind the place that was taken last, most are free
  for (u32 i = 0; i < kPlaces; ++i) {
    ChildPlace& place = table.places[next++ % kPlaces];
    u32 free = 0;
    if (!std::atomic_ref<u32>(place.state).compare_exchange_strong(free, 1)) continue;
    std::atomic_ref<u64>(place.grid) = parent.grid_id;
    const std::scoped_lock lock(line().mutex);
    ++line().of_grid[parent.grid_id].places;
    return &place;
  }
  --pending;
  return nullptr;
}

void give_back(Context& context, ChildPlace& place, bool launched) {
  const u64 grid = std::atomic_ref<u64>(place.grid).exchange(0);
  std::atomic_ref<u32>(place.state) = 0;
  if (!launched) --context.pending_launches;
  const std::scoped_lock lock(line().mutex);
  --line().of_grid[grid].places;
}

bool put_in_line(u64 grid, u64 thread, Child child, Context* counted) {
  const std::scoped_lock lock(line().mutex);
  Asked& asked = line().of_grid[grid];
  if (asked.children.size() == kMostChildren) return false;
  if (counted != nullptr && !child.counts) --counted->pending_launches;
  if (!child.counts && ++asked.of_thread[thread] <= kUnfinished) ++asked.unfinished;
  asked.children.push_back(std::move(child));
  return true;
}

// It is linked last, so its variables are the last ones.
const Global* runtime_variable(const Program& program, std::string_view name) {
  const auto& globals = program.globals;
  for (std::size_t i = globals.size(); i-- > 0 && globals.size() - i <= 4;) {
    if (globals[i].name == name) return &globals[i];
  }
  return nullptr;
}

ChildTable child_table(const Program& program) {
  const Global* const table = runtime_variable(program, kChildTable);
  const auto allocation = table != nullptr ? AddressSpace::instance().find(table->address) : nullptr;
  if (allocation == nullptr) return {};
  return {reinterpret_cast<ChildPlace*>(allocation->host), table->address};
}

u64 address_of(const Kernel& kernel) { return kCodeWindow + u64{16} * kernel.function; }

const Kernel* kernel_at(const Program& program, u64 address) {
  for (const auto* kernels : {&program.kernels, &program.runtime_kernels}) {
    for (const Kernel& kernel : *kernels) {
      if (address_of(kernel) == address) return &kernel;
    }
  }
  return nullptr;
}

std::string why_not(const Kernel& kernel, const ChildPlace& child) {
  if (kernel.parameter_bytes > sizeof child.parameters)
    return "its parameters take " + std::to_string(kernel.parameter_bytes) + " bytes, but a child's may take at most " +
           std::to_string(sizeof child.parameters);
  if (kernel.directives.required_cluster.count() > 1) return "a kernel cannot launch kernels with clusters";
  return misfit(kernel, child.blocks, child.threads, child.dynamic_shared,
                static_cast<u64>(default_settings(kernel).max_dynamic_shared));
}

u64 next_grid_id() {
  static std::atomic<u64> grids{0};
  return ++grids;
}

CUresult run_children(const ContextLaunch& parent, const std::function<CUresult(const Launch&)>& run) {
  const AddressSpace::Hold hold;
  const ChildTable table = child_table(*parent.program);
  if (table.places == nullptr) return CUDA_SUCCESS;
  // The next one last: a child's own children come before its siblings. Not by recursion: a kernel may launch itself
  // as its tail any number of times.
  std::vector<Child> next;
  const auto put_those_of = [&](u64 grid) {
    std::vector<Child> launched = take_launched(*parent.owner, table, grid);
    next.insert(next.end(), std::move_iterator(launched.rbegin()), std::move_iterator(launched.rend()));
  };
  put_those_of(parent.grid_id);
  ContextLaunch launch = parent;
  while (!next.empty()) {
    Child child = std::move(next.back());
    next.pop_back();
    if (child.counts) --parent.owner->pending_launches;
    launch.kernel = child.kernel;
    launch.grid = child.blocks;
    launch.block = child.threads;
    launch.cluster = {1, 1, 1};
    launch.explicit_cluster = child.kernel->directives.required_cluster.count() != 0;
    launch.dynamic_shared = child.dynamic_shared;
    launch.cooperative = false;
    launch.parameters = std::move(child.parameters);
    launch.grid_id = next_grid_id();
    const LaunchedAt launched_at(std::move(child.from));
    if (const CUresult result = run(launch); result != CUDA_SUCCESS) return result;
    if (child.then) child.then();
    put_those_of(launch.grid_id);
  }
  return CUDA_SUCCESS;
}

}  // namespace cudasim
