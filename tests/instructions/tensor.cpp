// Tensor copies: boxes into shared memory and back, as the manual describes tensor maps. The kernel writes out the
// whole box as it is in shared memory, swizzled or not.
#include "tests/catch.hpp"
#include "tests/instructions/case.hpp"
#include "tests/instructions/device.hpp"

#if CUDA_VERSION >= 12000

#include <numeric>

namespace {

using namespace instructions;

struct Tensor {
  CUtensorMapDataType type;
  u32 element;                 // bytes
  std::vector<u64> size;       // elements
  std::vector<u32> box, step;  // elements
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  u64 rows() const { return std::accumulate(size.begin() + 1, size.end(), u64{1}, std::multiplies<>()); }
  u64 pitch() const { return (size[0] * element + 15) / 16 * 16; }
  u64 bytes() const { return rows() * pitch(); }
  // In the first dimension there are no steps.
  u32 step_of(std::size_t k) const { return k == 0 ? 1 : step[k]; }
  u32 count(std::size_t k) const { return (box[k] + step_of(k) - 1) / step_of(k); }
  u32 box_bytes() const {
    u32 n = element;
    for (std::size_t k = 0; k < box.size(); ++k) n *= count(k);
    return n;
  }
};

CUtensorMap encoded(const Tensor& t, CUdeviceptr address) {
  CUtensorMap map;
  std::vector<cuuint64_t> size(t.size.begin(), t.size.end()), stride;
  u64 bytes = t.pitch();
  for (std::size_t k = 1; k < t.size.size(); ++k) stride.push_back(bytes), bytes *= t.size[k];
  stride.reserve(1);  // a driver wants an array of none, too
  CU_CHECK(cuTensorMapEncodeTiled(&map, t.type, u32(t.size.size()), reinterpret_cast<void*>(address), size.data(),
                                  stride.data(), t.box.data(), t.step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, t.fill));
  return map;
}

// Where byte `at` of a box is in shared memory that is aligned to 1,024 bytes.
u32 place(u32 at, CUtensorMapSwizzle swizzle) {
  const u32 bits = swizzle == CU_TENSOR_MAP_SWIZZLE_32B    ? 1
                   : swizzle == CU_TENSOR_MAP_SWIZZLE_64B  ? 3
                   : swizzle == CU_TENSOR_MAP_SWIZZLE_128B ? 7
                                                           : 0;
  return at ^ (at >> 7 & bits) << 4;
}

// Calls f(offset in the box, offset in the tensor or ~0 outside of it) for each element.
template <class F>
void for_elements(const Tensor& t, const std::vector<i32>& start, F f) {
  const u32 elements = t.box_bytes() / t.element;
  for (u32 n = 0; n < elements; ++n) {
    u64 offset = 0, stride = t.pitch();
    bool inside = true;
    u32 rest = n;
    for (std::size_t k = 0; k < t.box.size(); ++k) {
      const i64 at = start[k] + i64(rest % t.count(k)) * t.step_of(k);
      rest /= t.count(k);
      inside = inside && at >= 0 && at < i64(t.size[k]);
      offset += u64(at) * (k == 0 ? t.element : stride);
      if (k != 0) stride *= t.size[k];
    }
    f(n * t.element, inside ? offset : ~u64{0});
  }
}

std::string coordinates(const std::vector<i32>& start) {
  std::string s = "{";
  for (std::size_t k = 0; k < start.size(); ++k) s += (k ? ", " : "") + std::to_string(start[k]);
  return s + "}";
}

enum class Then { nothing, store, add };

// Which of the forms that mean the same; and which reduction.
struct How {
  std::string space = "shared::cluster", op = "add";
  bool tile = false, load_hint = false, multicast = false, store_hint = false, prefetch = false, prefetch_hint = false;
};
std::string tile(const How& how) { return how.tile ? ".tile" : ""; }

std::string back(const std::string& dimensions, const std::vector<i32>& there, Then then, const How& how,
                 const std::string& mode) {
  return (then == Then::add ? "cp.reduce.async.bulk.tensor." + dimensions + ".global.shared::cta." + how.op
                            : "cp.async.bulk.tensor." + dimensions + ".global.shared::cta") +
         mode + ".bulk_group" + (how.store_hint ? ".L2::cache_hint" : "") + " [%to, " + coordinates(there) + "], [%b]" +
         (how.store_hint ? ", %policy" : "") + ";\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";
}

// Copies the box at `start` to shared memory; offsets: those of im2col.
std::string fetch(const std::string& dimensions, const std::vector<i32>& start, const How& how, const std::string& mode,
                  const std::string& offsets = "") {
  const std::string place = "[%from, " + coordinates(start) + "]";
  std::string text =
      ".reg .b64 %policy; .reg .b16 %all; createpolicy.fractional.L2::evict_first.b64 %policy; mov.u16 %all, 1;\n";
  if (how.prefetch)
    text += "cp.async.bulk.prefetch.tensor." + dimensions + ".L2.global" + mode +
            (how.prefetch_hint ? ".L2::cache_hint " : " ") + place + offsets +
            (how.prefetch_hint ? ", %policy;\n" : ";\n");
  return text + "cp.async.bulk.tensor." + dimensions + "." + how.space + ".global" + mode +
         ".mbarrier::complete_tx::bytes" + (how.multicast ? ".multicast::cluster" : "") +
         (how.load_hint ? ".L2::cache_hint" : "") + " [%b], " + place + ", [%m]" + offsets +
         (how.multicast ? ", %all" : "") + (how.load_hint ? ", %policy" : "") + ";\n";
}

u32 reduced(const std::string& op, u32 old, u32 x) {
  if (op == "add") return old + x;
  if (op == "min") return std::min(old, x);
  if (op == "max") return std::max(old, x);
  if (op == "inc") return old >= x ? 0 : old + 1;
  if (op == "dec") return old == 0 || old > x ? x : old - 1;
  return op == "and" ? old & x : op == "or" ? old | x : old ^ x;
}

// Each form of a load, a prefetch, a store, and a reduction at least once.
std::vector<How> forms() {
  std::vector<How> all;
  const char* ops[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (u32 k = 0; k < 16; ++k) {
    How how;
    how.tile = k % 2 != 0;
    how.op = ops[k / 2];
    how.store_hint = (k + k / 2) % 2 != 0;
    how.load_hint = k / 2 % 2 != 0;
    how.multicast = k / 4 % 2 != 0;
    if (!how.multicast && k >= 8 && Device::ptx_version(86) == 86) how.space = "shared::cta";
    how.prefetch = k % 4 < 3;
    how.prefetch_hint = k / 8 != 0;
    all.push_back(how);
    how.store_hint = !how.store_hint;
    how.prefetch_hint = !how.prefetch_hint;
    all.push_back(how);
  }
  return all;
}

// Loads the box at `start` of the first tensor, writes it to `out` as it is in shared memory, then stores it to
// `there` in the second tensor, or adds it to what is there.
std::string kernel(const Tensor& t, const std::vector<i32>& start, const std::vector<i32>& there, Then then,
                   const How& how = {}) {
  const std::string n = std::to_string(t.size.size()) + "d", bytes = std::to_string(t.box_bytes());
  return ".const .align 128 .b8 none[128];\n.visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 "
         "to[128], .param .u64 out) {\n"
         ".shared .align 1024 .b8 box[" +
         bytes +
         "];\n.shared .align 8 .b64 barrier;\n"
         ".reg .b32 %t, %b, %m, %x, %y; .reg .b64 %from, %to, %out, %at; .reg .pred %p, %first;\n"
         "mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0; mov.u32 %b, box; mov.u32 %m, barrier;\n"
         "prefetch.param.tensormap [from]; prefetch.const.tensormap [none];\nmov.b64 %from, from; cvta.param.u64 "
         "%from, %from; mov.b64 %to, to; cvta.param.u64 %to, %to;\n"
         "ld.param.u64 %out, [out];\n@!%first bra LOADED;\nmbarrier.init.shared.b64 [%m], 1;\n"
         "fence.proxy.async;\nmbarrier.arrive.expect_tx.shared.b64 _, [%m], " +
         bytes + ";\n" + fetch(n, start, how, tile(how)) +
         "LOADED:\nbar.sync 0;\nAGAIN:\n"
         "mbarrier.try_wait.parity.shared.b64 %p, [%m], 0;\n@!%p bra AGAIN;\nmov.u32 %x, %t;\nCOPY:\n"
         "setp.ge.u32 %p, %x, " +
         bytes +
         ";\n@%p bra DONE;\nadd.u32 %y, %b, %x; ld.shared.u8 %y, [%y];\n"
         "cvt.u64.u32 %at, %x; add.u64 %at, %at, %out; st.global.u8 [%at], %y; add.u32 %x, %x, 32; bra COPY;\nDONE:\n" +
         (then == Then::nothing ? "ret;\n}\n" : "bar.sync 0;\n@!%first ret;\n" + back(n, there, then, how, tile(how)));
}

template <class T>
cu::Memory on_device(const std::vector<T>& values) {
  cu::Memory memory(values.size() * sizeof(T));
  CU_CHECK(cuMemcpyHtoD(memory.address, values.data(), values.size() * sizeof(T)));
  return memory;
}
template <class T>
std::vector<T> read(const cu::Memory& memory, std::size_t count) {
  std::vector<T> values(count);
  CU_CHECK(cuMemcpyDtoH(values.data(), memory.address, count * sizeof(T)));
  return values;
}
// Runs a kernel with two tensor maps; the `count` numbers that it writes.
template <class T>
std::vector<T> run(const std::string& text, CUtensorMap from, CUtensorMap to, std::size_t count, u32 threads = 32) {
  std::string log;
  cu::Module module;
  module.handle = load(header(Device::ptx_version(87), 90) + text, log);
  REQUIRE(log == "");
  cu::Memory out(count * sizeof(T));
  void* parameters[] = {&from, &to, &out.address};
  CU_CHECK(cuLaunchKernel(module.function("k"), 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr));
  return read<T>(out, count);
}

void check(const Tensor& t, const std::vector<i32>& start, const std::vector<i32>& there, Then then = Then::store,
           const How& how = {}) {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("tensor copies need compute capability 9.0");
  std::vector<u8> from(t.bytes()), to(t.bytes(), 0);
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = u8(k * 7 + k / 251 + 1) & 0x3f;
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = u8(k * 3) & 0x3f;
  const cu::Memory device_from = on_device(from), device_to = on_device(to);
  const std::vector<u8> out = run<u8>(kernel(t, start, there, then, how), encoded(t, device_from.address),
                                      encoded(t, device_to.address), t.box_bytes());

  std::vector<u8> box(t.box_bytes(), 0);
  for_elements(t, start, [&](u32 at, u64 offset) {
    for (u32 k = 0; offset != ~u64{0} && k < t.element; ++k) box[at + k] = from[offset + k];
    for (u32 k = 0; offset == ~u64{0} && t.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && k < t.element; k += 2)
      box[at + k] = 0xf7, box[at + k + 1] = 0x7f;
  });
  std::vector<u8> laid_out(box.size());
  for (u32 k = 0; k < box.size(); ++k) laid_out[place(k, t.swizzle)] = box[k];
  CHECK(out == laid_out);
  for_elements(t, there, [&](u32 at, u64 offset) {
    if (offset == ~u64{0} || then == Then::nothing) return;
    if (then == Then::store) return void(std::memcpy(&to[offset], &box[at], t.element));
    u32 sum = 0, old = 0;
    std::memcpy(&sum, &box[at], t.element);
    std::memcpy(&old, &to[offset], t.element);
    sum = reduced(how.op, old, sum);
    std::memcpy(&to[offset], &sum, t.element);
  });
  CHECK(read<u8>(device_to, to.size()) == to);
}

// Pixels of im2col: the sizes of a tensor of images (channels, width, height, depth, images; the last is always
// images), and the bounding box.
struct Images {
  std::vector<u64> size;
  std::vector<int> lower, upper;  // width first
  u32 channels, pixels;
  std::vector<u32> step;
  std::vector<i32> start;
  std::vector<u32> offset;  // width first
};

CUtensorMap encoded(const Images& t, CUdeviceptr address) {
  CUtensorMap map;
  const std::vector<cuuint64_t> size(t.size.begin(), t.size.end());
  std::vector<cuuint64_t> stride;
  u64 elements = t.size[0];
  for (std::size_t k = 1; k < t.size.size(); ++k) stride.push_back(elements * 4), elements *= t.size[k];
  REQUIRE(cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, u32(t.size.size()),
                                  reinterpret_cast<void*>(address), size.data(), stride.data(), t.lower.data(),
                                  t.upper.data(), t.channels, t.pixels, t.step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

std::string kernel(const Images& t, Then then, const How& how) {
  const std::string n = std::to_string(t.size.size()) + "d", bytes = std::to_string(t.channels * t.pixels * 4);
  std::string offsets = ", {";
  for (std::size_t k = 0; k < t.offset.size(); ++k) offsets += (k ? ", " : "") + std::to_string(t.offset[k]);
  return ".visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 out) {\n"
         ".shared .align 1024 .b8 box[" +
         bytes +
         "];\n.shared .align 8 .b64 barrier;\n"
         ".reg .b32 %b, %m, %x, %y; .reg .b64 %from, %to, %out; .reg .pred %p;\n"
         "mov.u32 %b, box; mov.u32 %m, barrier;\n"
         "mov.b64 %from, from; cvta.param.u64 %from, %from; mov.b64 %to, to; cvta.param.u64 %to, %to;\n"
         "ld.param.u64 %out, [out];\nmbarrier.init.shared.b64 [%m], 1;\nfence.proxy.async;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [%m], " +
         bytes + ";\n" + fetch(n, t.start, how, ".im2col", offsets + "}") +
         "AGAIN:\n"
         "mbarrier.try_wait.parity.shared.b64 %p, [%m], 0;\n@!%p bra AGAIN;\nmov.u32 %x, 0;\nCOPY:\n"
         "ld.shared.b32 %y, [%b]; st.global.b32 [%out], %y; add.u32 %b, %b, 4; add.u64 %out, %out, 4;\n"
         "add.u32 %x, %x, 4; setp.lt.u32 %p, %x, " +
         bytes + ";\n@%p bra COPY;\nmov.u32 %b, box;\n" +
         (then == Then::nothing ? "ret;\n}\n" : back(n, t.start, then, how, ".im2col_no_offs"));
}

// Calls f(word of the box, element of the tensor or ~0 outside of it) for each channel of each pixel; `shifted`: by the
// filter's offsets.
template <class F>
void for_pixels(const Images& t, bool shifted, F f) {
  const std::size_t last = t.size.size() - 1;
  std::vector<i64> at(t.start.begin(), t.start.end());
  for (u32 pixel = 0; pixel < t.pixels; ++pixel) {
    i64 place = 0;
    bool inside = true;
    for (std::size_t k = last; k > 0; --k) {
      const i64 c = at[k] + (shifted && k < last ? i64(t.offset[k - 1]) : 0);
      inside = inside && c >= 0 && c < i64(t.size[k]);
      place = place * i64(t.size[k]) + c;
    }
    for (u32 c = 0; c < t.channels; ++c) {
      const i64 channel = t.start[0] + i64(c);
      const bool has = inside && channel >= 0 && channel < i64(t.size[0]);
      f(pixel * t.channels + c, has ? u64(place) * t.size[0] + u64(channel) : ~u64{0});
    }
    std::size_t k = 1;
    for (; k < last; ++k) {
      at[k] += t.step[k];
      if (at[k] <= i64(t.size[k]) - 1 + t.upper[k - 1]) break;
      at[k] = t.lower[k - 1];
    }
    if (k == last) ++at[last];
  }
}

void check(const Images& t, Then then = Then::nothing, const How& how = {}) {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("tensor copies need compute capability 9.0");
  const u64 elements = std::accumulate(t.size.begin(), t.size.end(), u64{1}, std::multiplies<>());
  std::vector<u32> from(elements), to(elements, 7), want(t.channels * t.pixels, 0);
  std::iota(from.begin(), from.end(), 1u);
  const cu::Memory device_from = on_device(from), device_to = on_device(to);
  const std::vector<u32> out =
      run<u32>(kernel(t, then, how), encoded(t, device_from.address), encoded(t, device_to.address), want.size(), 1);
  for_pixels(t, true, [&](u32 word, u64 element) {
    if (element != ~u64{0}) want[word] = from[element];
  });
  for_pixels(t, false, [&](u32 word, u64 element) {
    if (element == ~u64{0} || then == Then::nothing) return;
    to[element] = then == Then::store ? out[word] : reduced(how.op, to[element], out[word]);
  });
  CHECK(out == want);
  CHECK(read<u32>(device_to, elements) == to);
}

std::vector<Images> some_images() {
  return {{{8, 20, 3}, {-1}, {-1}, 4, 12, {1, 1, 1}, {4, 4, 1}, {1}},
          {{8, 9, 7, 3}, {-1, 0}, {-1, -2}, 8, 24, {1, 1, 1, 1}, {0, 3, 2, 1}, {2, 1}},
          {{8, 9, 7, 3}, {-2, -1}, {0, 1}, 4, 16, {1, 2, 3, 1}, {4, -2, -1, 0}, {1, 2}},
          {{4, 5, 4, 3, 2}, {-1, -1, 0}, {0, -1, -1}, 4, 32, {1, 1, 1, 1, 1}, {0, 2, 1, 1, 0}, {1, 0, 1}}};
}

// Boxes with steps, and with that NaN outside of the tensor.
Tensor with_steps() { return {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, {40, 30}, {16, 9}, {1, 2}}; }
Tensor with_fill(CUtensorMapDataType type, u32 element) {
  Tensor t{type, element, {40, 8}, {16, 4}, {1, 1}};
  t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  return t;
}

// A kernel in which a map becomes one of 20 × 19 words, 32 to a row, of which a copy takes 8 × 8.
const std::string kReplacing =
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 own, .param .u64 other, .param .u64 out) {\n"
    ".shared .align 128 .b8 box[256];\n.shared .align 128 .b8 copy[128];\n.shared .align 8 .b64 barrier;\n"
    ".reg .b32 %t, %b, %m, %c, %x, %y; .reg .b64 %map, %own, %other, %out, %d, %at; .reg .pred %p, %first;\n"
    "mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0; mov.u32 %b, box; mov.u32 %m, barrier; mov.u32 %c, copy;\n"
    "mov.b64 %map, map; cvta.param.u64 %map, %map; ld.param.u64 %own, [own]; ld.param.u64 %other, [other];\n"
    "ld.param.u64 %out, [out];\ncvta.to.global.u64 %own, %own;\n"
    "mul.wide.u32 %at, %t, 4; add.u64 %at, %map, %at; ld.b32 %x, [%at]; mad.lo.u32 %y, %t, 4, %c;\n"
    "st.shared.b32 [%y], %x;\nbar.sync 0;\n@!%first bra REPLACED;\n"
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%c], %other;\n"
    "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%c], 2;\n"
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%c], 1;\n"
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%c], 0, 8;\n"
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%c], 1, 8;\n"
    "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%c], 0, 1;\n"
    "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%c], 1, 1;\n"
    "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%c], 0;\n"
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%c], 0;\n"
    "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%c], 0;\n"
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%c], 0, 20;\n"
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%c], 1, 19;\n"
    "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%c], 0, 128;\nREPLACED:\nbar.sync 0;\n"
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%own], [%c], 128;\n"
    "@!%first ret;\ncvta.global.u64 %d, %own;\nfence.proxy.tensormap::generic.acquire.gpu [%d], 128;\n"
    "prefetch.tensormap [%d];\n"
    "mbarrier.init.shared.b64 [%m], 1;\nfence.proxy.async;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%m], 256;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%b], [%d, {16, 12}], [%m];\n"
    "AGAIN:\nmbarrier.try_wait.parity.shared.b64 %p, [%m], 0;\n@!%p bra AGAIN;\nmov.u32 %x, 0;\nCOPY:\n"
    "ld.shared.b32 %y, [%b]; st.global.b32 [%out], %y; add.u32 %b, %b, 4; add.u64 %out, %out, 4;\n"
    "add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 64;\n@%p bra COPY;\nret;\n}\n";

