// The approximate functions over all their arguments: within the bounds that the PTX manual gives, and exact where an
// H200's are.
#include "tests/instructions/special_values.hpp"

#include <cmath>
#include <random>

namespace {

using namespace instructions;

constexpr u64 kNan = 0x7fffffff;

float f32(u64 bits) { return from_bits<float>(u32(bits)); }
u64 code(float x) { return to_bits(x) & 0xffffffff; }

// Every exponent, with the least, the greatest and some other mantissas; both signs.
const std::vector<u64>& arguments() {
  static const std::vector<u64> all = [] {
    std::vector<u64> made;
    std::mt19937 random(1);
    for (u32 exponent = 0; exponent < 255; ++exponent) {
      for (u32 k = 0; k < 20; ++k) {
        const u32 mantissa = k == 0 ? 0 : k == 1 ? 1 : k == 2 ? 0x7fffff : k == 3 ? 0x400000 : random() & 0x7fffff;
        made.push_back(exponent << 23 | mantissa);
      }
    }
    for (u32 bit = 0; bit < 23; ++bit) made.push_back(1u << bit);
    for (const u32 other : {0x7f800000u, 0x7fffffffu, 0x7f800001u}) made.push_back(other);
    const std::size_t positive = made.size();
    for (std::size_t i = 0; i < positive; ++i) made.push_back(made[i] | 0x80000000);
    return made;
  }();
  return all;
}

struct Function {
  const char* form;
  double (*exact)(double);
  // The error that may be, of x and the exact result.
  double (*bound)(double x, double y);
};

double without_subnormals(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

// Within 2^-bits of it, but never nearer than the least subnormal number.
template <int kBits>
double relative(double, double y) {
  return std::ldexp(std::fabs(y), -kBits) + 0x1p-149;
}

const Function kFunctions[] = {
    {"rcp.approx", [](double x) { return 1 / x; }, relative<23>},
    {"sqrt.approx", [](double x) { return std::sqrt(x); }, relative<22>},
    {"rsqrt.approx", [](double x) { return 1 / std::sqrt(x); }, [](double, double y) { return y * 0x1p-22 * 0.54; }},
    {"lg2.approx", [](double x) { return std::log2(x); },
     [](double x, double y) { return x > 0.5 && x < 2 ? 0x1p-22 : std::fabs(y) * 0x1p-22; }},
    {"ex2.approx", [](double x) { return std::exp2(x); }, relative<22>},
    {"tanh.approx", [](double x) { return std::tanh(x); }, relative<11>},
};

void judge(const std::string& form, u64 in, u64 got, double exact, double bound) {
  const double y = f32(got);
  bool good = false;
  if (std::isnan(exact)) {
    good = got == kNan;
  } else if (std::fabs(exact) >= 0x1.ffffffp127 || exact == 0) {
    good = y == exact || (std::isinf(y) && std::isinf(float(exact)) && (y > 0) == (exact > 0));
  } else {
    good = std::fabs(y - exact) <= bound;
  }
  if (!good) FAIL_CHECK(form << " of " << hex_of(in) << ": " << hex_of(got) << ", exactly " << exact);
}

}  // namespace

TEST_CASE("Approximate functions stay within the manual's bounds over their whole range") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("tanh needs compute capability 7.5, and the rest was recorded on 9.0");
  for (const Function& each : kFunctions) {
    for (const bool flush : {false, true}) {
      if (flush && std::string(each.form) == "tanh.approx") continue;
      const std::string form = each.form + std::string(flush ? ".ftz.f32" : ".f32");
      const std::vector<u64> got = results_of({1, 4, 4}, form + " %d, %a;", arguments());
      int judged = 0;
      for (std::size_t i = 0; i < got.size(); ++i, ++judged) {
        const double x = flush ? without_subnormals(f32(arguments()[i])) : f32(arguments()[i]);
        double y = each.exact(x);
        // Near the least normal number, either side of it will do.
        if (flush && std::fabs(y) < 0x1.00001p-126 && (got[i] & 0x7fffffff) == 0) y = 0;
        if (flush && std::fabs(y) < 0x1p-127) y = std::copysign(0.0, y);
        judge(form, arguments()[i], got[i], y, each.bound(x, y));
      }
      CHECK(judged == int(arguments().size()));
    }
  }
}

