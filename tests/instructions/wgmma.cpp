// wgmma: matrices in shared memory, laid out as the manual's canonical layouts say, multiplied by a warpgroup. Its
// target is sm_90a, so only devices of compute capability 9.0 have it.
#include "tests/catch.hpp"
#include "tests/instructions/device.hpp"
#include "tests/instructions/matrix.hpp"
#include "tests/simulated.hpp"

namespace {

using namespace instructions;

enum Swizzle : u32 { kNone = 0, k128 = 1, k64 = 2, k32 = 3 };
u32 row_bytes(u32 swizzle) { return swizzle == k128 ? 128 : swizzle == k64 ? 64 : swizzle == k32 ? 32 : 16; }

// One operand in shared memory: `count` rows of A, or columns of B, each `depth` elements of k long.
struct Operand {
  std::vector<u8> bytes;
  u64 descriptor = 0;  // except for the address
};
Operand laid_out(u32 count, u32 depth, u32 bits, u32 swizzle, bool mn_major,
                 const std::function<u64(u32, u32)>& element) {
  Operand o;
  const u32 width = row_bytes(swizzle), line = depth * bits / 8;  // bytes of k
  u32 leading = 0, stride = 0;
  const auto place = [&](u32 mn, u32 k) {
    const u32 byte = k * bits / 8;
    u32 at;
    if (!mn_major && swizzle == kNone) {
      leading = 128, stride = 128 * (line / 16);
      at = mn / 8 * stride + byte / 16 * leading + mn % 8 * 16 + byte % 16;
    } else if (!mn_major) {
      leading = 16, stride = 8 * width;
      at = mn / 8 * stride + mn % 8 * width + byte;
    } else if (swizzle == kNone) {
      stride = 128, leading = 128 * (count / 8);
      at = k / 8 * leading + mn / 8 * stride + k % 8 * 16 + mn % 8 * 2;
    } else {
      leading = 8 * width * (depth / 8), stride = 8 * width;
      at = mn * 2 / width * leading + k / 8 * stride + k % 8 * width + mn * 2 % width;
    }
    const u32 mask = swizzle == kNone ? 0 : width / 16 - 1;
    return at ^ (at >> 7 & mask) << 4;
  };
  for (u32 mn = 0; mn < count; ++mn) {
    for (u32 k = 0; k < depth; ++k) {
      const u32 at = place(mn, k);
      if (o.bytes.size() < at + 8) o.bytes.resize(at + 8);
      const u64 x = element(mn, k);
      if (bits == 1)
        o.bytes[at] = u8(o.bytes[at] | x << k % 8);
      else
        std::memcpy(&o.bytes[at], &x, bits / 8);
    }
  }
  o.bytes.resize((o.bytes.size() + 1023) / 1024 * 1024);
  o.descriptor = u64(leading / 16) << 16 | u64(stride / 16) << 32 | u64(swizzle) << 62;
  return o;
}

struct Form {
  u32 n;
  std::string d, a, b;
  u32 swizzle_a, swizzle_b;
  bool mn_a = false, mn_b = false, registers = false, negative = false, accumulate = true;
  std::string suffix = {};
  u32 base = 0;  // both matrices begin so many times 128 bytes behind a multiple of 1024
};

// A kernel's input: both matrices as they are to be in shared memory, then each thread's four registers of A and its
// registers of D.
struct Layout {
  u32 bits, k, per, registers;  // of an element of A; of A's rows; elements of D in a register; registers of D
  u32 at_b = 0, at_fragments = 0;
  u64 descriptor_a = 0, descriptor_b = 0;
};

// The register of D, 32 bits, that a thread has.
u32 word_of_d(const Values& m, const Layout& l, u32 thread, u32 reg) {
  const u32 lane = thread % 32, warp = thread / 32;
  u32 word = 0;
  for (u32 e = 0; e < l.per; ++e) {
    const u32 i = reg * l.per + e;
    word |= u32(m[warp * 16 + lane / 4 + i / 2 % 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2]) << 32 / l.per * e % 32;
  }
  return word;
}
u32 word_of_a(const Values& m, const Layout& l, u32 thread, u32 reg) {
  const u32 lane = thread % 32, inside = 32 / l.bits;
  u32 word = 0;
  for (u32 e = 0; e < inside; ++e) {
    const u32 row = thread / 32 * 16 + lane / 4 + reg % 2 * 8, kk = lane % 4 * inside + e + reg / 2 * 4 * inside;
    word |= u32(m[row][kk]) << l.bits * e % 32;
  }
  return word;
}

std::vector<u8> input(const Form& f, Layout& l, const Values& a, const Values& b, const Values& c) {
  const Operand oa = laid_out(64, l.k, l.bits, f.swizzle_a, f.mn_a, [&](u32 row, u32 kk) { return a[row][kk]; });
  const Operand ob = laid_out(f.n, l.k, l.bits, f.swizzle_b, f.mn_b, [&](u32 column, u32 kk) { return b[kk][column]; });
  l.descriptor_a = oa.descriptor, l.descriptor_b = ob.descriptor;
  const u32 at_a = 128 * f.base;
  std::vector<u8> in(at_a);
  in.insert(in.end(), oa.bytes.begin(), oa.bytes.end());
  l.at_b = (u32(in.size()) + 1023) / 1024 * 1024 + at_a;
  in.resize(l.at_b);
  in.insert(in.end(), ob.bytes.begin(), ob.bytes.end());
  l.at_fragments = u32(in.size());
  for (u32 thread = 0; thread < 128; ++thread) {
    for (u32 reg = 0; reg < 4; ++reg) append(in, word_of_a(a, l, thread, reg));
    for (u32 reg = 0; reg < l.registers; ++reg) append(in, word_of_d(c, l, thread, reg));
  }
  return in;
}

std::string number(u64 x) { return std::to_string(x); }

std::string instruction(const Form& f, const Layout& l) {
  std::string text = "wgmma.mma_async.sync.aligned.m64n" + number(f.n) + "k" + number(l.k) + f.suffix + "." + f.d +
                     "." + f.a + "." + f.b + (f.a == "b1" ? ".and.popc " : " ") + braces("d", l.registers) + ", " +
                     (f.registers ? braces("a", 4) : "%da") + ", %db, %p";
  if (f.d != "s32") text += std::string(", ") + (f.negative ? "-1" : "1") + ", 1";
  if (l.bits == 16 && !f.registers) text += std::string(", ") + (f.mn_a ? "1" : "0");
  if (l.bits == 16) text += std::string(", ") + (f.mn_b ? "1" : "0");
  return text + ";\n";
}

std::string kernel(const Form& f, const Layout& l) {
  std::string text = ".visible .entry k(.param .u64 in, .param .u64 out) {\n.shared .align 1024 .b8 both[" +
                     number(l.at_fragments) + "];\n.reg .b32 %t, %x, %y, %a<4>, %d<" + number(l.registers) +
                     ">; .reg .b64 %in, %out, %at, %da, %db; .reg .pred %p;\n"
                     "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; shl.b32 %x, %t, 2;\nCOPY:\n"
                     "setp.ge.u32 %p, %x, " +
                     number(l.at_fragments) +
                     ";\n@%p bra DONE;\ncvt.u64.u32 %at, %x; add.u64 %at, %at, %in;\n"
                     "ld.global.u32 %y, [%at]; mov.u32 %a0, both; add.u32 %a0, %a0, %x; st.shared.u32 [%a0], %y;\n"
                     "add.u32 %x, %x, 512; bra COPY;\nDONE:\nfence.proxy.async;\nbar.sync 0;\n"
                     "mul.wide.u32 %at, %t, " +
                     number(4 * (4 + l.registers)) + "; add.u64 %at, %at, %in;\n";
  for (u32 k = 0; k < 4; ++k)
    text += "ld.global.u32 %a" + number(k) + ", [%at+" + number(l.at_fragments + 4 * k) + "];\n";
  for (u32 k = 0; k < l.registers; ++k)
    text += "ld.global.u32 %d" + number(k) + ", [%at+" + number(l.at_fragments + 16 + 4 * k) + "];\n";
  const auto descriptor = [&](const std::string& name, u64 value, u32 at) {
    text += "mov.u32 %x, both; add.u32 %x, %x, " + number(at) +
            "; and.b32 %x, %x, 0x3ffff; shr.u32 %x, %x, 4; cvt.u64.u32 " + name + ", %x; or.b64 " + name + ", " + name +
            ", " + number(value | u64{f.base} << 49) + "U;\n";
  };
  descriptor("%da", l.descriptor_a, 128 * f.base);
  descriptor("%db", l.descriptor_b, l.at_b);
  text += "setp.eq.u32 %p, %t, " + std::string(f.accumulate ? "%t" : "-1") + ";\nwgmma.fence.sync.aligned;\n" +
          instruction(f, l) +
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nmul.wide.u32 %at, %t, " +
          number(4 * l.registers) + "; add.u64 %at, %at, %out;\n";
  for (u32 k = 0; k < l.registers; ++k) text += "st.global.u32 [%at+" + number(4 * k) + "], %d" + number(k) + ";\n";
  return text + "ret;\n}\n";
}

std::vector<u8> run(const std::string& text, const std::vector<u8>& in, std::size_t bytes) {
  std::string log, head = header(Device::ptx_version(84), 90);
  head.replace(head.find("sm_90"), 5, "sm_90a");
  cu::Module module;
  module.handle = load(head + text, log);
  REQUIRE(log == "");
  cu::Memory device_in(in.size()), device_out(bytes);
  CU_CHECK(cuMemcpyHtoD(device_in.address, in.data(), in.size()));
  void* parameters[] = {&device_in.address, &device_out.address};
  CU_CHECK(cuLaunchKernel(module.function("k"), 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  std::vector<u8> out(bytes);
  CU_CHECK(cuMemcpyDtoH(out.data(), device_out.address, bytes));
  return out;
}

void check(const Form& f) {
  const Device device;
  if (device.architecture() != 90) SKIP_TEST("wgmma is for compute capability 9.0");
  const MatrixType ta = matrix_type(f.a), tb = matrix_type(f.b), td = matrix_type(f.d);
  const u32 k = 256 / ta.storage, per = 32 / td.storage;
  Layout l{ta.storage, k, per, f.n / 2 / per};
  std::mt19937 random(f.n + f.swizzle_a * 7 + f.swizzle_b);
  const Values a = any_matrix(64, k, ta, random), b = any_matrix(k, f.n, tb, random),
               c = any_matrix(64, f.n, td, random);
  Values zero = c, signed_a = a;
  for (auto& row : zero) std::fill(row.begin(), row.end(), 0);
  for (auto& row : signed_a) {
    for (u64& x : row) x ^= u64{f.negative} << (ta.storage - 1);
  }
  const char* bits = f.a == "b1" ? "and" : "";
  const Values product_of = product({"", f.d, f.a, f.b, f.d, bits, f.suffix}, signed_a, b, f.accumulate ? c : zero);
  std::vector<u8> want;
  for (u32 thread = 0; thread < 128; ++thread) {
    for (u32 reg = 0; reg < l.registers; ++reg) append(want, word_of_d(product_of, l, thread, reg));
  }
  CAPTURE(f.n, f.d, f.a, f.b, f.swizzle_a, f.swizzle_b, f.mn_a, f.mn_b, f.registers, f.base);
  const std::vector<u8> in = input(f, l, a, b, c);
  const std::vector<u8> got = run(kernel(f, l), in, want.size());
  std::size_t wrong = 0;
  while (wrong < got.size() && got[wrong] == want[wrong]) ++wrong;
  CHECK(wrong == got.size());
}

}  // namespace

// A driver takes seconds for a module with a large wgmma: so there are many cases, for one to be asked for alone.
TEST_CASE("wgmma multiplies matrices whose elements of k are adjacent in shared memory, in every layout") {
  for (const u32 swizzle : {kNone, k128, k64, k32}) {
    check({16, "f32", "f16", "f16", swizzle, swizzle});
    check({64, "f32", "bf16", "bf16", swizzle, kNone});
  }
  check({256, "f32", "bf16", "bf16", k128, k128});
}
TEST_CASE("wgmma multiplies matrices whose rows or columns are adjacent in shared memory, in every layout") {
  for (const u32 swizzle : {kNone, k128, k64, k32}) {
    check({32, "f32", "f16", "f16", swizzle, swizzle, swizzle != kNone, swizzle != kNone});
    check({128, "f32", "f16", "f16", kNone, swizzle, false, true});
  }
  check({64, "f16", "f16", "f16", kNone, kNone, true, true});
}
TEST_CASE("wgmma takes the beginning of a swizzle's pattern from a base offset") {
  for (const u32 base : {1u, 2u, 3u, 4u, 7u}) {
    for (const u32 swizzle : {k128, k64, k32}) {
      Form f{16, "f32", "f16", "f16", swizzle, swizzle};
      f.base = base;
      check(f);
    }
  }
  Form f{64, "f32", "bf16", "bf16", k128, k128, true, true};
  f.base = 5;
  check(f);
}

namespace {
void check_columns(const std::string& d, const std::string& a, const std::string& b) {
  for (u32 n = 8; n <= 256; n += 8) check({n, d, a, b, kNone, kNone});
}
// Each pair of the two formats of eight bits has its turn.
void check_columns_of_eight_bits(const std::string& d) {
  for (u32 n = 8; n <= 256; n += 8) {
    check({n, d, n % 16 ? "e4m3" : "e5m2", n % 32 < 16 ? "e4m3" : "e5m2", kNone, kNone});
    check({n, d, n % 16 ? "e5m2" : "e4m3", n % 32 < 16 ? "e5m2" : "e4m3", kNone, kNone});
  }
}
}  // namespace

TEST_CASE("wgmma has each number of columns for f16, added up in f32") { check_columns("f32", "f16", "f16"); }
TEST_CASE("wgmma has each number of columns for f16, added up in f16") { check_columns("f16", "f16", "f16"); }
TEST_CASE("wgmma has each number of columns for bf16") { check_columns("f32", "bf16", "bf16"); }
TEST_CASE("wgmma has each number of columns for tf32") { check_columns("f32", "tf32", "tf32"); }
TEST_CASE("wgmma has each number of columns for floats of eight bits, added up in f32") {
  check_columns_of_eight_bits("f32");
}
TEST_CASE("wgmma has each number of columns for floats of eight bits, added up in f16") {
  check_columns_of_eight_bits("f16");
}
TEST_CASE("wgmma has each number of columns that there is for integers and bits") {
  for (u32 n = 8; n <= 256; n += 8) {
    if (n % 16 != 0 && n > 24) continue;
    check({n, "s32", "u8", "s8", kNone, kNone});
    check({n, "s32", "s8", "u8", kNone, kNone, false, false, false, false, true, ".satfinite"});
    check({n, "s32", "b1", "b1", kNone, kNone});
  }
}
TEST_CASE("wgmma takes A from registers, leaves the addend out, and changes signs") {
  check({24, "f16", "f16", "f16", kNone, k128, false, false, true});
  check({8, "f32", "tf32", "tf32", kNone, k32, false, false, true});
  check({40, "f32", "e4m3", "e5m2", kNone, k64, false, false, true});
  check({16, "f32", "f16", "f16", kNone, kNone, false, false, false, true, true});
  check({16, "f32", "f16", "f16", kNone, kNone, false, false, false, false, false});
}
TEST_CASE("wgmma multiplies tf32 and floats of eight bits") {
  check({8, "f32", "tf32", "tf32", k128, k64});
  for (const char* a : {"e4m3", "e5m2"}) {
    for (const char* b : {"e4m3", "e5m2"}) {
      check({16, "f32", a, b, k32, k128});
      check({16, "f16", a, b, kNone, kNone});
    }
  }
}
TEST_CASE("wgmma multiplies integers of eight bits and single bits") {
  for (const char* a : {"u8", "s8"}) {
    for (const char* b : {"u8", "s8"}) {
      check({32, "s32", a, b, k64, kNone});
      check({8, "s32", a, b, kNone, k32, false, false, false, false, true, ".satfinite"});
    }
  }
  check({96, "s32", "b1", "b1", k128, kNone});
}

namespace {
struct ShortSum {
  u32 addend;
  const char *a, *b;  // hexadecimal, 32 elements for each instruction
  u32 sum;
};
const ShortSum kShortSums[] = {
#include "tests/instructions/short_sums.inc"
};
u64 byte_at(const char* text, std::size_t i) { return std::stoul(std::string(text + 2 * i, 2), nullptr, 16); }

// The sum that the device computes.
u32 short_sum(const ShortSum& recorded) {
  const Form form{8, "f32", "e4m3", "e4m3", kNone, kNone};
  Layout layout{8, 32, 1, 4};
  u32 sum = recorded.addend;
  for (std::size_t first = 0; 2 * first < std::strlen(recorded.a); first += 32) {
    Values a(64, std::vector<u64>(32)), b(32, std::vector<u64>(8));
    for (std::size_t k = 0; k < 32; ++k) {
      for (auto& row : a) row[k] = byte_at(recorded.a, first + k);
      std::fill(b[k].begin(), b[k].end(), byte_at(recorded.b, first + k));
    }
    const std::vector<u8> in = input(form, layout, a, b, Values(64, std::vector<u64>(8, sum)));
    const std::vector<u8> out = run(kernel(form, layout), in, std::size_t{4} * 128 * layout.registers);
    std::memcpy(&sum, out.data(), sizeof sum);
  }
  return sum;
}
}  // namespace

TEST_CASE("wgmma adds products of e4m3 with 14 bits, as an H200 does") {
  const Device device;
  if (device.architecture() != 90) SKIP_TEST("wgmma is for compute capability 9.0");
  for (const ShortSum& recorded : kShortSums) {
    CAPTURE(recorded.addend, recorded.a, recorded.b);
    CHECK(short_sum(recorded) == recorded.sum);
  }
}

namespace {
// A warpgroup multiplies ones by ones, so each instruction adds 16 to the sums %d0 … %d3, which begin as 1. Returns
// what %e is after `body`, in which "multiply", "commit" and "wait(n)" are the instructions of wgmma.
float after(std::string body) {
  const auto replace = [&](const std::string& word, const std::string& by) {
    for (std::size_t at; (at = body.find(word)) != std::string::npos;) body.replace(at, word.size(), by);
  };
  replace("multiply;",
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %m, %m, %p, 1, 1, 0, 0;\n");
  replace("commit;", "wgmma.commit_group.sync.aligned;\n");
  replace("wait(0);", "wgmma.wait_group.sync.aligned 0;\n");
  replace("wait(1);", "wgmma.wait_group.sync.aligned 1;\n");
  const std::string text =
      ".visible .entry k(.param .u64 in, .param .u64 out) {\n.shared .align 1024 .b8 ones[2048];\n"
      ".reg .b32 %t, %n; .reg .b64 %m, %out; .reg .f32 %d<4>, %e; .reg .pred %p, %q;\n"
      "ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mad.lo.u32 %t, %t, 16, 0; mov.u32 %n, ones; add.u32 %t, %t, %n;\n"
      "mov.u32 %n, 0x3f803f80; st.shared.v4.u32 [%t], {%n, %n, %n, %n}; fence.proxy.async; bar.sync 0;\n"
      "mov.u32 %t, ones; shr.u32 %t, %t, 4; cvt.u64.u32 %m, %t; or.b64 %m, %m, " +
      number(u64{8} << 16 | u64{16} << 32) +
      ";\nmov.f32 %d0, 0f3f800000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0; mov.u32 %n, 0;\n"
      "setp.eq.u32 %p, %n, 0; wgmma.fence.sync.aligned;\n" +
      body + "st.global.f32 [%out], %e;\nret;\n}\n";
  const std::vector<u8> out = run(text, std::vector<u8>(16), sizeof(float));
  float value;
  std::memcpy(&value, out.data(), sizeof value);
  return value;
}
}  // namespace

TEST_CASE("the sums of wgmma are there after the wait for their group") {
  const Device device;
  if (device.architecture() != 90) SKIP_TEST("wgmma is for compute capability 9.0");
  CHECK(after("multiply; commit; wait(0); mov.f32 %e, %d0;") == 17);
  CHECK(after("multiply; multiply; commit; wait(0); mov.f32 %e, %d0;") == 33);
  CHECK(after("multiply; commit; multiply; commit; wait(0); mov.f32 %e, %d0;") == 33);
  CHECK(after("LOOP: multiply; commit; wait(1); add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 3; @%q bra LOOP;\n"
              "wait(0); mov.f32 %e, %d0;") == 49);
  // A compiler may give a sum another name while it is being computed.
  CHECK(after("multiply; commit; mov.f32 %e, %d0; wait(0);") == 17);
  CHECK(after("LOOP: multiply; commit; mov.f32 %e, %d0; add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 3; mov.f32 %d0, %e;\n"
              "@%q bra LOOP; wait(0);") == 49);
}

// On a GPU, this is undefined, and ptxas inserts a wait.
TEST_CASE("before the wait for their group, the sums of wgmma are as they were") {
  const Device device;
  CUdevice number;
  CU_CHECK(cuCtxGetDevice(&number));
  if (device.architecture() != 90 || !is_simulated(number))
    SKIP_TEST("only the simulator defines what is read too early");
  CHECK(after("multiply; commit; add.f32 %e, %d0, 0f00000000;") == 1);
  CHECK(after("multiply; commit; mov.f32 %e, %d0; add.f32 %e, %e, 0f00000000; wait(0);") == 1);
  CHECK(after("multiply; wait(0); add.f32 %e, %d0, 0f00000000;") == 1);
  CHECK(after("multiply; commit; multiply; commit; wait(1); add.f32 %e, %d0, 0f00000000;") == 17);
  CHECK(after("LOOP: multiply; commit; wait(1); add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 3; @%q bra LOOP;\n"
              "add.f32 %e, %d0, 0f00000000;") == 33);
}

TEST_CASE("setmaxnreg changes how many registers a warp has, and what is in none of them") {
  const Device device;
  if (device.architecture() != 90) SKIP_TEST("setmaxnreg is for compute capability 9.0");
  std::string log, head = header(Device::ptx_version(84), 90);
  head.replace(head.find("sm_90"), 5, "sm_90a");
  const CUmodule module =
      load(head +
               ".visible .entry k(.param .u64 out) .reqntid 128, 1, 1 {\n.reg .b32 %t; .reg .b64 %out, %at;\n"
               "ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4; add.u64 %out, %out, %at;\n"
               "setmaxnreg.dec.sync.aligned.u32 24;\nadd.u32 %t, %t, 5;\nsetmaxnreg.inc.sync.aligned.u32 40;\n"
               "st.global.u32 [%out], %t;\nret;\n}\n",
           log);
  REQUIRE(log == "");
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  std::vector<u32> got(128);
  CU_CHECK(cuModuleGetFunction(&function, module, "k"));
  CU_CHECK(cuMemAlloc(&out, 512));
  void* parameters[] = {&out};
  CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  CU_CHECK(cuMemcpyDtoH(got.data(), out, 512));
  for (u32 t = 0; t < 128; ++t) CHECK(got[t] == t + 5);
  CU_CHECK(cuMemFree(out));
  CU_CHECK(cuModuleUnload(module));
}
