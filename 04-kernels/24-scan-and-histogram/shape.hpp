// What the kernels and the host share: the sizes of blocks and tiles.
#pragma once

// Histogram. The last rung has larger blocks, because all of a block's warps share its 32 copies of the bins.
constexpr int kBins = 256;
constexpr int kThreads = 256;       // per block
constexpr int kLaneThreads = 1024;  // per block of lane_bins
constexpr int kLaneBytes = kBins * 32 * sizeof(unsigned);

// Scan, rungs 1 to 6: a tile is in the registers of a block.
constexpr int kWarps = kThreads / 32;
constexpr int kVectors = 4;        // 128-bit vectors per thread
constexpr int kLargeVectors = 16;  // the same for rung 6
constexpr int kTile = kThreads * kVectors * 4;  // elements
constexpr int kLargeTile = kThreads * kLargeVectors * 4;

// Scan, rung 7: tiles are in shared memory, kStages of them, and warps have roles.
constexpr int kStages = 12;
constexpr int kPipelineTile = 4096;                // elements
constexpr int kScanWarps = 8;                      // each scans one part of a tile
constexpr int kPart = kPipelineTile / kScanWarps;  // elements
constexpr int kPipelineThreads = 32 * (2 + kStages + kScanWarps);
constexpr int kPipelineBytes = kStages * kPipelineTile * sizeof(unsigned);
