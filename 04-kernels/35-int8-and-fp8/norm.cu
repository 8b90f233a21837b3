// RMSNorm of rows whose result is quantized: in two kernels, and in one. Rows as in 04-30, for up to 4096 columns.
#include "04-kernels/30-softmax-and-norm/rms_norm.hpp"
#include "quantize.hpp"

using Element = __nv_bfloat16;
using RowTeam = Team<kSmall>;
using RowPart = Part<Element, kSmall>;

static_assert(kSmall.threads == kThreadsOfRow && kThreadsOfRow * RowPart::kAll == kMostColumns);

__device__ Rows rows_of(const Normalized& p) {
  return {p.x, p.residual, p.weight, p.y, p.h, nullptr, nullptr, nullptr, nullptr, p.rows, p.columns, p.epsilon};
}

// Converts a row that is in registers to e4m3, with one scale.
__device__ void quantize_row(RowTeam& team, const RowPart& y, const Normalized& p, int row) {
  float most = 0;
  for_each<RowPart>([&](int v, int i) { most = larger(most, fabsf(y(v, i))); });
  most = team.combined(most, larger);
  const Scale scale = scale_for<Format::kE4m3>(most, false);
  if (team.thread == 0) p.scales[row] = scale.from;
#pragma unroll
  for (int v = 0; v < RowPart::kVectors; ++v) {
    const int column = RowPart::column(team, v, 0);
    if (column >= p.columns) continue;
    const auto pair = [&](int i) { return elements<Format::kE4m3>(y(v, i) * scale.to, y(v, i + 1) * scale.to); };
    *reinterpret_cast<ushort4*>(p.elements + std::size_t(p.columns) * row + column) = {pair(0), pair(2), pair(4),
                                                                                       pair(6)};
  }
}

// A block has one row. Eight of them fit on a multiprocessor.
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(kThreadsOfRow, 8) name(const Normalized p)

KERNEL(norm_only) {
  rms_norm<Element, kSmall>(rows_of(p), [&](RowTeam& team, const RowPart& y, int row) {
    y.store(team, static_cast<Element*>(p.y) + std::size_t(p.columns) * row, p.columns);
  });
}

KERNEL(quantize_rows) {
  RowTeam team;
  RowPart y;
  y.load(team, static_cast<const Element*>(p.y) + std::size_t(p.columns) * team.row, p.columns, 0);
  quantize_row(team, y, p, team.row);
}

KERNEL(norm_and_quantize) {
  rms_norm<Element, kSmall>(rows_of(p),
                            [&](RowTeam& team, const RowPart& y, int row) { quantize_row(team, y, p, row); });
}
