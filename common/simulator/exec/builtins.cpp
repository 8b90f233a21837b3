// The functions that every kernel may call: vprintf, malloc, free, __assertfail, cudaGraphSetConditional; and the one
// behind those of the linked device runtime. CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global Memory
// Allocation and Operations", "Assertion", "Conditional Graph Nodes".
#include "common/simulator/exec/builtins.hpp"

#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/numbers.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace cudasim {
namespace {

constexpr u32 kMostArguments = 32;            // of one printf; conversions beyond are printed as they are written
constexpr u64 kLongestString = u64{1} << 20;  // a device string without an end does not eat the host
constexpr int kWidest = 1 << 16;              // of a field

u64 argument(Warp& warp, const CallSite& site, std::size_t index, u32 lane) {
  const CallSite::Argument& a = site.arguments.at(index);
  u64 value = 0;
  const std::byte* from = a.in_register ? warp.in<std::byte>(a.slot) + lane * a.size
                                        : warp.block->local(warp, lane) + warp.frame->local_base + a.local;
  std::memcpy(&value, from, std::min<u32>(a.size, 8));
  return value;
}

void give_result(Warp& warp, const CallSite& site, u32 lane, u64 value) {
  if (site.results.empty()) return;
  const CallSite::Argument& r = site.results[0];
  std::byte* to = r.in_register ? warp.out<std::byte>(r.slot) + lane * r.size
                                : warp.block->local(warp, lane) + warp.frame->local_base + r.local;
  if (warp.observer != nullptr && !r.in_register)
    warp.observer->local_is_written(warp, lane, warp.frame->local_base + r.local, r.size);
  std::memcpy(to, &value, std::min<u32>(r.size, 8));
}

void read_string(Warp& warp, u32 lane, u64 address, std::string& text) {
  while (text.size() < kLongestString) {
    const char c = static_cast<char>(*access(warp, lane, Space::generic, address + text.size(), 1, Access::read));
    if (c == 0) break;
    text += c;
  }
}
std::string string_at(Warp& warp, u32 lane, u64 address) {
  std::string text;
  read_string(warp, lane, address, text);
  return text;
}
// What there is of a string that may lack its end, as those of some compilers' assertions do: that the assertion has
// failed is the news.
std::string readable_string_at(Warp& warp, u32 lane, u64 address) {
  std::string text;
  try {
    read_string(warp, lane, address, text);
  } catch (const Fault&) {
  }
  return text;
}

// The arguments of a printf, one after the other, as the compiler lays them out: each aligned to its own size.
class Arguments {
 public:
  Arguments(Warp& warp, u32 lane, u64 address) : warp_(warp), lane_(lane), address_(address) {}

  template <class T>
  T next() {
    offset_ = round_up(offset_, sizeof(T));
    T value;
    std::memcpy(&value, access(warp_, lane_, Space::generic, address_ + offset_, sizeof(T), Access::read), sizeof(T));
    offset_ += sizeof(T);
    ++taken_;
    return value;
  }
  std::string text() { return string_at(warp_, lane_, next<u64>()); }
  u32 taken() const { return taken_; }

