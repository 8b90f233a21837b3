#include "common/simulator/state/launches/device_runtime.hpp"

#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/builtins.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/errors/errors.hpp"
#include "common/simulator/state/launches/children.hpp"
#include "common/simulator/state/launches/device_runtime_rows.hpp"
#include "common/simulator/state/launches/function_attributes.hpp"
#include "common/simulator/state/launches/occupancy.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/variables.hpp"
#include "common/simulator/wanted.hpp"
#include "common/simulator/watch/init.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

namespace cudasim {
namespace device_runtime {
namespace {

// cudaError_t. A function that returns an error also leaves it behind as its thread's last error.
enum class Error : u32 {
  none = 0,
  invalid_value = 1,
  memory_allocation = 2,
  invalid_configuration = 9,
  invalid_pitch = 12,
  invalid_direction = 21,
  too_many_launches = 69,
  invalid_function = 98,
  unsupported_limit = 215,
};

// What functions take. A function that takes a stream has a second name, which ends in _ptsz.
enum class StreamHandle : u64 {};
struct Pitched {  // cudaPitchedPtr
  u64 pointer, pitch, width, height;
};
struct Extent {  // cudaExtent, cudaPos
  u64 width, height, depth;
};
struct Copy {  // cudaMemcpy3DParms
  u64 from_array;
  Extent from_place;
  Pitched from;
  u64 to_array;
  Extent to_place;
  Pitched to;
  Extent extent;
  u32 kind;
};
static_assert(sizeof(Copy) == 160);
struct FunctionAttributes {  // the beginning of cudaFuncAttributes: an H200's device runtime writes no more of it
  u64 shared, constant, local;
  int max_threads, registers, ptx, binary;
};

constexpr u32 kDeviceToDevice = 3, kDefaultKind = 4;  // cudaMemcpyKind
constexpr u32 kNonBlocking = 1;                       // of a stream
constexpr u32 kDisableTiming = 2, kInterprocess = 4;  // of an event
constexpr int kVersion = 6000;                        // what an H200's device runtime of CUDA 13.0 calls itself
constexpr u64 kThreads = 256, kMostBlocks = 256;      // of a child that copies or fills

}  // namespace

// A thread in a call.
struct Caller {
  Warp& warp;
  const u32 lane;
  const ContextLaunch& launch = static_cast<const ContextLaunch&>(warp.block->grid->launch);
  const Program& program = *launch.program;
  Context& context = *launch.owner;

  u32& last_error() { return warp.block->last_error(warp, lane); }

