// Constant expressions, evaluated as they are read: 64-bit integers with or without sign, and doubles.
#include "common/simulator/ptx/constant.hpp"

#include <bit>
#include <charconv>
#include <optional>

namespace cudasim::ptx {
namespace {

constexpr int kDeepest = 200;  // nested parentheses, signs and conditions

bool is_real(const Immediate& value) { return is_float(value.type); }

double real(const Immediate& value) {
  if (value.type == Type::f64) return std::bit_cast<double>(value.bits);
  if (value.type == Type::f32) return std::bit_cast<float>(static_cast<u32>(value.bits));
  if (value.type == Type::s64) return static_cast<double>(static_cast<i64>(value.bits));
  return static_cast<double>(value.bits);
}

Immediate of_real(double value) { return {std::bit_cast<u64>(value), Type::f64}; }
Immediate of_bool(bool value) { return {value ? u64{1} : u64{0}, Type::s64}; }
Immediate of_integer(u64 value, bool is_unsigned) { return {value, is_unsigned ? Type::u64 : Type::s64}; }

struct Operator {
  u16 code;
  int precedence;
};
constexpr Operator kOperators[] = {
    {pair('|', '|'), 1},
    {pair('&', '&'), 2},
    {'|', 3},
    {'^', 4},
    {'&', 5},
    {pair('=', '='), 6},
    {pair('!', '='), 6},
    {'<', 7},
    {'>', 7},
    {pair('<', '='), 7},
    {pair('>', '='), 7},
    {pair('<', '<'), 8},
    {pair('>', '>'), 8},
    {'+', 9},
    {'-', 9},
    {'*', 10},
    {'/', 10},
    {'%', 10},
};
constexpr int kAnyPrecedence = 1, kAboveOr = 4, kAboveShift = 9;

int precedence(u16 code) {
  for (const Operator& each : kOperators) {
    if (each.code == code) return each.precedence;
  }
  return 0;
}

class Evaluator {
 public:
  explicit Evaluator(Cursor& cursor) : cursor_(cursor) {}

  Immediate conditional() {
    const Depth depth(*this);
    const Immediate condition = binary(kAnyPrecedence);
    if (!cursor_.accept('?')) return condition;
    const Immediate yes = conditional();
    cursor_.expect(':');
    const Immediate no = conditional();
    const bool chosen = is_real(condition) ? real(condition) != 0 : condition.bits != 0;
    if (is_real(yes) != is_real(no)) return of_real(real(chosen ? yes : no));
    return chosen ? yes : no;
  }

  Immediate binary(int lowest) {
    const Depth depth(*this);
    Immediate left = unary();
    for (;;) {
      const u16 code = cursor_.peek().code;
      const int level = precedence(code);
      if (level < lowest || level == 0) return left;
      const Position at = cursor_.where();
      cursor_.take();
      left = apply(code, left, binary(level + 1), at);
    }
  }

 private:
  struct Depth {
    explicit Depth(Evaluator& owner) : owner(owner) {
      if (++owner.depth_ > kDeepest) Cursor::fail(owner.cursor_.where(), "Constant expression nested too deeply");
    }
    ~Depth() { --owner.depth_; }
    Evaluator& owner;
  };

  Immediate unary() {
    const Depth depth(*this);
    const Position at = cursor_.where();
    if (cursor_.accept('+')) return unary();
    if (cursor_.accept('-')) return negate(unary());
    if (cursor_.accept('!')) {
      const Immediate value = unary();
      return of_bool(is_real(value) ? real(value) == 0 : value.bits == 0);
    }
    if (cursor_.accept('~')) {
      const Immediate value = unary();
      if (is_real(value)) Cursor::fail(at, "Integer constant expected after '~'");
      return {~value.bits, value.type};
    }
    return primary();
  }

