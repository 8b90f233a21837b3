// The kernels of this lesson, as the host sees them.
#pragma once
#include "shape.hpp"

struct Rung {
  const char *name, *idea;
  Format format;
  Scales scales;
  bool on_wgmma;
  int threads, bytes, rows, columns, cluster;  // of a block, its tile, and the blocks of a cluster
  bool promoted;
};

constexpr Rung on_mma(const char* name, const char* idea, Scales scales) {
  return {name,          idea,         Format::kS8,     scales, false, Tiles::kThreads,
          Tiles::kBytes, Tiles::kRows, Tiles::kColumns, 1,      false};
}
template <class Shape>
constexpr Rung on_wgmma(const char* name, const char* idea) {
  return {name,
          idea,
          Shape::kFormat,
          Shape::kScales,
          true,
          kThreads<Shape>,
          kSharedBytes<Shape>,
          kTileRows<Shape>,
          Shape::kColumns,
          Shape::kCluster,
          Shape::kPromoted};
}

constexpr Rung kLadder[] = {
    on_mma("int8_one", "s8 on mma, one scale for each", Scales::kOne),
    on_mma("int8_rows", "a scale for each row", Scales::kRows),
    on_wgmma<Fast<Format::kS8, Scales::kRows>>("int8_wgmma", "wgmma, the schedule of 04-28"),
    on_wgmma<Fast<Format::kE4m3, Scales::kRows>>("fp8_rows", "e4m3 instead of s8"),
    on_wgmma<Promoted<Scales::kRows>>("promoted", "sums of 128 are added in FP32"),
    on_wgmma<Promoted<Scales::kBlocks>>("blocks", "a scale for each block"),
};
// For the comparison of errors only.
constexpr Rung kFp8One = on_wgmma<Fast<Format::kE4m3, Scales::kOne>>("fp8_one", "control: fp8_rows, one scale");
constexpr Rung kControls[] = {
    on_wgmma<Promoted<Scales::kRows>>("promoted", "for comparison"),
    on_wgmma<Promoted<Scales::kBlocks>>("blocks", "for comparison"),
    on_wgmma<NoScales>("no_scales", "blocks, scales of the first steps"),
};
