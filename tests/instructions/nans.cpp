// Which NaN comes out of double precision: the manual leaves its payload open, programs that tag values with it do not.
// The rules are those of an H200. (In single and half precision there is one NaN.)
#include "tests/instructions/special_values.hpp"

#include <functional>

namespace {

using namespace instructions;

constexpr u64 kQuiet = u64{1} << 51, kSign = u64{1} << 63;

bool is_nan64(u64 x) { return (x & ~kSign) > 0x7ff0000000000000; }

const std::vector<u64>& values() {
  static const std::vector<u64> all = {
      // quiet
      0x7ff8000000000000, 0x7ff8000000000001, 0xfff8000000000abc, 0x7fffffffffffffff, 0xfffc123400000000,
      // signaling
      0x7ff0000000000001, 0x7ff7ffffffffffff, 0xfff4000000000123, 0xfff0000012345678,
      // numbers
      0x7ff0000000000000, 0xfff0000000000000, 0, kSign, 0x3ff0000000000000, 0xc004000000000000, 1, 0x7fefffffffffffff};
  return all;
}

// The first of these that is a NaN, made quiet; 0 if none is.
u64 first_nan(std::initializer_list<u64> operands) {
  for (const u64 x : operands) {
    if (is_nan64(x)) return x | kQuiet;
  }
  return 0;
}

// All tuples of values of which one at least is a NaN, and what must come out.
void check(const std::string& instruction, int operands, const std::function<u64(u64, u64, u64)>& want,
           const std::string& body = "") {
  std::vector<u64> in, expected;
  const std::size_t n = values().size();
  const std::size_t tuples = operands == 1 ? n : operands == 2 ? n * n : n * n * n;
  for (std::size_t i = 0; i < tuples; ++i) {
    const u64 a = values()[i % n], b = values()[i / n % n], c = values()[i / n / n];
    if (!is_nan64(a) && !(operands > 1 && is_nan64(b)) && !(operands > 2 && is_nan64(c))) continue;
    in.push_back(a);
    if (operands > 1) in.push_back(b);
    if (operands > 2) in.push_back(c);
    expected.push_back(want(a, b, c));
  }
  const char* lists[] = {"", " %d, %a;", " %d, %a, %b;", " %d, %a, %b, %c;"};
  const std::string text = body.empty() ? instruction + lists[operands] : body;
  const std::vector<u64> got = results_of({operands, 8, 8}, text, in);
  INFO(instruction);
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || ++wrong > 3) continue;
    std::string of;
    for (int k = 0; k < operands; ++k) of += " " + hex_of(in[i * std::size_t(operands) + std::size_t(k)]);
    FAIL_CHECK(instruction << " of" << of << ": " << hex_of(got[i]) << ", not " << hex_of(expected[i]));
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("Of two NaNs in double precision, the last operand's is kept") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  const auto last = [](u64 a, u64 b, u64) { return first_nan({b, a}); };
  for (const char* mode : {"", ".rn", ".rz", ".rm", ".rp"}) {
    for (const char* operation : {"add", "sub", "mul"}) check(operation + std::string(mode) + ".f64", 2, last);
  }
}

TEST_CASE("Of three NaNs in double precision, the second operand's is kept, then the third's") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  const auto second = [](u64 a, u64 b, u64 c) { return first_nan({b, c, a}); };
  for (const char* form : {"fma.rn.f64", "fma.rz.f64", "mad.rn.f64"}) check(form, 3, second);
}

TEST_CASE("Minimum and maximum in double precision prefer a number, and else the last NaN") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  const auto want = [](u64 a, u64 b, u64) { return !is_nan64(a) ? a : !is_nan64(b) ? b : b | kQuiet; };
  check("min.f64", 2, want);
  check("max.f64", 2, want);
}

TEST_CASE("Negation and absolute value of a NaN in double precision make it quiet and keep its sign") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  for (const char* form : {"neg.f64", "abs.f64", "sqrt.rn.f64", "rcp.rn.f64", "rsqrt.approx.f64", "cvt.rni.f64.f64"})
    check(form, 1, [](u64 a, u64, u64) { return a | kQuiet; });
  for (const char* form : {"mov.f64", "cvt.f64.f64"}) check(form, 1, [](u64 a, u64, u64) { return a; });
}

TEST_CASE("Division in double precision keeps the first NaN") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  check("div.rn.f64", 2, [](u64 a, u64 b, u64) { return first_nan({a, b}); });
}

TEST_CASE("An atomic sum in double precision keeps the operand's NaN, in shared memory the memory's") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  // %b is what is there, %a what is added. In global memory nothing becomes quiet.
  const auto global = [](u64 a, u64 b, u64) { return is_nan64(a) ? a : b; };
  check("atom.global.add.f64", 2, global,
        "st.global.f64 [%out], %b; membar.gl; atom.global.add.f64 %c, [%out], %a; membar.gl; ld.volatile.global.f64 "
        "%d, [%out];");
  check("red.global.add.f64", 2, global,
        "st.global.f64 [%out], %b; membar.gl; red.global.add.f64 [%out], %a; membar.gl; ld.volatile.global.f64 %d, "
        "[%out];");
  check(
      "atom.shared.add.f64", 2, [](u64 a, u64 b, u64) { return first_nan({b, a}); },
      ".shared .align 8 .b8 cells[1024]; mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 3; mov.u32 %r1, cells; "
      "add.u32 %r0, %r0, %r1; st.shared.f64 [%r0], %b; atom.shared.add.f64 %c, [%r0], %a; ld.shared.f64 %d, [%r0];");
}

TEST_CASE("Conversion to double precision keeps a NaN's payload, unless subnormal numbers are flushed") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  const std::vector<u64> in = {0x7fc00000, 0x7fc00001, 0xffc00abc, 0x7fffffff, 0xfffc1230,
                               0x7f800001, 0x7fbfffff, 0xffa00123, 0xff812345};
  const std::vector<u64> kept = results_of({1, 4, 8}, "cvt.f64.f32 %d, %a;", in);
  const std::vector<u64> flushed = results_of({1, 4, 8}, "cvt.ftz.f64.f32 %d, %a;", in);
  for (std::size_t i = 0; i < in.size(); ++i) {
    CHECK(hex_of(kept[i]) == hex_of((in[i] >> 31) << 63 | 0x7ff8000000000000 | (in[i] & 0x7fffff) << 29));
    CHECK(hex_of(flushed[i]) == "7fffffffe0000000");
  }
}

TEST_CASE("The gross approximations of double precision see the upper word only") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  // A NaN whose payload is in the lower word is an infinity to them.
  const std::vector<u64> in = {0x7ff8000000000001, 0x7ff0000000000001, 0xfff0000012345678, 0xfff4000000000123};
  const std::vector<u64> rcp = results_of({1, 8, 8}, "rcp.approx.ftz.f64 %d, %a;", in);
  const std::vector<u64> rsqrt = results_of({1, 8, 8}, "rsqrt.approx.ftz.f64 %d, %a;", in);
  const u64 nan = 0x7fffffff00000000;
  CHECK(rcp == std::vector<u64>{nan, 0, kSign, nan});
  CHECK(rsqrt == std::vector<u64>{nan, 0, nan, nan});
}