  template <class T>
  T take(u64 from) {
    T value;
    std::memcpy(&value, at(from, sizeof value, alignof(T), Access::read), sizeof value);
    return value;
  }
  template <class T>
  Error give(u64 to, const T& value) {
    std::memcpy(at(to, sizeof value, alignof(T), Access::write), &value, sizeof value);
    return Error::none;
  }
  std::byte* at(u64 address, u32 size, u32 align, Access kind) {
    return access(warp, lane, Space::generic, address, size, align, kind, nullptr);
  }
};

namespace {

u64 fresh_number() {
  static std::atomic<u64> numbers{1 << 16};  // above the handles that mean something
  return ++numbers;
}

// ---- Launches

// A program may never ask for the error, so it is reported on stderr, once for each pair of kernels.
void tell_refused(const Caller& c, const Kernel& child, const std::string& why) {
  if (quiet()) return;
  static std::mutex mutex;
  static auto& told = *new std::set<std::pair<std::string, std::string>>;
  const std::scoped_lock lock(mutex);
  if (!told.emplace(c.launch.kernel->name, child.name).second) return;
  std::fprintf(stderr,
               "cudasim: kernel %s launched %s in a way that the device does not have "
               "(cudaErrorInvalidConfiguration; nothing runs): %s\n",
               readable(c.launch.kernel->name).c_str(), readable(child.name).c_str(), why.c_str());
}

constexpr u64 kParameters = offsetof(ChildPlace, parameters);

u64 address_of(const Caller& c, const ChildPlace& place) {
  const ChildTable table = child_table(c.program);
  return table.address + static_cast<u64>(&place - table.places) * sizeof place;
}

void tell_no_place(Context& context) {
  static std::once_flag told;
  if (quiet()) return;
  std::call_once(told, [&] {
    std::fprintf(stderr,
                 "cudasim: a kernel cannot launch another child (cudaErrorLaunchPendingCountExceeded): "
                 "the limit of pending launches is %llu (cuCtxSetLimit and CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, "
                 "or cudaDeviceSetLimit and cudaLimitDevRuntimePendingLaunchCount, change it), and at most %u may have "
                 "their parameters stored but not be launched\n",
                 static_cast<unsigned long long>(context.limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT)), kPlaces);
  });
}

// A place for a child's parameters; null if all are taken.
ChildPlace* take_place(Caller& c) {
  ChildPlace* const place = cudasim::take_place(c.launch);
  if (place == nullptr) {
    tell_no_place(c.context);
    c.last_error() = static_cast<u32>(Error::too_many_launches);
  }
  return place;
}

// Null if it is at no place that a grid still fills.
ChildPlace* place_of(const Caller& c, u64 buffer) {
  const ChildTable table = child_table(c.program);
  const u64 offset = buffer - kParameters - table.address;
  if (offset % sizeof(ChildPlace) != 0 || offset / sizeof(ChildPlace) >= kPlaces) return nullptr;
  ChildPlace& place = table.places[offset / sizeof(ChildPlace)];
  return std::atomic_ref<u32>(place.state) == 1 ? &place : nullptr;
}

void shape(ChildPlace& place, u64 function, Dim3 blocks, Dim3 threads, u32 shared) {
  place.function = function;
  place.blocks = blocks;
  place.threads = threads;
  place.dynamic_shared = shared;
}

// Whether the device can have what is at the place, and of which kernel.
Error judge(const Caller& c, const ChildPlace& place, const Kernel*& kernel) {
  kernel = kernel_at(c.program, place.function);
  if (kernel == nullptr) return Error::invalid_function;
  const std::string why = why_not(*kernel, place);
  if (why.empty()) return Error::none;
  tell_refused(c, *kernel, why);
  return Error::invalid_configuration;
}

Error put_in_line(const Caller& c, Child child, Context* counted = nullptr) {
  if (child.stream != kTailStream) child.from = launch_point(c.warp, c.lane);
  const Block& block = *c.warp.block;
  const u64 thread = block.number * block.grid->threads + c.warp.index * kWarpSize + c.lane;
  const bool launched = cudasim::put_in_line(c.launch.grid_id, thread, std::move(child), counted);
  return launched ? Error::none : Error::too_many_launches;
}

// Checks the launch again: kernels can write to the place.
Error launch(const Caller& c, ChildPlace& place, StreamHandle stream) {
  const Kernel* kernel = nullptr;
  Error error = judge(c, place, kernel);
  if (error == Error::none) {
    error = put_in_line(c,
                        {.kernel = kernel,
                         .blocks = place.blocks,
                         .threads = place.threads,
                         .dynamic_shared = place.dynamic_shared,
                         .stream = static_cast<u64>(stream),
                         .parameters = {place.parameters, place.parameters + kernel->parameter_bytes},
                         .then = {},
                         .counts = static_cast<u64>(stream) == kTailStream},
                        &c.context);
  }
  give_back(c.context, place, error == Error::none);
  return error;
}

// The compiler turns kernel<<<…>>> in a kernel into a request for a place, and if that succeeds, stores of the
// arguments and a launch.
u64 get_parameter_buffer_v2(Caller& c, u64 function, Dim3 blocks, Dim3 threads, u32 shared) {
  ChildPlace* const place = take_place(c);
  if (place == nullptr) return 0;
  shape(*place, function, blocks, threads, shared);
  const Kernel* kernel = nullptr;
  const Error error = judge(c, *place, kernel);
  if (error == Error::none) return address_of(c, *place) + kParameters;
  give_back(c.context, *place);
  c.last_error() = static_cast<u32>(error);
  return 0;
}

Error launch_device_v2(Caller& c, u64 buffer, StreamHandle stream) {
  ChildPlace* const place = place_of(c, buffer);
  return place != nullptr ? launch(c, *place, stream) : Error::too_many_launches;
}

// The same in the first version, where the shape comes last.
u64 get_parameter_buffer(Caller& c, u64 alignment, u64 size) {
  if (alignment > 64 || size > sizeof(ChildPlace::parameters)) return 0;
  ChildPlace* const place = take_place(c);
  return place != nullptr ? address_of(c, *place) + kParameters : 0;
}

Error launch_device(Caller& c, u64 function, u64 buffer, Dim3 blocks, Dim3 threads, u32 shared, StreamHandle stream) {
  ChildPlace* const place = place_of(c, buffer);
  if (place == nullptr) return Error::too_many_launches;
  shape(*place, function, blocks, threads, shared);
  return launch(c, *place, stream);
}

// ---- Memory

// The heap is that of malloc, as the programming guide has it.
Error malloc(Caller& c, u64 to, u64 bytes) {
  c.context.builtins |= 1u << static_cast<u32>(Builtin::malloc);
  const u64 place = bytes != 0 ? heap_allocate(c.launch, bytes) : 0;
  c.give(to, place);
  return place == 0 && bytes != 0 ? Error::memory_allocation : Error::none;
}

Error free(Caller& c, u64 pointer) {
  heap_free(c.warp, c.lane, pointer);
  return Error::none;
}

u64 bytes_of(const Extent& e) { return e.width * e.height * e.depth; }

// Copies and fills are children, too, of the kernels in kOwnKernels, with as many threads as they need. What they have
// written, the check for initialized memory learns afterwards, in `then`: like a copy by the host, it may copy
// unwritten bytes.
Error launch_own(Caller& c, const char* name, std::initializer_list<u64> parameters, const Extent& extent,
                 StreamHandle stream, std::function<void()> then) {
  const auto& kernels = c.program.runtime_kernels;
  const auto own = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) { return k.name == name; });
  const u32 blocks = static_cast<u32>(std::min((bytes_of(extent) + kThreads - 1) / kThreads, kMostBlocks));
  const auto* const begin = reinterpret_cast<const std::byte*>(parameters.begin());
  return put_in_line(c, {&*own,
                         {blocks, 1, 1},
                         {kThreads, 1, 1},
                         0,
                         static_cast<u64>(stream),
                         {begin, begin + parameters.size() * sizeof(u64)},
                         std::move(then)});
}