// The same with the map changed in global memory.
std::string exchanged(std::string text, const std::string& was, const std::string& is) {
  for (std::size_t at = 0; (at = text.find(was, at)) != std::string::npos; at += is.size())
    text.replace(at, was.size(), is);
  return text;
}
std::string replacing_in_global() {
  std::string text = exchanged(kReplacing, "st.shared.b32 [%y], %x;",
                               "mul.wide.u32 %at, %t, 4; add.u64 %at, %at, %own; st.global.b32 [%at], %x;");
  text = exchanged(
      text, "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%own], [%c], 128;",
      "fence.proxy.tensormap::generic.release.gpu;");
  return exchanged(exchanged(text, ".shared::cta.b1024", ".global.b1024"), "[%c], ", "[%own], ");
}

}  // namespace

TEST_CASE("an im2col tensor copy moves pixels along a bounding box, shifted by the filter's offsets") {
  for (const Images& t : some_images()) check(t);
}
TEST_CASE("what no im2col tensor map can be is refused") {
  const Device device;
  CUtensorMap map;
  const cuuint64_t size[] = {8, 9, 7, 3}, stride[] = {32, 288, 2016};
  const cuuint32_t step[] = {1, 1, 1, 1};
  const auto make = [&](u32 rank, int lower, int upper, u32 channels, u32 pixels) {
    const int low[] = {lower, 0}, high[] = {upper, 0};
    return cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, rank, reinterpret_cast<void*>(0x10000), size,
                                   stride, low, high, channels, pixels, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CHECK(make(4, -1, -1, 8, 16) == CUDA_SUCCESS);
  CHECK(make(2, -1, -1, 8, 16) == CUDA_ERROR_INVALID_VALUE);
  CHECK(make(4, -129, -1, 8, 16) == CUDA_ERROR_INVALID_VALUE);
  CHECK(make(4, -1, -1, 257, 16) == CUDA_ERROR_INVALID_VALUE);
  CHECK(make(4, -1, -1, 8, 1025) == CUDA_ERROR_INVALID_VALUE);
}
TEST_CASE(
    "tensormap.replace changes a tensor map that a kernel copied, or makes one of zeros; the next copy follows it") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("tensormap.replace needs compute capability 9.0");
  std::vector<u32> values(32 * 32);
  std::iota(values.begin(), values.end(), 0u);
  const cu::Memory from = on_device(std::vector<u32>(values.size(), 5));
  cu::Memory other = on_device(values), out(8 * 8 * 4), map_memory(128);
  const CUtensorMap first = encoded(Tensor{CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, {64, 8}, {16, 8}, {1, 1}}, from.address);
  std::string log, head = header(Device::ptx_version(83), 90);
  head.replace(head.find("sm_90"), 5, "sm_90a");
  // Changed in shared memory or in global memory, and made known in each scope.
  const struct {
    const char* scope;
    bool in_global;
  } ways[] = {{"cta", false}, {"cluster", false}, {"gpu", false}, {"sys", false}, {"gpu", true}};
  for (const auto& way : ways) {
    std::string text = way.in_global ? replacing_in_global() : kReplacing;
    for (const std::string order : {"generic.release.", "generic.acquire."})
      text = exchanged(text, order + "gpu", order + way.scope);
    cu::Module module;
    module.handle = load(head + text, log);
    REQUIRE(log == "");
    for (const bool zeros : {false, true}) {
      CAPTURE(way.scope, way.in_global, zeros);
      CUtensorMap map = zeros ? CUtensorMap{} : first;
      void* parameters[] = {&map, &map_memory.address, &other.address, &out.address};
      CU_CHECK(cuMemsetD32(out.address, 7, 64));
      CU_CHECK(cuLaunchKernel(module.function("k"), 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
      const std::vector<u32> got = read<u32>(out, 64);
      for (u32 k = 0; k < 64; ++k) {
        const u32 x = 16 + k % 8, y = 12 + k / 8;
        CAPTURE(x, y);
        CHECK(got[k] == (x < 20 && y < 19 ? y * 32 + x : 0));
      }
    }
  }
}

TEST_CASE("a tensor copy moves a box, zeros beyond the tensor's bounds, and writes nothing there") {
  check({CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, {96}, {32}, {1}}, {16}, {80});
  check({CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, {40, 30}, {16, 8}, {1, 1}}, {-4, 25}, {28, 26});
  check({CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, {24, 9, 7}, {16, 4, 3}, {1, 1, 1}}, {16, 7, -1}, {8, 2, 5});
  check({CU_TENSOR_MAP_DATA_TYPE_INT32, 4, {12, 5, 4, 3}, {8, 2, 3, 2}, {1, 1, 1, 1}}, {8, 4, 2, 2}, {4, 1, 1, 1});
  check({CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, {8, 3, 3, 3, 3}, {4, 2, 2, 2, 2}, {1, 1, 1, 1, 1}}, {4, 1, 2, -1, 2},
        {0, 0, 0, 0, 0});
}
TEST_CASE("a tensor copy leaves out elements between its steps") {
  check(with_steps(), {4, 20}, {0, 1});
  Tensor t = with_steps();
  t.step = {2, 1};
  check(t, {4, 20}, {0, 1});
}
TEST_CASE("a tensor copy swizzles the box") {
  check({CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, {80, 40}, {32, 16}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_32B}, {16, 3}, {0, 2});
  check({CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, {80, 40}, {32, 16}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_64B}, {8, 3}, {16, 2});
  check({CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, {80, 40}, {64, 24}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B}, {-8, 30},
        {8, 2});
}
TEST_CASE("a tensor copy fills with the NaN that fma.oob takes for zero, if asked to") {
  check(with_fill(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2), {32, 6}, {0, 0});
}
TEST_CASE("a tensor copy fills numbers of more than two bytes with that NaN again and again") {
  check(with_fill(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4), {32, 6}, {0, 0});
}
// Where the bounding box goes beyond the tensor, an H200 ends such a store with CUDA_ERROR_ILLEGAL_INSTRUCTION.
TEST_CASE("an im2col tensor copy stores pixels along a bounding box within the tensor") {
  for (Images t : some_images()) {
    for (int& corner : t.lower) corner = std::max(corner, 0);
    for (int& corner : t.upper) corner = std::min(corner, 0);
    for (i32& at : t.start) at = std::max(at, 0);
    check(t, Then::store);
    t.lower[0] = 1;
    t.start[1] = 2;
    check(t, Then::store);
  }
}
TEST_CASE("a tensor copy rounds f32 to tf32, ties to even, to one NaN") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("tensor copies need compute capability 9.0");
  const std::vector<u32> in = {0x3f800fff, 0x3f801000, 0x3f801001, 0x3f803000, 0xbf801000, 0x7f7fffff,
                               0x7f800001, 0xffc01234, 0x00001000, 0x00001fff, 0x807fffff, 0x80001001,
                               0x12345678, 0xdeadbeef, 0x80000000, 0x0000ffff};
  const u32 want[] = {0x3f800000, 0x3f800000, 0x3f802000, 0x3f804000, 0xbf800000, 0x7f800000, 0x7fffe000, 0x7fffe000,
                      0x00000000, 0x00002000, 0x80800000, 0x80002000, 0x12346000, 0xdeadc000, 0x80000000, 0x00010000};
  const Tensor t{CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, {16}, {16}, {1}};
  const cu::Memory from = on_device(in);
  const CUtensorMap map = encoded(t, from.address);
  const std::vector<u32> got = run<u32>(kernel(t, {0}, {0}, Then::nothing), map, map, in.size());
  for (u32 k = 0; k < 16; ++k) {
    CAPTURE(k, in[k]);
    CHECK(got[k] == want[k]);
  }
}
// They do so on account of an error in the drivers before CUDA 13.2.
TEST_CASE("a small tensor's map needs no bit 21 of its second word, which Triton and CUTLASS clear") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("tensor copies need compute capability 9.0");
  const Tensor t{CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, {16}, {16}, {1}};
  std::vector<u32> values(6 << 18);  // 6 MiB, with addresses that have bit 21, and that have not
  std::iota(values.begin(), values.end(), 0u);
  const cu::Memory memory = on_device(values);
  for (u64 offset = 0; offset < 4 << 20; offset += 1 << 20) {
    CUtensorMap map = encoded(t, memory.address + offset);
    u64 second = 0;
    std::memcpy(&second, reinterpret_cast<char*>(&map) + 8, 8);
    second &= ~(u64{1} << 21);
    std::memcpy(reinterpret_cast<char*>(&map) + 8, &second, 8);
    const std::vector<u32> got = run<u32>(kernel(t, {0}, {0}, Then::nothing), map, map, 16);
    CHECK(std::equal(got.begin(), got.end(), values.begin() + i64(offset / 4)));
  }
}
TEST_CASE("a tensor reduction adds the box") {
  check({CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, {40, 30}, {16, 8}, {1, 1}}, {4, 2}, {28, 26}, Then::add);
}

