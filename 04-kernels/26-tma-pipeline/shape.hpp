// What host and kernels agree on: how the matrix is divided into boxes, and what a block consists of.
#pragma once

constexpr int kBoxRows = 8, kBoxColumns = 256;  // floats, so a row of a box has 1 KiB
constexpr int kBoxBytes = kBoxRows * kBoxColumns * 4;
constexpr int kThreads = 128;              // that add up boxes; each has two columns
constexpr int kProducerThreads = 32;       // of the warp that only loads, in specialized kernels
constexpr int kSharedBytes = 16 * kBoxBytes;  // of every block, so that one block fits on a multiprocessor