 private:
  Warp& warp_;
  u32 lane_;
  u64 address_, offset_ = 0;
  u32 taken_ = 0;
};

template <class... Values>
void print(std::string& out, const std::string& conversion, Values... values) {
  // A literal format would be checked; this one comes from the kernel and has been taken apart by convert().
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  const int length = std::snprintf(nullptr, 0, conversion.c_str(), values...);
  if (length < 0) return;
  const std::size_t at = out.size();
  out.resize(at + static_cast<std::size_t>(length) + 1);
  std::snprintf(out.data() + at, static_cast<std::size_t>(length) + 1, conversion.c_str(), values...);
  out.pop_back();
#pragma GCC diagnostic pop
}

// A conversion as the programming guide describes it: %[flags][width][.precision][size]type, where only the width may
// be a star. A device knows no other sizes than h, l and ll.
struct Conversion {
  std::string flags, precision, size;
  std::string width;  // digits
  bool width_is_argument = false;
  char type = 0;  // 0: it is none
  std::size_t end = 0;  // behind it
};

std::string take(const std::string& format, std::size_t& at, std::string_view what) {
  const std::size_t begin = at;
  while (at < format.size() && what.find(format[at]) != std::string_view::npos) ++at;
  return format.substr(begin, at - begin);
}

Conversion conversion_at(const std::string& format, std::size_t at) {
  constexpr std::string_view kDigits = "0123456789";
  Conversion c;
  c.flags = take(format, ++at, "-+ #0");
  c.width_is_argument = at < format.size() && format[at] == '*';
  if (c.width_is_argument)
    ++at;
  else
    c.width = take(format, at, kDigits);
  if (at < format.size() && format[at] == '.') c.precision = "." + take(format, ++at, kDigits);
  c.size = take(format, at, "hljztL");
  if (at == format.size()) return c;
  const bool known = c.size.empty() || c.size == "h" || c.size == "l" || c.size == "ll";
  constexpr std::string_view kTypes = "%diouxXcspeEfFgGaA";
  if (known && kTypes.find(format[at]) != std::string_view::npos) c.type = format[at];
  c.end = at + 1;
  return c;
}

// At most kWidest, in digits.
std::string bounded(const std::string& digits) {
  return digits.empty() ? "" : std::to_string(std::min(std::stoi(digits.substr(0, 6)), kWidest));
}

// One conversion at format[at] == '%'; returns where it ends. What is no conversion is printed as it is written, and
// takes no argument.
std::size_t convert(const std::string& format, std::size_t at, Arguments& arguments, std::string& out) {
  const Conversion c = conversion_at(format, at);
  if (c.type == '%') return out += '%', c.end;
  if (c.type == 0 || arguments.taken() + c.width_is_argument >= kMostArguments) return out += '%', at + 1;
  std::string text = "%" + c.flags;
  text += c.width_is_argument ? std::to_string(std::clamp(arguments.next<i32>(), -kWidest, kWidest)) : bounded(c.width);
  if (!c.precision.empty()) text += "." + bounded(c.precision.substr(1));
  switch (c.type) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (c.size[0] == 'l')
        print(out, text + "ll" + c.type, static_cast<long long>(arguments.next<i64>()));
      else
        print(out, text + c.size + c.type, arguments.next<i32>());
      break;
    case 'c': print(out, text + c.type, arguments.next<i32>()); break;
    case 'p': print(out, text + c.type, reinterpret_cast<void*>(arguments.next<u64>())); break;
    case 's': print(out, text + c.type, arguments.text().c_str()); break;
    default: print(out, text + c.type, arguments.next<double>());
  }
  return c.end;
}

std::string formatted(Warp& warp, u32 lane, const std::string& format, u64 values, u32& taken) {
  Arguments arguments(warp, lane, values);
  std::string out;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] == '%') {
      at = convert(format, at, arguments, out);
    } else {
      const std::size_t end = std::min(format.find('%', at), format.size());
      out.append(format, at, end - at);
      at = end;
    }
  }
  taken = arguments.taken();
  return out;
}

void run_printf(Warp& warp, const CallSite& site) {
  std::string out;
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 format = argument(warp, site, 0, lane);
    u32 taken = ~0u;  // -1 for a null format
    if (format != 0) out += formatted(warp, lane, string_at(warp, lane, format), argument(warp, site, 1, lane), taken);
    give_result(warp, site, lane, taken);
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
}

// The device heap: allocations like any other, of at most the limit's bytes together. As on an H200, they are aligned
// to 16 bytes and no more, and the 8 bytes before each may be overwritten, where a compiler stores how many elements
// `new T[n]` has made.
constexpr u64 kHeapLead = 8;
struct Heap {
  std::mutex mutex;
  std::map<u64, u64> used;  // bytes, by context
};
Heap& heap() {
  static Heap* made = new Heap;
  return *made;
}
const char kHeapLabel[] = "malloc in a kernel";

void run_malloc(Warp& warp, const CallSite& site) {
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 size = argument(warp, site, 0, lane);
    give_result(warp, site, lane, heap_allocate(warp.block->grid->launch, size));
  }
}

void run_free(Warp& warp, const CallSite& site) {
  for (const u32 lane : set_bits(warp.mask)) {
    heap_free(warp, lane, argument(warp, site, 0, lane));
  }
}

void run_set_condition(Warp& warp, const CallSite& site) {
  const Launch& launch = warp.block->grid->launch;
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 handle = argument(warp, site, 0, lane);
    if (launch.set_condition != nullptr &&
        launch.set_condition(handle, static_cast<u32>(argument(warp, site, 1, lane))))
      continue;
    throw Fault{.kind = FaultKind::illegal_address,
                .what = "cudaGraphSetConditional for a handle that cuGraphConditionalHandleCreate did not create",
                .address = handle,
                .lane = lane};
  }
}