  static Immediate negate(const Immediate& value) {
    if (value.type == Type::f32) return {value.bits ^ 0x8000'0000u, Type::f32};
    if (value.type == Type::f64) return {value.bits ^ (u64{1} << 63), Type::f64};
    return {u64{0} - value.bits, value.type};
  }

  Immediate primary() {
    if (cursor_.accept('(')) return parenthesis();
    if (cursor_.accept_name("WARP_SZ")) return {kWarpSize, Type::s64};
    return literal(cursor_);
  }

  // What follows an opening parenthesis: a cast, or an expression.
  Immediate parenthesis() {
    std::optional<Type> cast;
    if (cursor_.accept_dotted(".s64")) cast = Type::s64;
    if (!cast && cursor_.accept_dotted(".u64")) cast = Type::u64;
    if (cast) {
      cursor_.expect(')');
      const Position at = cursor_.where();
      const Immediate value = unary();
      if (is_real(value)) Cursor::fail(at, "Integer constant expected");
      return {value.bits, *cast};
    }
    const Immediate value = conditional();
    cursor_.expect(')');
    return value;
  }

  static Immediate apply(u16 code, const Immediate& a, const Immediate& b, Position at) {
    if (is_real(a) != is_real(b)) Cursor::fail(at, "Constant expression type mismatch");
    return is_real(a) ? apply_real(code, a, b, at) : apply_integer(code, a, b, at);
  }

  static Immediate apply_real(u16 code, const Immediate& left, const Immediate& right, Position at) {
    const double a = real(left), b = real(right);
    switch (code) {
      case '+': return of_real(a + b);
      case '-': return of_real(a - b);
      case '*': return of_real(a * b);
      case '/': return of_real(a / b);
      case '<': return of_bool(a < b);
      case '>': return of_bool(a > b);
      case pair('<', '='): return of_bool(a <= b);
      case pair('>', '='): return of_bool(a >= b);
      case pair('=', '='): return of_bool(a == b);
      case pair('!', '='): return of_bool(a != b);
      case pair('&', '&'): return of_bool(a != 0 && b != 0);
      case pair('|', '|'): return of_bool(a != 0 || b != 0);
      default: Cursor::fail(at, "Integer constants expected for this operator");
    }
  }

  static Immediate apply_integer(u16 code, const Immediate& left, const Immediate& right, Position at) {
    const bool with_sign = left.type == Type::s64 && right.type == Type::s64;
    const u64 a = left.bits, b = right.bits;
    const i64 x = static_cast<i64>(a), y = static_cast<i64>(b);
    switch (code) {
      case '+': return of_integer(a + b, !with_sign);
      case '-': return of_integer(a - b, !with_sign);
      case '*': return of_integer(a * b, !with_sign);
      case '/':
      case '%': return divide(code == '%', a, b, with_sign, at);
      case '&': return of_integer(a & b, !with_sign);
      case '|': return of_integer(a | b, !with_sign);
      case '^': return of_integer(a ^ b, !with_sign);
      case pair('<', '<'): return {b < 64 ? a << b : 0, left.type};
      case pair('>', '>'):
        if (left.type == Type::s64) return {static_cast<u64>(x >> (b < 64 ? b : 63)), Type::s64};
        return {b < 64 ? a >> b : 0, Type::u64};
      case '<': return of_bool(with_sign ? x < y : a < b);
      case '>': return of_bool(with_sign ? x > y : a > b);
      case pair('<', '='): return of_bool(with_sign ? x <= y : a <= b);
      case pair('>', '='): return of_bool(with_sign ? x >= y : a >= b);
      case pair('=', '='): return of_bool(a == b);
      case pair('!', '='): return of_bool(a != b);
      case pair('&', '&'): return of_bool(a != 0 && b != 0);
      default: return of_bool(a != 0 || b != 0);
    }
  }

  static Immediate divide(bool remainder, u64 a, u64 b, bool with_sign, Position at) {
    if (b == 0) Cursor::fail(at, "Division by zero in constant expression");
    // A remainder is one of unsigned numbers in every driver, whatever the operands: -7 % 3 is 0.
    if (remainder || !with_sign) return of_integer(remainder ? a % b : a / b, !with_sign);
    const i64 x = static_cast<i64>(a), y = static_cast<i64>(b);
    return of_integer(y == -1 ? u64{0} - a : static_cast<u64>(x / y), false);  // -1: also for the most negative number
  }

  Cursor& cursor_;
  int depth_ = 0;
};

[[noreturn]] void bad_number(std::string_view text, Position at) {
  Cursor::fail(at, "Parsing error near '" + Cursor::shown(text) + "': not a number that PTX knows");
}

Immediate integer_literal(std::string_view text, Position at) {
  std::string_view digits = text;
  bool is_unsigned = false;
  if (!digits.empty() && digits.back() == 'U') {
    is_unsigned = true;
    digits.remove_suffix(1);
  }
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x') {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'b') {
    base = 2;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
    digits.remove_prefix(1);
  }
  u64 value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error == std::errc::result_out_of_range) Cursor::fail(at, "Constant overflow");
  if (error != std::errc{} || stop != digits.data() + digits.size()) bad_number(text, at);
  return of_integer(value, is_unsigned || value > static_cast<u64>(INT64_MAX));
}

Immediate real_literal(std::string_view text, Position at) {
  const char* last = text.data() + text.size();
  const char kind = text.size() > 2 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
  if (kind == 'f' || kind == 'd') {
    const std::size_t digits = kind == 'f' ? 8 : 16;
    u64 value = 0;
    const auto [stop, error] = std::from_chars(text.data() + 2, last, value, 16);
    if (error != std::errc{} || stop != last || text.size() != digits + 2) bad_number(text, at);
    return {value, kind == 'f' ? Type::f32 : Type::f64};
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc::result_out_of_range)
    Cursor::fail(at, "Floating-point constant '" + Cursor::shown(text) + "' out of range");
  if (error != std::errc{} || stop != last) bad_number(text, at);
  return of_real(value);
}

}  // namespace

