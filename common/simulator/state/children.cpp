#include "common/simulator/state/children.hpp"

#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/device.hpp"
#include "common/simulator/state/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <span>
#include <vector>

namespace cudasim {
namespace {

std::vector<ChildLaunch> take_launched(ChildLaunch* table, u64 grid) {
  std::vector<ChildLaunch> children;
  for (ChildLaunch& one : std::span(table, kMostChildren)) {
    std::atomic_ref<u32> state(one.state);
    const u32 now = state;
    std::atomic_ref<u64> of(one.grid);
    if (now == 0 || of != grid) continue;
    if (now == 2) children.push_back(one);  // else its place was asked for, and no launch made of it
    of = 0;
    state = 0;
  }
  std::sort(children.begin(), children.end(), [](const ChildLaunch& a, const ChildLaunch& b) {
    const bool a_last = a.stream == 3, b_last = b.stream == 3;
    return a_last != b_last ? b_last : a.order < b.order;
  });
  return children;
}

}  // namespace

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
  return {reinterpret_cast<ChildLaunch*>(allocation->host), table->address};
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

std::string why_not(const Kernel& kernel, const ChildLaunch& child) {
  if (kernel.parameter_bytes > sizeof child.parameters)
    return "its parameters take " + std::to_string(kernel.parameter_bytes) + " bytes, and a child's at most " +
           std::to_string(sizeof child.parameters);
  if (kernel.directives.required_cluster.count() > 1) return "kernels launch none that has clusters";
  return misfit(kernel, child.blocks, child.threads, child.dynamic_shared,
                static_cast<u64>(default_settings(kernel).max_dynamic_shared));
}

u64 next_grid_id() {
  static std::atomic<u64> grids{0};
  return ++grids;
}

CUresult run_children(const Launch& parent, const std::function<CUresult(const Launch&)>& run) {
  const AddressSpace::Hold hold;
  ChildLaunch* const table = child_table(*parent.program).launches;
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
    // All this was so when it was launched, but lies where kernels can write.
    if (kernel == nullptr || !why_not(*kernel, child).empty()) {
      std::fprintf(stderr, "cudasim: what kernel %s launched has been overwritten before it ran\n",
                   launch.kernel->name.c_str());
      return CUDA_ERROR_LAUNCH_FAILED;
    }
    launch.kernel = kernel;
    launch.grid = child.blocks;
    launch.block = child.threads;
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