namespace {
// Each form of a tensor copy, a prefetch and a reduction does the same.
void check_forms(std::size_t rank) {
  const std::vector<u64> size = {8, 3, 3, 2, 2};
  const std::vector<u32> box = {4, 2, 2, 2, 1};
  const auto cut = [&](const auto& all) { return std::decay_t<decltype(all)>(all.begin(), all.begin() + i64(rank)); };
  const Tensor t{CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, cut(size), cut(box), std::vector<u32>(rank, 1)};
  const std::vector<i32> start = {4, 1, 0, 0, 1}, there = {0, 1, 1, 0, 0};
  for (const How& how : forms()) {
    CAPTURE(rank, how.op, how.space, how.tile);
    check(t, cut(start), cut(there), how.op == "add" && how.store_hint ? Then::store : Then::add, how);
    if (how.op == "xor") check(t, cut(start), cut(there), Then::store, how);
    if (how.op == "add") check(t, cut(start), cut(there), Then::add, how);
  }
}
void check_image_forms(Images t) {
  for (int& corner : t.lower) corner = std::max(corner, 0);
  for (int& corner : t.upper) corner = std::min(corner, 0);
  for (i32& at : t.start) at = std::max(at, 0);
  for (const How& how : forms()) {
    CAPTURE(t.size.size(), how.op, how.space);
    check(t, Then::add, how);
    if (how.op == "xor") check(t, Then::store, how);
  }
}
}  // namespace

