// What a handler does, in words of C++: the compiler (compile/) writes the operation where the interpreter calls the
// handler. A handler that many programs use is described in its own body:
//
//   template <class Op, class D, class A, class B>
//   void run2(Warp& warp, const Instruction& i) {
//     described<run2<Op, D, A, B>, Computes<Op, D, A, B>>();
//
// A handler without a description is called, by compiled kernels as well.
#pragma once
#include "common/simulator/exec/registers.hpp"

namespace cudasim {

// The descriptions; operands are the instruction's slots in order.
template <class Op, class D, class... A>
struct Computes;  // d = Op::of(a …) in each lane
template <class How>
struct Compares;  // setp: p, q, a, b, c; the relation is in Instruction::control
template <class T>
struct Selects;  // selp: d = c ? a : b
template <class From, bool kFromSigned, class To, bool kToSigned>
struct Extends;  // cvt of integers without .sat; the types' widths are in Instruction::control
template <class Op>
struct Combines;  // d = Op::of(a …) of predicates, 32 lanes in one word
template <bool kTo>
struct AddsWindow;  // cvta, cvta.to: d = a ± the first address of the space in Instruction::control
template <class T>
struct AddsOffset;  // d = a + Instruction::offset; without a: the offset
template <class T>
struct SharedAddress;  // d = the address of the block's shared memory + Instruction::offset
// Elements M in memory, R in the registers; Instruction::control has the rest.
template <class M, class R>
struct LoadsAs;
template <class M, class R>
struct StoresAs;

struct Description {
  Handler run;
  const char* text;  // has "Tag = …]" in it
  const Description* next;
};
inline const Description* descriptions = nullptr;  // of all handlers, once the library is loaded

template <class Tag>
const char* spelled() {
  return __PRETTY_FUNCTION__;
}
template <Handler kRun, class Tag>
struct Described {
  Description description{kRun, spelled<Tag>(), descriptions};
  Described() { descriptions = &description; }
  static const Described at;
};
template <Handler kRun, class Tag>
const Described<kRun, Tag> Described<kRun, Tag>::at;

template <Handler kRun, class Tag>
inline void described() {
  static_cast<void>(&Described<kRun, Tag>::at);
}

}  // namespace cudasim