void run_device_runtime(Warp& warp, const CallSite& site) {
  const Launch& launch = warp.block->grid->launch;
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 function = static_cast<u32>(argument(warp, site, 0, lane));
    const std::byte* arguments = warp.block->local(warp, lane) + warp.frame->local_base + site.arguments.at(1).local;
    give_result(warp, site, lane, launch.device_runtime(warp, lane, function, arguments));
  }
}

std::string bracketed(Dim3 d) {
  return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

// The line is the real driver's; it is all the report there is.
[[noreturn]] void run_assertfail(Warp& warp, const CallSite& site) {
  Fault fault{.kind = FaultKind::assertion, .lane = first_lane(warp.mask)};
  const Grid& grid = *warp.block->grid;
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 thread = warp.index * kWarpSize + lane;
    const std::string message = readable_string_at(warp, lane, argument(warp, site, 0, lane));
    const std::string file = readable_string_at(warp, lane, argument(warp, site, 1, lane));
    const std::string function = readable_string_at(warp, lane, argument(warp, site, 3, lane));
    fault.report += file + ":" + std::to_string(static_cast<u32>(argument(warp, site, 2, lane))) + ": " + function +
                    ": block: " + bracketed(warp.block->index) +
                    ", thread: " + bracketed({grid.tid[0][thread], grid.tid[1][thread], grid.tid[2][thread]}) +
                    " Assertion `" + message + "` failed.\n";
    if (fault.what.empty()) fault.what = "assertion `" + message + "` failed";
  }
  throw fault;
}

}  // namespace

std::optional<Builtin> builtin_named(std::string_view name) {
  if (name == "vprintf") return Builtin::vprintf;
  if (name == "malloc") return Builtin::malloc;
  if (name == "free") return Builtin::free;
  if (name == "__assertfail") return Builtin::assertfail;
  if (name == "cudaGraphSetConditional") return Builtin::set_condition;
  if (name == kDeviceRuntimeCall) return Builtin::device_runtime;
  return std::nullopt;
}

u64 heap_allocate(const Launch& launch, u64 size) {
  {
    std::lock_guard lock(heap().mutex);
    u64& used = heap().used[launch.context];
    if (size > launch.heap_bytes || used > launch.heap_bytes - size) return 0;
    used += size;
  }
  Allocation wanted;
  wanted.size = size + kHeapLead;
  wanted.lead = kHeapLead;
  wanted.context = launch.context;
  wanted.device = launch.device;
  wanted.label = kHeapLabel;
  const auto made = AddressSpace::instance().allocate(wanted, 256, false);
  return made != nullptr ? made->base + kHeapLead : 0;
}

// As on an H200, which looks at what is before the block; it accepts some wrong addresses, none of which does here.
static FaultKind kind_of_bad_free(u64 address, bool mapped) {
  if (!mapped) return FaultKind::illegal_address;
  return address % 8 != 0 ? FaultKind::misaligned_address : FaultKind::trap;
}

void heap_free(Warp& warp, u32 lane, u64 address) {
  if (address == 0) return;
  AddressSpace& space = AddressSpace::instance();
  const u64 context = warp.block->grid->launch.context;
  const u64 base = address - kHeapLead;
  const auto found = space.find(address);
  if (found == nullptr || found->base != base || !from_heap(*found) || !space.release(base, "free")) {
    const auto freed = space.freed(address);
    const bool twice = freed && freed->base == base && from_heap(*freed);
    throw Fault{.kind = kind_of_bad_free(address, found != nullptr || twice || space_of(address) != Space::global),
                .what = (twice ? "free, for the second time, of " : "free of an address that malloc did not return: ") +
                        space.describe(address, 1, context),
                .address = address,
                .lane = lane};
  }
  std::fill(warp.views, warp.views + kViews, View());  // one of them may be of what is gone
  std::lock_guard lock(heap().mutex);
  heap().used[context] -= found->size - kHeapLead;
}

bool from_heap(const Allocation& a) { return a.label == kHeapLabel; }

void call_builtin(Warp& warp, const CallSite& site, Builtin builtin) {
  switch (builtin) {
    case Builtin::vprintf: return run_printf(warp, site);
    case Builtin::malloc: return run_malloc(warp, site);
    case Builtin::free: return run_free(warp, site);
    case Builtin::assertfail: run_assertfail(warp, site);
    case Builtin::set_condition: return run_set_condition(warp, site);
    case Builtin::device_runtime: return run_device_runtime(warp, site);
  }
}

}  // namespace cudasim
