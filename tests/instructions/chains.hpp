// What takes more than one instruction to see: carry chains, two destinations, packing. Each is a small piece of PTX.
#pragma once
#include "tests/instructions/integer.hpp"

namespace instructions {

// Runs on a device only; the registers %d (64 bits) and %a0, %a1 … are there, of the kinds that `operands` says.
inline Cases chain_cases() {
  Cases cases;
  const auto add = [&cases](std::string text, std::string operands, Reference reference) {
    cases.push_back({std::move(text), std::move(operands), std::move(reference)});
  };
  using u128 = unsigned __int128;
  const auto low_high = [](u128 x) { return u64(x); };
  // 64 bits out of 32-bit halves; the result's halves are packed into %d.
  const std::string split =
      "{ .reg .b32 %al, %ah, %bl, %bh, %cl, %ch, %l, %h; mov.b64 {%al, %ah}, %a0; mov.b64 {%bl, %bh}, %a1; ";
  const std::string join = "mov.b64 %d, {%l, %h}; }";
  for (const std::string t : {"u32", "s32"}) {
    add(split + "add.cc." + t + " %l, %al, %bl; addc." + t + " %h, %ah, %bh; " + join, "b64 b64 b64",
        on<u64, u64, u64>([=](u64 a, u64 b) { return low_high(u128(a) + b); }));
    add(split + "sub.cc." + t + " %l, %al, %bl; subc." + t + " %h, %ah, %bh; " + join, "b64 b64 b64",
        on<u64, u64, u64>([](u64 a, u64 b) { return a - b; }));
    add(split + "add.cc." + t + " %l, %al, %bl; addc.cc." + t + " %l, %ah, %bh; addc." + t + " %h, 0, 0; " + join,
        "b64 b64 b64", on<u64, u64, u64>([](u64 a, u64 b) { return u64((u128(a) + b) >> 32); }));
    add(split + "sub.cc." + t + " %l, %al, %bl; subc.cc." + t + " %l, %ah, %bh; subc." + t + " %h, 0, 0; " + join,
        "b64 b64 b64",
        on<u64, u64, u64>([](u64 a, u64 b) { return u64((a - b) >> 32) | (a < b ? ~u64{0} << 32 : 0); }));
    // 32 x 32 + 64 in two steps, and what comes out at the top.
    const auto top = [t](u32 a, u32 b) { return t == "u32" ? u32(u64{a} * b >> 32) : u32(i64{i32(a)} * i32(b) >> 32); };
    add(split + "mad.lo.cc." + t + " %l, %al, %ah, %bl; madc.hi." + t + " %h, %al, %ah, %bh; " + join, "b64 b64 b64",
        on<u64, u64, u64>([top](u64 a, u64 b) {
          const u64 low = u64{u32(a) * u32(a >> 32)} + u32(b);
          return u64{u32(top(u32(a), u32(a >> 32)) + (b >> 32) + (low >> 32))} << 32 | u32(low);
        }));
    add(split + "mad.hi.cc." + t + " %l, %al, %ah, %bl; madc.lo." + t + " %h, %al, %ah, %bh; " + join, "b64 b64 b64",
        on<u64, u64, u64>([top](u64 a, u64 b) {
          const u64 low = u64{top(u32(a), u32(a >> 32))} + u32(b);
          return u64{u32(u32(a) * u32(a >> 32) + (b >> 32) + (low >> 32))} << 32 | u32(low);
        }));
    add(split + "add.cc." + t + " %l, %al, %bl; madc.lo.cc." + t + " %l, %ah, %bh, %al; addc." + t + " %h, 0, 0; " +
            join,
        "b64 b64 b64", on<u64, u64, u64>([](u64 a, u64 b) {
          const u64 carry = (u64{u32(a)} + u32(b)) >> 32;
          return u64{u32(a >> 32) * u32(b >> 32)} + u32(a) + carry;
        }));
    add(split + "sub.cc." + t + " %l, 0, 1; add.cc." + t + " %l, %al, %bl; madc.hi.cc." + t +
            " %l, %ah, %bh, %al; addc." + t + " %h, 0, 0; " + join,
        "b64 b64 b64", on<u64, u64, u64>([top](u64 a, u64 b) {
          const u64 carry = (u64{u32(a)} + u32(b)) >> 32;
          return u64{top(u32(a >> 32), u32(b >> 32))} + u32(a) + carry;
        }));
  }
  for (const std::string t : {"u64", "s64"}) {
    const std::string open = "{ .reg .b64 %t; ";
    add(open + "add.cc." + t + " %t, %a0, %a1; addc." + t + " %d, %a0, 5; }", "b64 b64 b64",
        on<u64, u64, u64>([](u64 a, u64 b) { return a + 5 + ((u128(a) + b) >> 64); }));
    add(open + "sub.cc." + t + " %t, %a0, %a1; subc." + t + " %d, %a0, 5; }", "b64 b64 b64",
        on<u64, u64, u64>([](u64 a, u64 b) { return a - 5 - (a < b); }));
    // What an addition finds after a subtraction is that nothing was borrowed.
    add(open + "sub.cc." + t + " %t, %a0, %a1; subc.cc." + t + " %t, %a0, %a1; addc.cc." + t + " %d, %a0, 0; }",
        "b64 b64 b64", on<u64, u64, u64>([](u64 a, u64 b) { return a + (u128(a) >= u128(b) + (a < b)); }));
    const auto top = [t](u64 a, u64 b) {
      return t == "u64" ? u64(u128(a) * b >> 64) : u64(wide(i64(a)) * wide(i64(b)) >> 64);
    };
    add(open + "mad.lo.cc." + t + " %t, %a0, %a1, %a0; madc.hi." + t + " %d, %a0, %a1, %a1; }", "b64 b64 b64",
        on<u64, u64, u64>([top](u64 a, u64 b) { return top(a, b) + b + ((u128(a * b) + a) >> 64); }));
    add(open + "mad.hi.cc." + t + " %t, %a0, %a1, %a0; madc.lo.cc." + t + " %d, %a0, %a1, %a1; addc." + t +
            " %d, %d, 0; }",
        "b64 b64 b64", on<u64, u64, u64>([top](u64 a, u64 b) {
          const u64 carry = u64((u128(top(a, b)) + a) >> 64);
          const u128 sum = u128(a * b) + b + carry;
          return u64(sum) + u64(sum >> 64);
        }));
    add(open + "add.cc." + t + " %t, %a0, %a1; madc.hi.cc." + t + " %t, %a0, %a1, %a1; madc.lo." + t +
            " %d, %a0, 3, %a1; }",
        "b64 b64 b64", on<u64, u64, u64>([top](u64 a, u64 b) {
          const u64 carry = u64((u128(a) + b) >> 64);
          return a * 3 + b + u64((u128(top(a, b)) + b + carry) >> 64);
        }));
  }
  add("{ .reg .b128 %q, %r; .reg .b64 %t; mov.b128 %q, {%a0, %a1}; mov.b128 %r, %q; mov.b128 {%t, %d}, %r; "
      "sub.u64 %d, %d, %t; }",
      "b64 b64 b64", on<u64, u64, u64>([](u64 a, u64 b) { return b - a; }));
  add("{ .reg .b16 %w, %x, %y, %z; mov.b64 {%w, %x, %y, %z}, %a0; mov.b64 %d, {%z, %y, %x, %w}; }", "b64 b64",
      on<u64, u64>(
          [](u64 a) { return a << 48 | (a << 16 & mask(48) & ~mask(32)) | (a >> 16 & 0xffff0000) | a >> 48; }));
  add("{ .reg .b32 %x, %y; .reg .b16 %u, %v; mov.b64 {%x, _}, %a0; mov.b32 {%u, %v}, %x; mov.b32 %y, {%v, %u}; "
      "mov.b64 %d, {%y, %x}; }",
      "b64 b64", on<u64, u64>([](u64 a) { return (a >> 16 & 0xffff) | (a << 16 & 0xffff0000) | a << 32; }));
  // A register that is declared as a vector stands for its elements.
  add("{ .reg .v2 .b32 %v; .reg .v2 .b32 %w; .reg .b32 %x; mov.b64 %v, %a0; mov.v2.b32 %w, {%v.y, %v.x}; "
      "mov.u32 %x, %v.x; mov.u32 %w.y, %x; mov.b64 %d, %w; }",
      "b64 b64", on<u64, u64>([](u64 a) { return a >> 32 | a << 32; }));
  return cases;
}

}  // namespace instructions