TEST_CASE("each form of a tensor copy, a prefetch and a reduction does the same in one dimension") { check_forms(1); }
TEST_CASE("each form of a tensor copy, a prefetch and a reduction does the same in two dimensions") { check_forms(2); }
TEST_CASE("each form of a tensor copy, a prefetch and a reduction does the same in three dimensions") {
  check_forms(3);
}
TEST_CASE("each form of a tensor copy, a prefetch and a reduction does the same in four dimensions") { check_forms(4); }
TEST_CASE("each form of a tensor copy, a prefetch and a reduction does the same in five dimensions") { check_forms(5); }
TEST_CASE("each form of an im2col copy, a prefetch and a reduction does the same for images of one dimension") {
  check_image_forms(some_images()[0]);
}
TEST_CASE("each form of an im2col copy, a prefetch and a reduction does the same for images of two dimensions") {
  check_image_forms(some_images()[1]);
  check_image_forms(some_images()[2]);
}
TEST_CASE("each form of an im2col copy, a prefetch and a reduction does the same for images of three dimensions") {
  check_image_forms(some_images()[3]);
}
TEST_CASE("what no tensor map can be is refused") {
  const Device device;
  CUtensorMap map;
  const cuuint64_t size[] = {64, 64}, stride[] = {128}, odd[] = {100};
  const cuuint32_t box[] = {8, 8}, step[] = {1, 1}, large[] = {8, 257}, thin[] = {4, 8};
  const auto make = [&](const cuuint64_t* strides, const cuuint32_t* boxes, CUtensorMapSwizzle swizzle, u32 rank = 2,
                        u64 address = 0x10000) {
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, reinterpret_cast<void*>(address), size,
                                  strides, boxes, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CHECK(make(stride, box, CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_SUCCESS);
  CHECK(make(odd, box, CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_ERROR_INVALID_VALUE);
  CHECK(make(stride, large, CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_ERROR_INVALID_VALUE);
  CHECK(make(stride, thin, CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_ERROR_INVALID_VALUE);
  CHECK(make(stride, box, CU_TENSOR_MAP_SWIZZLE_NONE, 6) == CUDA_ERROR_INVALID_VALUE);
  CHECK(make(stride, box, CU_TENSOR_MAP_SWIZZLE_NONE, 2, 0x10008) == CUDA_ERROR_INVALID_VALUE);
}

#endif
