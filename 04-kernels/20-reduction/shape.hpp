// Constants that the kernels and the host share.
#pragma once

constexpr int kThreads = 256;  // per block
