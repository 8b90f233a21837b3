// The kernels of this lesson, as the host sees them.
#pragma once
#include "shape.hpp"

struct Rung {
  const char *name, *kernel, *idea;
  int threads, bytes, rows, columns, cluster;  // threads and shared memory of a block, its tile, blocks of a cluster
  bool transposed, thin;
  bool persistent;  // as many blocks as run at once compute all tiles
  int band;         // rows of c that the tile order visits column by column; 0: row by row
  bool overlaps;    // the launch may begin before the previous one has finished
};

template <class Shape>
constexpr Rung rung(const char* name, const char* kernel, const char* idea, bool persistent = false, int band = 0,
                    bool overlaps = false) {
  return {name,
          kernel,
          idea,
          kThreads<Shape>,
          kSharedBytes<Shape>,
          kTileRows<Shape>,
          Shape::kColumns,
          Shape::kCluster,
          Shape::kTransposed,
          Shape::kThin,
          persistent,
          band,
          overlaps};
}

constexpr int kBand = 2048;

constexpr Rung kLadder[] = {
    rung<OneStage>("one_stage", "one_stage", "as tma in 04-27"),
    rung<Pipelined>("pipelined", "pipelined", "four stages, loaded ahead"),
    rung<Pipelined>("rasterized", "pipelined", "tiles in bands of rows", false, kBand),
    rung<Cooperative>("cooperative", "cooperative", "two warpgroups share b", false, kBand),
    rung<Specialized>("specialized", "specialized", "a third warpgroup loads", false, kBand),
    rung<TmaStore>("tma_store", "tma_store", "stmatrix and TMA stores", false, kBand),
    rung<TmaStore>("persistent", "tma_store", "each block computes many tiles", true, kBand),
    rung<Cluster>("cluster", "cluster", "two blocks share b", true, kBand),
};

constexpr Rung kControls[] = {
    rung<OneStage>("one_stage", "one_stage", "for comparison"),
    rung<Pipelined>("one_stage", "one_block", "one block per multiprocessor"),
    rung<OneStage>("one_stage", "one_stage", "tiles in bands of rows", false, kBand),
    rung<Pipelined>("rasterized", "pipelined", "for comparison", false, kBand),
    rung<SingleConsumer>("rasterized", "single", "a second warpgroup loads", false, kBand),
    rung<NoLoads<SingleConsumer>>("rasterized", "single_no_loads", "the same, nothing loaded", false, kBand),
    rung<Specialized>("specialized", "specialized", "for comparison", false, kBand),
    rung<Specialized>("specialized", "specialized", "persistent", true, kBand),
    rung<ReleaseCluster>("specialized", "release_cluster", "arrivals with .release.cluster", false, kBand),
    rung<Cluster>("cluster", "cluster", "for comparison", true, kBand),
    rung<Cluster>("cluster", "cluster", "tiles row by row", true),
    rung<Cluster>("cluster", "cluster", "launches overlap", true, kBand, true),
    rung<NoLoads<Cluster>>("cluster", "no_loads", "nothing loaded", true, kBand),
    rung<NoSetmaxnreg>("cluster", "no_setmaxnreg", "no setmaxnreg", true, kBand),
};

// For each product, the fastest of these is used that fits. A device that is too slow for large matrices gets the
// first.
constexpr Rung kCandidates[] = {
    rung<Thin<16>>("16 x 64", "thin_16", "", false, 0, true),
    rung<Thin<64>>("64 x 64", "thin_64", "", false, 0, true),
    rung<Smallest>("64 x 64", "smallest", "", true, 0, true),
    rung<Small>("64 x 128", "small", "", true, 0, true),
    rung<TmaStore>("128 x 256", "tma_store", "", true, kBand, true),
    rung<Cluster>("128 x 256 x 2, band 1024", "cluster", "", true, 1024, true),
    rung<Cluster>("128 x 256 x 2, band 2048", "cluster", "", true, 2048, true),
    rung<Cluster>("128 x 256 x 2, band 4096", "cluster", "", true, 4096, true),
    rung<Transposed<Small>>("64 x 128", "small_t", "", true, 0, true),
    rung<Transposed<TmaStore>>("128 x 256", "tma_store_t", "", true, kBand, true),
    rung<Transposed<Cluster>>("128 x 256 x 2, band 1024", "cluster_t", "", true, 1024, true),
    rung<Transposed<Cluster>>("128 x 256 x 2, band 2048", "cluster_t", "", true, 2048, true),
    rung<Transposed<Cluster>>("128 x 256 x 2, band 4096", "cluster_t", "", true, 4096, true),
};