// f(y, z) for each row of a box, if a check follows what is written.
template <class F>
void each_row(const Extent& box, F f) {
  if (!checks().init) return;
  for (u64 z = 0; z < box.depth; ++z) {
    for (u64 y = 0; y < box.height; ++y) f(y, z);
  }
}
u64 row_of(const Pitched& memory, u64 y, u64 z) { return memory.pointer + (z * memory.height + y) * memory.pitch; }

// `height` of what is pitched: the rows from one slice to the next.
Error copy(Caller& c, const Pitched& to, const Pitched& from, const Extent& extent, u32 kind, StreamHandle stream) {
  if (bytes_of(extent) == 0) return Error::none;  // whatever else is wrong
  if (kind != kDeviceToDevice && kind != kDefaultKind) return Error::invalid_direction;
  if (extent.width > to.pitch || extent.width > from.pitch) return Error::invalid_pitch;
  return launch_own(
      c, "cudasim_copy",
      {to.pointer, to.pitch, to.pitch * to.height, from.pointer, from.pitch, from.pitch * from.height, extent.width,
       extent.height, bytes_of(extent)},
      extent, stream, [to, from, extent] {
        each_row(extent, [&](u64 y, u64 z) { memory_is_copied(row_of(to, y, z), row_of(from, y, z), extent.width); });
      });
}