namespace {

std::optional<u64> convert_real(const Immediate& immediate, Type type) {
  switch (type) {
    case Type::f32:
      if (immediate.type == Type::f32) return immediate.bits;
      return std::bit_cast<u32>(static_cast<float>(real(immediate)));
    case Type::f64: return std::bit_cast<u64>(real(immediate));
    // The bits are meant: mov.b32 %r1, 0f3F800000
    case Type::b32:
      if (immediate.type == Type::f32) return immediate.bits;
      return std::nullopt;
    case Type::b64:
      if (immediate.type == Type::f64) return immediate.bits;
      return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<u64> convert_immediate(const Immediate& immediate, Type type) {
  if (is_real(immediate)) return convert_real(immediate, type);
  if (type == Type::pred) return immediate.bits != 0 ? 1 : 0;
  if (is_float(type)) return std::nullopt;
  const u32 width = bits(type);
  if (width == 0) return std::nullopt;
  return width >= 64 ? immediate.bits : immediate.bits & ((u64{1} << width) - 1);
}

Immediate literal(Cursor& cursor) {
  const Token token = cursor.peek();
  if (token.kind != Token::integer && token.kind != Token::real) cursor.unexpected();
  const std::string_view text = cursor.text(token);
  const Position at = cursor.where();
  cursor.take();
  return token.kind == Token::integer ? integer_literal(text, at) : real_literal(text, at);
}

Immediate constant_expression(Cursor& cursor) { return Evaluator(cursor).conditional(); }
Immediate operand_expression(Cursor& cursor) { return Evaluator(cursor).binary(kAboveOr); }

Immediate angle_expression(Cursor& cursor) { return Evaluator(cursor).binary(kAboveShift); }

i64 integer_expression(Cursor& cursor) {
  const Position at = cursor.where();
  const Immediate value = constant_expression(cursor);
  if (is_real(value)) Cursor::fail(at, "Integer constant expected");
  return static_cast<i64>(value.bits);
}

bool starts_expression(const Cursor& cursor) {
  const Token& token = cursor.peek();
  if (token.kind == Token::integer || token.kind == Token::real) return true;
  if (token.kind == Token::name) return cursor.text(token) == "WARP_SZ";
  return token.code == '-' || token.code == '+' || token.code == '~' || token.code == '(';
}

}  // namespace cudasim::ptx
