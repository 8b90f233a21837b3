// Compute, for each lane, the sum of its number and those of all lower lanes.

// Each warp of a block has 32 numbers, one per lane. Afterwards, numbers[i] is the sum of its warp's numbers up to and
// including this one (an inclusive scan). Launched with one block, whose size is a multiple of 32; each warp is scanned
// separately.
extern "C" __global__ void scan_warps(int* numbers) {
  // Your code here.
}