Error memcpy_2d(Caller& c, u64 to, u64 to_pitch, u64 from, u64 from_pitch, u64 width, u64 height, u32 kind,
                StreamHandle stream) {
  return copy(c, {to, to_pitch, width, height}, {from, from_pitch, width, height}, {width, height, 1}, kind, stream);
}

Error memcpy_1d(Caller& c, u64 to, u64 from, u64 bytes, u32 kind, StreamHandle stream) {
  return memcpy_2d(c, to, bytes, from, bytes, bytes, 1, kind, stream);
}

// Whether a box at `place` is inside; the number of slices is not known.
bool inside(const Pitched& memory, const Extent& place, const Extent& extent) {
  return extent.depth <= 1 || place.height + extent.height <= memory.height;
}

Error memcpy_3d(Caller& c, u64 parameters, StreamHandle stream) {
  const auto wanted = c.take<Copy>(parameters);
  if (wanted.from_array != 0 || wanted.to_array != 0) return Error::invalid_value;
  if (!inside(wanted.from, wanted.from_place, wanted.extent) || !inside(wanted.to, wanted.to_place, wanted.extent))
    return Error::invalid_value;
  const auto from = [](Pitched memory, const Extent& place) {
    memory.pointer += (place.depth * memory.height + place.height) * memory.pitch + place.width;
    return memory;
  };
  return copy(c, from(wanted.to, wanted.to_place), from(wanted.from, wanted.from_place), wanted.extent, wanted.kind,
              stream);
}

Error memset_3d(Caller& c, Pitched to, u32 value, Extent extent, StreamHandle stream) {
  if (bytes_of(extent) == 0) return Error::none;
  if (extent.width > to.pitch || !inside(to, {}, extent)) return Error::invalid_value;
  return launch_own(c, "cudasim_fill",
                    {to.pointer, to.pitch, to.pitch * to.height, value, extent.width, extent.height, bytes_of(extent)},
                    extent, stream, [to, extent] {
                      each_row(extent, [&](u64 y, u64 z) { memory_is_written(row_of(to, y, z), extent.width); });
                    });
}

Error memset_2d(Caller& c, u64 to, u64 pitch, u32 value, u64 width, u64 height, StreamHandle stream) {
  return memset_3d(c, {to, pitch, width, height}, value, {width, height, 1}, stream);
}

Error memset_1d(Caller& c, u64 to, u32 value, u64 bytes, StreamHandle stream) {
  return memset_2d(c, to, bytes, value, bytes, 1, stream);
}

// ---- Streams and events: no more than a number each, for children run one after the other.

Error stream_create(Caller& c, u64 to, u32 flags) {
  if ((flags & ~kNonBlocking) != 0) return Error::invalid_value;
  return c.give(to, fresh_number());
}

Error event_create(Caller& c, u64 to, u32 flags) {
  if ((flags & (kDisableTiming | kInterprocess)) != kDisableTiming) return Error::invalid_value;  // others are ignored
  return c.give(to, fresh_number());
}

Error destroy(Caller&, u64) { return Error::none; }
Error stream_wait_event(Caller&, StreamHandle, u64, u32) { return Error::none; }
Error event_record(Caller&, u64, StreamHandle) { return Error::none; }
Error event_record_with_flags(Caller&, u64, StreamHandle, u32) { return Error::none; }

// ---- Errors

// These return an error as their result; they do not fail with it.
u32 get_last_error(Caller& c) { return std::exchange(c.last_error(), 0); }
u32 peek_at_last_error(Caller& c) { return c.last_error(); }

// All names and sentences, each with a 0 behind it, and where they begin.
struct ErrorWords {
  struct Places {
    u64 name, sentence;
  };
  std::string text;
  Places unknown;
  std::map<u32, Places> known;

