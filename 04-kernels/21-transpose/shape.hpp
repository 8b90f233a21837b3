// Constants that the kernels and the host share.
#pragma once

constexpr int kTile = 32;                // elements on a side of the tile of rungs 1 to 3
constexpr int kRows = 8;                 // of threads in a block of 32 × 8
constexpr int kThreads = kTile * kRows;  // per block
constexpr int kVectors = 16;             // 128-bit vectors in a row of the tile of rungs 4 to 6

// Elements on a side of the square tile of rungs 4 to 6: 64 of 4 bytes, or 128 of 2 bytes.
template <class T>
constexpr int kSide = kVectors * 16 / int(sizeof(T));
