#include "common/simulator/state/children.hpp"

#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <span>
#include <vector>

namespace cudasim {
namespace {

// Null if the program has no device runtime. That is linked last, so its variables are the last ones.
ChildLaunch* table_of(const Program& program) {
  const auto& globals = program.globals;
  for (std::size_t i = globals.size(); i-- > 0 && globals.size() - i <= 4;) {
    if (globals[i].name != kChildTable) continue;
    const auto allocation = AddressSpace::instance().find(globals[i].address);
    return allocation ? reinterpret_cast<ChildLaunch*>(allocation->host) : nullptr;
  }
  return nullptr;
}

std::vector<ChildLaunch> take_launched(ChildLaunch* table, u64 grid) {
  std::vector<ChildLaunch> children;
  for (ChildLaunch& one : std::span(table, kMostChildren)) {
    std::atomic_ref<u32> state(one.state);
    if (state != 2 || one.grid != grid) continue;
    children.push_back(one);
    state = 0;
  }
  std::sort(children.begin(), children.end(), [](const ChildLaunch& a, const ChildLaunch& b) {
    const bool a_last = a.stream == 3, b_last = b.stream == 3;
    return a_last != b_last ? b_last : a.order < b.order;
  });
  return children;
}

const Kernel* kernel_at(const Program& program, u64 address) {
  for (const auto* kernels : {&program.kernels, &program.runtime_kernels}) {
    for (const Kernel& kernel : *kernels) {
      if (kCodeWindow + u64{16} * kernel.function == address) return &kernel;
    }
  }
  return nullptr;
}

bool fits(const Kernel& kernel, const ChildLaunch& child) {
  const u64 threads = u64{child.threads[0]} * child.threads[1] * child.threads[2];
  const u64 blocks = u64{child.blocks[0]} * child.blocks[1] * child.blocks[2];
  return blocks != 0 && threads != 0 && threads <= kMaxThreadsPerBlock &&
         kernel.static_shared + u64{child.dynamic_shared} <= kSharedPerBlock &&
         kernel.parameter_bytes <= sizeof child.parameters && kernel.directives.required_cluster.count() <= 1;
}

}  // namespace

u64 next_grid_id() {
  static std::atomic<u64> grids{0};
  return ++grids;
}

CUresult run_children(const Launch& parent, const std::function<CUresult(const Launch&)>& run) {
  const AddressSpace::Hold hold;
  ChildLaunch* const table = table_of(*parent.program);
  if (table == nullptr) return CUDA_SUCCESS;
  // The next one last: a child's own children come before its siblings. Not by recursion: a kernel may launch itself
  // as its tail any number of times.
  std::vector<ChildLaunch> next;
  const auto put_those_of = [&](u64 grid) {
    const std::vector<ChildLaunch> launched = take_launched(table, grid);
    next.insert(next.end(), launched.rbegin(), launched.rend());
  };
  put_those_of(parent.grid_id);
  Launch launch = parent;
  while (!next.empty()) {
    const ChildLaunch child = next.back();
    next.pop_back();
    const Kernel* const kernel = kernel_at(*parent.program, child.function);
    if (kernel == nullptr || !fits(*kernel, child)) {
      std::fprintf(stderr, "cudasim: kernel %s launched %s in a way that the device does not have\n",
                   launch.kernel->name.c_str(), kernel != nullptr ? kernel->name.c_str() : "what is no kernel");
      return CUDA_ERROR_LAUNCH_FAILED;
    }
    launch.kernel = kernel;
    launch.grid = {child.blocks[0], child.blocks[1], child.blocks[2]};
    launch.block = {child.threads[0], child.threads[1], child.threads[2]};
    launch.cluster = {1, 1, 1};
    launch.dynamic_shared = child.dynamic_shared;
    launch.cooperative = false;
    launch.parameters.assign(child.parameters, child.parameters + kernel->parameter_bytes);
    launch.grid_id = next_grid_id();
    if (const CUresult result = run(launch); result != CUDA_SUCCESS) return result;
    put_those_of(launch.grid_id);
  }
  return CUDA_SUCCESS;
}

}  // namespace cudasim
