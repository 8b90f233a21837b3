#include "common/simulator/state/reports/leaks.hpp"

#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/device.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/reports/caller.hpp"
#include "common/simulator/state/streams/thread.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/watch/finding.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace cudasim {
namespace {

// Calls that make something, by the beginnings of their names (versions and per-thread forms are the same): which
// argument the handle comes out of, and whose it is.
enum class Owner : u8 { context, process };
struct Maker {
  std::string_view call;
  u32 argument;
  Owner owner;
  bool memory;
};
constexpr Maker kMakers[] = {
    {"cuMemAlloc", 0, Owner::context, true},
    {"cuMemAllocPitch", 0, Owner::context, true},
    {"cuMemAllocManaged", 0, Owner::context, true},
    {"cuMemAllocAsync", 0, Owner::context, true},
    {"cuMemAllocFromPoolAsync", 0, Owner::context, true},
    {"cuMemAllocHost", 0, Owner::context, true},
    {"cuMemHostAlloc", 0, Owner::context, true},
    {"cuArrayCreate", 0, Owner::context, false},
    {"cuArray3DCreate", 0, Owner::context, false},
    {"cuMipmappedArrayCreate", 0, Owner::context, false},
    {"cuTexObjectCreate", 0, Owner::context, false},
    {"cuSurfObjectCreate", 0, Owner::context, false},
    {"cuStreamCreate", 0, Owner::context, false},
    {"cuStreamCreateWithPriority", 0, Owner::context, false},
    {"cuEventCreate", 0, Owner::context, false},
    {"cuModuleLoad", 0, Owner::context, false},
    {"cuModuleLoadData", 0, Owner::context, false},
    {"cuModuleLoadDataEx", 0, Owner::context, false},
    {"cuModuleLoadFatBinary", 0, Owner::context, false},
    {"cuLibraryLoadData", 0, Owner::process, false},
    {"cuLibraryLoadFromFile", 0, Owner::process, false},
    {"cuLinkCreate", 3, Owner::context, false},
    {"cuGraphCreate", 0, Owner::process, false},
    {"cuGraphClone", 0, Owner::process, false},
    {"cuStreamEndCapture", 1, Owner::process, false},
    {"cuGraphInstantiate", 0, Owner::process, false},
    {"cuGraphInstantiateWithFlags", 0, Owner::process, false},
    {"cuGraphInstantiateWithParams", 0, Owner::process, false},
    {"cuMemPoolCreate", 0, Owner::process, false},
    {"cuMemCreate", 0, Owner::process, false},
    {"cuMemAddressReserve", 0, Owner::process, true},
    {"cuCtxCreate", 0, Owner::process, false},
};
// Calls that give something back: which argument is the handle.
struct Taker {
  std::string_view call;
  u32 argument;
};
constexpr Taker kTakers[] = {
    {"cuMemFree", 0},           {"cuMemFreeAsync", 0},          {"cuMemFreeHost", 0},
    {"cuArrayDestroy", 0},      {"cuMipmappedArrayDestroy", 0}, {"cuTexObjectDestroy", 0},
    {"cuSurfObjectDestroy", 0}, {"cuStreamDestroy", 0},         {"cuEventDestroy", 0},
    {"cuModuleUnload", 0},      {"cuLibraryUnload", 0},         {"cuLinkDestroy", 0},
    {"cuGraphDestroy", 0},      {"cuGraphExecDestroy", 0},      {"cuMemPoolDestroy", 0},
    {"cuMemRelease", 0},        {"cuMemAddressFree", 0},        {"cuCtxDestroy", 0},
    {"cuCtxDetach", 0},
};

struct Made {
  std::string_view call;
  CUcontext context;  // null: the process's
  u64 bytes;          // of memory
  const void* caller;
};

struct Ledger {
  std::mutex mutex;
  std::map<u64, Made> made;  // by handle
  std::map<CUdevice, long> retained;
};

void report_at_exit();

Ledger* unreported = nullptr;   // once a call has succeeded, until the report
bool runtime_is_there = false;  // the CUDA runtime has retained a primary context; under Ledger::mutex

// The CUDA runtime releases a program's code in an exit handler that runs later than one that is registered now. Where
// it is used, the report waits until this library is unloaded.
Ledger& ledger() {
  static Ledger& only = *[] {
    std::atexit([] {
      if (!runtime_is_there) report_at_exit();
    });
    return unreported = new Ledger;
  }();
  return only;
}

// The CUDA runtime holds the primary context for the program, which has no call to let go of it except for a reset.
bool is_runtime(const void* address) { return code_address(address).file.starts_with("libcudart.so"); }

std::string called_from(const void* address) {
  const CodeAddress where = code_address(address);
  if (where.file.empty()) return "";
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(where.offset - 1));
  return ", from " + where.file + offset;
}

