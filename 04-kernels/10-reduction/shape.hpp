// What kernels and host have in common.
#pragma once

constexpr int kThreads = 256;  // per block
