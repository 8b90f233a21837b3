// The first versions of the functions that deal with memory, from the time when device pointers and sizes had 32 bits.
// Programs of today reach them by their bare names, through dlsym or ctypes: cuMemAlloc, not cuMemAlloc_v2. Driver 580
// serves them for 64-bit programs as well: a context of cuCtxCreate, the bare name, has its memory below 4 GiB.
//
// Each converts its arguments and calls the newest version. functions.inc lists them, and exports.cpp has verified that
// the current context is such a one.
#include "common/simulator/api/call.hpp"
#include "common/simulator/api/copy_fields.hpp"

#include <algorithm>
#include <tuple>

namespace cudasim {
namespace {

unsigned narrow(u64 value) { return static_cast<unsigned>(std::min<u64>(value, ~0u)); }

CUDA_MEMCPY3D wide(const FirstCopy3D& from) {
  auto to = with_slices_of<CUDA_MEMCPY3D>(from);
  to.reserved0 = from.reserved0, to.reserved1 = from.reserved1;
  return to;
}
CUDA_MEMCPY2D wide(const FirstCopy2D& from) { return with_rows_of<CUDA_MEMCPY2D>(from); }
CUDA_ARRAY_DESCRIPTOR wide(const FirstArray& from) { return {from.Width, from.Height, from.Format, from.NumChannels}; }
CUDA_ARRAY3D_DESCRIPTOR wide(const FirstArray3D& from) {
  return {from.Width, from.Height, from.Depth, from.Format, from.NumChannels, from.Flags};
}

void narrow(const CUDA_ARRAY_DESCRIPTOR& from, FirstArray& to) {
  to = {narrow(from.Width), narrow(from.Height), from.Format, from.NumChannels};
}
void narrow(const CUDA_ARRAY3D_DESCRIPTOR& from, FirstArray3D& to) {
  to = {narrow(from.Width), narrow(from.Height), narrow(from.Depth), from.Format, from.NumChannels, from.Flags};
}
void narrow(size_t from, unsigned& to) { to = narrow(from); }
void narrow(CUdeviceptr from, FirstPointer& to) {
  require(from <= ~0u, CUDA_ERROR_NOT_SUPPORTED, [] { return "the memory has an address of more than 32 bits"; });
  to = static_cast<FirstPointer>(from);
}

// An argument of a first version for a call of the newest: numbers, handles and host pointers stay as they are.
template <class Newest, class First>
struct Converted {
  First first;
  operator Newest() { return first; }
  void store() {}
};
// A description that the function reads.
template <class Wide, class Narrow>
  requires(!std::is_same_v<Wide, Narrow> && std::is_class_v<Wide>)
struct Converted<const Wide*, const Narrow*> {
  explicit Converted(const Narrow* first) {
    require(first != nullptr);
    value = wide(*first);
  }
  Wide value;
  operator const Wide*() { return &value; }
  void store() {}
};
// What the function writes.
template <class Wide, class Narrow>
  requires(!std::is_same_v<Wide, Narrow> && !std::is_const_v<Wide> && !std::is_pointer_v<Wide>)
struct Converted<Wide*, Narrow*> {
  Narrow* out;
  Wide value{};
  operator Wide*() { return out == nullptr ? nullptr : &value; }
  void store() {
    if (out != nullptr) narrow(value, *out);
  }
};

template <class... Newest, class... First>
CUresult convert_and_call(CUresult (*newest)(Newest...), First... arguments) {
  std::tuple<Converted<Newest, First>...> converted{Converted<Newest, First>{arguments}...};
  const CUresult result = std::apply([&](auto&... each) { return newest(each...); }, converted);
  if (result == CUDA_SUCCESS) std::apply([](auto&... each) { (each.store(), ...); }, converted);
  return result;
}

}  // namespace

#define FUNCTION(...)
#define PER_THREAD(...)
#define FIRST_VERSION(name, release, symbol, admits, newest, parameters, ...) \
  CUresult driver::call_##symbol parameters { return convert_and_call(&call_##newest, __VA_ARGS__); }
#define UNKNOWN_FUNCTION(...)
#define UNKNOWN_PER_THREAD(...)
#include "common/simulator/api/functions.inc"

}  // namespace cudasim