// After a fault nothing can be freed: every call fails with it.
bool anything_faulted() {
  for (const Device* device : devices()) {
    if (device->fault != CUDA_SUCCESS) return true;
  }
  return false;
}

// One line for each call that made some of them.
void report(const std::string& when, const std::vector<std::pair<u64, Made>>& left) {
  if (left.empty() || anything_faulted()) return;
  struct Sum {
    u64 count = 0, bytes = 0;
    const void* first = nullptr;
    bool several = false;
  };
  std::map<std::string_view, Sum> sums;
  for (const auto& [handle, made] : left) {
    Sum& sum = sums[made.call];
    if (sum.count == 0) sum.first = made.caller;
    sum.several |= made.caller != sum.first;
    ++sum.count;
    sum.bytes += made.bytes;
  }
  std::string text = "========= simulated GPU: not released\n" + row("when", when);
  for (const auto& [call, sum] : sums) {
    const std::string times = std::to_string(sum.count) + " x";
    text += row(times.c_str(), std::string(call) +
                                   (sum.bytes != 0 ? ", " + std::to_string(sum.bytes) + " bytes" : std::string()) +
                                   called_from(sum.first) + (sum.several ? " and other places" : ""));
  }
  std::fputs(text.c_str(), stderr);
}

__attribute__((destructor)) void report_at_exit() {
  if (unreported == nullptr) return;
  Ledger& all = *std::exchange(unreported, nullptr);
  const std::scoped_lock lock(all.mutex);
  std::vector<std::pair<u64, Made>> left(all.made.begin(), all.made.end());
  for (const auto& [device, count] : all.retained) {
    for (long i = 0; i < count; ++i) left.emplace_back(0, Made{"cuDevicePrimaryCtxRetain", nullptr, 0, nullptr});
  }
  report("the process ended", left);
}

// Contexts that have ended take with them what is theirs.
void look_at_contexts(Ledger& all) {
  std::map<CUcontext, std::vector<std::pair<u64, Made>>> ended;
  for (auto at = all.made.begin(); at != all.made.end();) {
    const CUcontext context = at->second.context;
    if (context == nullptr || context_state(context) == ContextState::live) {
      ++at;
      continue;
    }
    ended[context].push_back(*at);
    at = all.made.erase(at);
  }
  for (const auto& [context, left] : ended) {
    char text[64];
    std::snprintf(text, sizeof text, "context %p was destroyed", static_cast<void*>(context));
    report(text, left);
  }
}

u64 value_of(const Argument& argument) {
  u64 value = 0;
  std::memcpy(&value, argument.value, sizeof value);
  return value;
}

}  // namespace

void note_call(const char* function, const Argument* arguments, std::size_t count) {
  const std::string call = plain_name(function);
  for (const Maker& maker : kMakers) {
    if (maker.call != call || maker.argument >= count) continue;
    const u64 out = value_of(arguments[maker.argument]);  // the pointer that the program has given
    if (out == 0) return;
    u64 handle = 0;
    std::memcpy(&handle, reinterpret_cast<const void*>(out), sizeof handle);
    if (handle == 0) return;
    Made made{maker.call, nullptr, 0, caller(is_runtime)};
    const auto& stack = this_thread().stack;
    if (maker.owner == Owner::context && !stack.empty()) made.context = stack.back();
    if (maker.memory) {
      const auto found = AddressSpace::instance().find(handle);
      if (found != nullptr) made.bytes = found->size;
    }
    Ledger& all = ledger();
    const std::scoped_lock lock(all.mutex);
    all.made[handle] = made;
    return;
  }
  Ledger& all = ledger();
  const std::scoped_lock lock(all.mutex);
  for (const Taker& taker : kTakers) {
    if (taker.call == call && taker.argument < count) all.made.erase(value_of(arguments[taker.argument]));
  }
  if (call == "cuDevicePrimaryCtxRetain" || call == "cuDevicePrimaryCtxRelease" || call == "cuDevicePrimaryCtxReset") {
    CUdevice device = 0;
    std::memcpy(&device, arguments[call == "cuDevicePrimaryCtxRetain" ? 1 : 0].value, sizeof device);
    const bool by_runtime = is_runtime(caller());
    runtime_is_there = runtime_is_there || by_runtime;
    if (call == "cuDevicePrimaryCtxReset")
      all.retained[device] = 0;
    else if (!by_runtime)
      all.retained[device] += call == "cuDevicePrimaryCtxRetain" ? 1 : -1;
  }
  if (call == "cuCtxDestroy" || call == "cuCtxDetach" || call == "cuDevicePrimaryCtxRelease" ||
      call == "cuDevicePrimaryCtxReset")
    look_at_contexts(all);
}

}  // namespace cudasim
