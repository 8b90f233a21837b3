// Let every thread of a three-dimensional grid find its place in a volume.

// The volume has depth slices of height rows of width numbers, one after the other. The thread whose global index is
// (x, y, z) writes 10000 * z + 100 * y + x to the place of that name. Blocks may stick out over the volume on any side:
// a thread that lies outside writes nothing.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth) volume[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}