  ErrorWords() : unknown{add("unrecognized error code"), 0} {
    know(0, "cudaSuccess", "no error");
#define E(code, name, sentence) know(code, "cudaError" #name, sentence);
#include "common/runtime/errors.inc"
#undef E
  }
  void know(u32 code, const char* name, const char* sentence) { known[code] = {add(name), add(sentence)}; }
  u64 add(std::string_view word) {
    const u64 at = text.size();
    text.append(word).push_back('\0');
    return at;
  }
  const Places& of(u32 code) const {
    const auto found = known.find(code);
    return found != known.end() ? found->second : unknown;
  }
};
const ErrorWords& error_words() {
  static auto& all = *new ErrorWords;
  return all;
}

u64 get_error_name(Caller& c, u32 code) {
  return runtime_variable(c.program, kErrorTable)->address + error_words().of(code).name;
}
u64 get_error_string(Caller& c, u32 code) {
  return runtime_variable(c.program, kErrorTable)->address + error_words().of(code).sentence;
}

// ---- Questions

Error get_device(Caller& c, u64 to) { return c.give(to, int{c.context.device.ordinal}); }
Error get_device_count(Caller& c, u64 to) { return c.give(to, static_cast<int>(devices().size())); }
Error runtime_get_version(Caller& c, u64 to) { return c.give(to, kVersion); }

// An H200 reports its own attributes for any ordinal.
Error device_get_attribute(Caller& c, u64 to, u32 attribute, u32 ordinal) {
  const Device& device = ordinal < devices().size() ? *devices()[ordinal] : c.context.device;
  const auto value = attribute_value(device, static_cast<int>(attribute));
  return value ? c.give(to, *value) : Error::invalid_value;
}

// The errors of this question and of those after occupancy are not remembered: they have another type.
u32 device_get_limit(Caller& c, u64 to, u32 limit) {
  if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH) return static_cast<u32>(Error::unsupported_limit);
  if (limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE) return static_cast<u32>(Error::invalid_value);
  return static_cast<u32>(c.give(to, c.context.limit(static_cast<CUlimit>(limit))));
}

Error device_get_cache_config(Caller& c, u64 to) {
  const std::scoped_lock lock(c.context.settings);
  return c.give(to, static_cast<u32>(c.context.cache_config));
}

Error device_get_shared_config(Caller& c, u64 to) { return c.give(to, u32{CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE}); }