TEST_CASE("Sine and cosine stay within the manual's bounds, and see huge arguments as an H200 does") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  constexpr double kPi = 3.141592653589793;
  for (const bool cosine : {false, true}) {
    for (const std::string form :
         {cosine ? "cos.approx.f32" : "sin.approx.f32", cosine ? "cos.approx.ftz.f32" : "sin.approx.ftz.f32"}) {
      const std::vector<u64> got = results_of({1, 4, 4}, form + " %d, %a;", arguments());
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double x = f32(arguments()[i]), y = f32(got[i]);
        INFO(form << " of " << hex_of(arguments()[i]) << ": " << hex_of(got[i]));
        if (!std::isfinite(x)) {
          if (got[i] != kNan) FAIL_CHECK("not a NaN");
          continue;
        }
        const double bound = std::fabs(x) <= 2 * kPi     ? std::exp2(-20.5)
                             : std::fabs(x) <= 100 * kPi ? std::exp2(-14.7)
                                                         : 2;
        const double exact = cosine ? std::cos(x) : std::sin(x);
        if (!(std::fabs(y - exact) <= bound) || std::fabs(y) > 1) FAIL_CHECK("exactly " << exact);
        // The H200 counts an angle in full circles, with 25 fractional bits. A float above 2^24 circles has no such
        // bits.
        if (std::fabs(x) < 0x1p-23 || std::fabs(x) >= 0x1p27) {
          const u64 sign = cosine ? 0 : arguments()[i] & 0x80000000;
          if (got[i] != (cosine ? code(1) : sign)) FAIL_CHECK("not a whole number of circles");
        }
      }
    }
  }
}

TEST_CASE("Approximate functions have an H200's values at zeros, infinities and powers of two") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("recorded on compute capability 9.0");
  std::vector<u64> powers;
  for (int k = -149; k < 128; ++k) powers.push_back(code(std::ldexp(1.0f, k)));
  const auto each = [&](const std::string& form, float (*want)(int k), int least = -149) {
    const std::vector<u64> got = results_of({1, 4, 4}, form + " %d, %a;", powers);
    for (int k = least; k < 128; ++k) {
      INFO(form << " of 2^" << k);
      if (got[std::size_t(k + 149)] != code(want(k)))
        FAIL_CHECK(hex_of(got[std::size_t(k + 149)]) << ", not " << hex_of(code(want(k))));
    }
  };
  each("rcp.approx.f32", [](int k) { return std::ldexp(1.0f, -k); });
  each("sqrt.approx.f32", [](int k) { return float(std::sqrt(std::ldexp(1.0, k))); });
  // The root of a half is a little too small, and so is every other one of the reciprocals.
  each("rsqrt.approx.f32",
       [](int k) { return k % 2 == 0 ? std::ldexp(1.0f, -k / 2) : std::ldexp(f32(0x3f3504f2), -(k - 1) / 2); });
  // Whole numbers below zero are not quite reached.
  each(
      "lg2.approx.f32",
      [](int k) {
        if (k >= 0) return float(k);
        const float near = std::nextafter(float(k), 0.0f);
        return k == -1 ? std::nextafter(near, 0.0f) : near;
      },
      -126);
  each("tanh.approx.f32", [](int k) { return k >= 3 ? 1.0f : std::ldexp(1.0f, k); }, 3);
  for (int k = -149; k <= -8; ++k) {
    const u64 x = powers[std::size_t(k + 149)];
    CHECK(results_of({1, 4, 4}, "tanh.approx.f32 %d, %a;", {x, x | 0x80000000}) == std::vector<u64>{x, x | 0x80000000});
    if (k > -140) k += 20;
  }
  const std::vector<u64> special = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000};
  const auto at_special = [&](const char* form, const std::vector<u64>& want) {
    INFO(form);
    CHECK(results_of({1, 4, 4}, std::string(form) + " %d, %a;", special) == want);
  };
  at_special("rcp.approx.f32", {0x7f800000, 0xff800000, 0, 0x80000000, kNan});
  at_special("sqrt.approx.f32", {0, 0x80000000, 0x7f800000, kNan, kNan});
  at_special("rsqrt.approx.f32", {0x7f800000, 0xff800000, 0, kNan, kNan});
  at_special("lg2.approx.f32", {0xff800000, 0xff800000, 0x7f800000, kNan, kNan});
  at_special("ex2.approx.f32", {0x3f800000, 0x3f800000, 0x7f800000, 0, kNan});
  at_special("sin.approx.f32", {0, 0x80000000, kNan, kNan, kNan});
  at_special("cos.approx.f32", {0x3f800000, 0x3f800000, kNan, kNan, kNan});
  at_special("tanh.approx.f32", {0, 0x80000000, 0x3f800000, 0xbf800000, kNan});
  // Exponents that are whole or half an odd number. A half below zero gives a little less than the root, and a
  // subnormal result is a square.
  std::vector<u64> exponents, powers_of_two;
  const auto power = [](double x) {
    const float near = float(std::exp2(x));
    return x < 0 && x != std::floor(x) ? std::nextafter(near, 0.0f) : near;
  };
  for (int twice = -1000; twice <= 320; ++twice) {
    const double x = twice / 2.0;
    if (x < -126 && twice % 2 != 0) continue;  // the square of a power that is not known exactly
    exponents.push_back(code(float(x)));
    powers_of_two.push_back(code(x < -126 ? power(x / 2) * power(x / 2) : power(x)));
  }
  CHECK(results_of({1, 4, 4}, "ex2.approx.f32 %d, %a;", exponents) == powers_of_two);
}

