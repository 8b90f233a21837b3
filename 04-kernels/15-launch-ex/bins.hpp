// The size of the histogram, for kernels and host.
#pragma once

constexpr int kClusterSize = 4;
constexpr int kBinsPerBlock = 4096;
constexpr int kBins = kClusterSize * kBinsPerBlock;