u32 occupancy_with_flags(Caller& c, u64 to, u64 function, int block, u64 shared, u32 flags) {
  const Kernel* const kernel = kernel_at(c.program, function);
  if (kernel == nullptr) return static_cast<u32>(Error::invalid_function);
  if (block <= 0 || (flags & ~u32{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0) {
    c.give(to, 0);
    return static_cast<u32>(Error::invalid_value);
  }
  const auto fit = blocks_per_multiprocessor(*kernel, default_settings(*kernel), static_cast<u64>(block), shared);
  return static_cast<u32>(c.give(to, fit));
}
u32 occupancy(Caller& c, u64 to, u64 function, int block, u64 shared) {
  return occupancy_with_flags(c, to, function, block, shared, 0);
}

Error func_get_attributes(Caller& c, u64 to, u64 function) {
  const Kernel* const kernel = kernel_at(c.program, function);
  if (kernel == nullptr) return Error::invalid_function;
  const auto value = [&](CUfunction_attribute which) {
    return function_attribute(c.program, *kernel, default_settings(*kernel), which);
  };
  const auto size = [&](CUfunction_attribute which) { return static_cast<u64>(value(which)); };
  return c.give(to, FunctionAttributes{
                        .shared = size(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                        .constant = size(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
                        .local = size(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                        .max_threads = value(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                        .registers = value(CU_FUNC_ATTRIBUTE_NUM_REGS),
                        .ptx = value(CU_FUNC_ATTRIBUTE_PTX_VERSION),
                        .binary = value(CU_FUNC_ATTRIBUTE_BINARY_VERSION),
                    });
}

// ---- The table, and the PTX that is made of it

// A function's row, made of its type.
template <auto F>
struct Entry;
template <class R, class... A, R (*F)(Caller&, A...)>
struct Entry<F> {
  static Parameter next(u32& end, u32 size, u32 align, bool array) {
    const u32 offset = static_cast<u32>(round_up(end, align));
    end = offset + size;
    return {offset, size, align, array};
  }
  template <class T>
  static T take(const std::byte* arguments, u32& end) {
    T value;
    std::memcpy(&value, arguments + next(end, sizeof value, alignof(T), false).offset, sizeof value);
    return value;
  }
  static u64 call(Caller& caller, const std::byte* arguments) {
    [[maybe_unused]] u32 end = 0;
    const std::tuple<A...> values{take<A>(arguments, end)...};
    (void)arguments;
    const R result = std::apply([&](const A&... each) { return F(caller, each...); }, values);
    if constexpr (std::is_same_v<R, Error>) {
      if (result != Error::none) caller.last_error() = static_cast<u32>(result);
    }
    return static_cast<u64>(result);
  }
  static Row row(const char* name) {
    static_assert((0 + ... + sizeof(A)) + 8 <= kMostArgumentBytes);
    [[maybe_unused]] u32 end = 0;
    return {name,
            sizeof(R),
            (false || ... || std::is_same_v<A, StreamHandle>),
            {next(end, sizeof(A), alignof(A), std::is_class_v<A>)...},
            call};
  }
};

}  // namespace

const std::string& error_words_text() { return error_words().text; }

const std::vector<Row>& rows() {
  static const auto& all = *new std::vector<Row>{
      Entry<get_parameter_buffer>::row("GetParameterBuffer"),
      Entry<get_parameter_buffer_v2>::row("GetParameterBufferV2"),
      Entry<launch_device>::row("LaunchDevice"),
      Entry<launch_device_v2>::row("LaunchDeviceV2"),
      Entry<malloc>::row("Malloc"),
      Entry<free>::row("Free"),
      Entry<memcpy_1d>::row("MemcpyAsync"),
      Entry<memcpy_2d>::row("Memcpy2DAsync"),
      Entry<memcpy_3d>::row("Memcpy3DAsync"),
      Entry<memset_1d>::row("MemsetAsync"),
      Entry<memset_2d>::row("Memset2DAsync"),
      Entry<memset_3d>::row("Memset3DAsync"),
      Entry<stream_create>::row("StreamCreateWithFlags"),
      Entry<destroy>::row("StreamDestroy"),
      Entry<stream_wait_event>::row("StreamWaitEvent"),
      Entry<event_create>::row("EventCreateWithFlags"),
      Entry<destroy>::row("EventDestroy"),
      Entry<event_record>::row("EventRecord"),
      Entry<event_record_with_flags>::row("EventRecordWithFlags"),
      Entry<get_last_error>::row("GetLastError"),
      Entry<peek_at_last_error>::row("PeekAtLastError"),
      Entry<get_error_name>::row("GetErrorName"),
      Entry<get_error_string>::row("GetErrorString"),
      Entry<get_device>::row("GetDevice"),
      Entry<get_device_count>::row("GetDeviceCount"),
      Entry<runtime_get_version>::row("RuntimeGetVersion"),
      Entry<device_get_attribute>::row("DeviceGetAttribute"),
      Entry<device_get_limit>::row("DeviceGetLimit"),
      Entry<device_get_cache_config>::row("DeviceGetCacheConfig"),
      Entry<device_get_shared_config>::row("DeviceGetSharedMemConfig"),
      Entry<func_get_attributes>::row("FuncGetAttributes"),
      Entry<occupancy>::row("OccupancyMaxActiveBlocksPerMultiprocessor"),
      Entry<occupancy_with_flags>::row("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags"),
  };
  return all;
}

}  // namespace device_runtime

u64 call_device_runtime(Warp& warp, u32 lane, u32 function, const std::byte* arguments) {
  device_runtime::Caller caller{warp, lane};
  return device_runtime::rows().at(function).call(caller, arguments);
}

}  // namespace cudasim