TEST_CASE("Approximate functions of halves stay within the manual's bounds, for all of them") {
  const Device device;
  if (device.architecture() < 90) SKIP_TEST("bfloat16 needs compute capability 9.0");
  std::vector<u64> all;
  for (u64 x = 0; x < 65536; ++x) all.push_back(x);
  const auto f16 = [](u64 h) {
    const int exponent = int(h >> 10 & 31), mantissa = int(h & 1023);
    const double magnitude = exponent == 31  ? (mantissa != 0 ? NAN : HUGE_VAL)
                             : exponent == 0 ? std::ldexp(mantissa, -24)
                                             : std::ldexp(1024 + mantissa, exponent - 25);
    return h & 0x8000 ? -magnitude : magnitude;
  };
  const auto bf16 = [](u64 h) { return double(f32(h << 16)); };
  struct Half {
    const char* form;
    bool brain;
    double (*exact)(double);
    double bound;  // relative, and of tanh's results, which are at most 1, absolute
    double least;  // the distance of subnormal numbers; what is flushed
  };
  const Half halves[] = {
      {"tanh.approx.f16", false, [](double x) { return std::tanh(x); }, std::exp2(-10.987), 0x1p-24},
      {"ex2.approx.f16", false, [](double x) { return std::exp2(x); }, std::exp2(-9.9), 0x1p-24},
      {"tanh.approx.bf16", true, [](double x) { return std::tanh(x); }, std::exp2(-7), 0x1p-133},
      {"ex2.approx.ftz.bf16", true, [](double x) { return std::exp2(x); }, std::exp2(-7), 0x1p-126},
  };
  for (const Half& half : halves) {
    const std::vector<u64> got = results_of({1, 2, 2}, std::string(half.form) + " %d, %a;", all);
    int wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double x = half.brain ? bf16(i) : f16(i), y = half.brain ? bf16(got[i]) : f16(got[i]),
                   exact = half.exact(x);
      bool good =
          std::fabs(y - exact) <= half.bound * std::max(std::fabs(exact), half.form[0] == 't' ? 1.0 : 0.0) + half.least;
      if (std::isnan(exact)) good = got[i] == 0x7fff;
      if (std::isinf(exact) || exact > (half.brain ? 0x1.fep127 : 65504.0)) good = std::isinf(y);
      if (!good && ++wrong < 4) FAIL_CHECK(half.form << " of " << hex_of(i) << ": " << hex_of(got[i]));
    }
    CHECK(wrong == 0);
  }
}
