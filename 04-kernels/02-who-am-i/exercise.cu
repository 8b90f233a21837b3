// Let every thread of a three-dimensional grid find its element in a volume.

// The volume has `depth` slices of `height` rows of `width` integers, stored contiguously in this order. The thread
// whose global index is (x, y, z) writes 10000 * z + 100 * y + x to the element (x, y, z). The grid may be larger than
// the volume in any direction; a thread outside the volume writes nothing.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  // Your code here.
}
