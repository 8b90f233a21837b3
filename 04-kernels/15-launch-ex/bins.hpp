// The size of the histogram, for kernels and host.
#pragma once

constexpr int kBins = 1 << 16;  // one for each value of 16 bits
constexpr int kClusterSize = 8;
constexpr int kBinsPerBlock = kBins / kClusterSize;
