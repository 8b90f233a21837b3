// The block of the kernel `reference` in verify.hpp, on which host and kernel agree.
#pragma once

constexpr int kReferenceSide = 128;  // of the tile that a block computes
constexpr int kReferenceThreads = 256;
