// Moves of 8 × 8 matrices between shared memory and the registers of a warp. PTX ISA, "Warp Level Matrix
// Multiply-Accumulate Instructions": ldmatrix, stmatrix, movmatrix.
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/isa/elements.hpp"

namespace cudasim {
namespace {

// ldmatrix: eight lanes give the rows of each 8 × 8 matrix; a lane gets two neighbours of a row, or of a column
// (.trans). control: memory, then 5: .trans, 6–8: how many matrices.
template <bool kStore>
void run_ldmatrix(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const MatrixMemory memory = unpacked_memory(i.control);
  const bool transposed = i.control >> 5 & 1;
  const u32 count = i.control >> 6 & 7;
  const Slot base = i.slot[kStore ? 0 : count];
  const Slot* fragment = i.slot + (kStore ? 1 : 0);
  std::byte* rows[4][8];  // all of them first: a destination may be the register that holds the addresses
  for (u32 matrix = 0; matrix < count; ++matrix) {
    for (u32 row = 0; row < 8; ++row) {
      const u32 lane = matrix * 8 + row;
      rows[matrix][row] = access(warp, lane, memory.space, address_of(warp, i, base, memory.narrow, lane), 16, 16,
                                 kStore ? Access::write : Access::read, nullptr);
    }
  }
  for (u32 matrix = 0; matrix < count; ++matrix) {
    u32* words = warp.out<u32>(fragment[matrix]);
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      for (u32 k = 0; k < 2; ++k) {
        const u32 row = transposed ? lane % 4 * 2 + k : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + k;
        u16 element;
        if (kStore) {
          element = u16(words[lane] >> 16 * k);
          std::memcpy(rows[matrix][row] + 2 * column, &element, 2);
        } else {
          std::memcpy(&element, rows[matrix][row] + 2 * column, 2);
          words[lane] = k == 0 ? element : words[lane] | u32{element} << 16;
        }
      }
    }
  }
}
template <bool kStore>
Bound bind_ldmatrix(const Form& form) {
  const u32 count = form.has("x4") ? 4 : form.has("x2") ? 2 : 1;
  return {run_ldmatrix<kStore>, packed_memory(form) | u32{form.has("trans")} << 5 | count << 6};
}
void run_movmatrix(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const u32* a = warp.in<u32>(i.slot[1]);
  u32 result[kWarpSize];
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    const auto element = [&](u32 row, u32 column) { return a[row * 4 + column / 2] >> 16 * (column % 2) & 0xffff; };
    result[lane] = element(lane % 4 * 2, lane / 4) | element(lane % 4 * 2 + 1, lane / 4) << 16;
  }
  u32* d = warp.out<u32>(i.slot[0]);
  for_lanes(warp.mask, [&](u32 lane) { d[lane] = result[lane]; });
}
Bound bind_movmatrix(const Form&) { return run_movmatrix; }

constexpr Row kRows[] = {
    {"ldmatrix.sync.aligned.m8n8.x1{.trans}{.shared|shared::cta}.b16", "={b32}1 [m]", bind_ldmatrix<false>, 65, 75},
    {"ldmatrix.sync.aligned.m8n8.x2{.trans}{.shared|shared::cta}.b16", "={b32}2 [m]", bind_ldmatrix<false>, 65, 75},
    {"ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared|shared::cta}.b16", "={b32}4 [m]", bind_ldmatrix<false>, 65, 75},
    {"stmatrix.sync.aligned.m8n8.x1{.trans}{.shared|shared::cta}.b16", "[m] {b32}1", bind_ldmatrix<true>, 78, 90},
    {"stmatrix.sync.aligned.m8n8.x2{.trans}{.shared|shared::cta}.b16", "[m] {b32}2", bind_ldmatrix<true>, 78, 90},
    {"stmatrix.sync.aligned.m8n8.x4{.trans}{.shared|shared::cta}.b16", "[m] {b32}4", bind_ldmatrix<true>, 78, 90},
    {"movmatrix.sync.aligned.m8n8.trans.b16", "=b32 b32", bind_movmatrix, 78, 75, kMovesBits},
};

}  // namespace

std::span<const Row> ldmatrix_rows() { return kRows; }

}  // namespace cudasim
