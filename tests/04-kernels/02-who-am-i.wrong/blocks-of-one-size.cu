// Rejected with: "several blocks in every direction, of whatever size: every thread finds its place"
// The size of a block is what the host chose yesterday, written down as numbers. blockDim knows what it is today.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 4 + threadIdx.y;
  const int z = blockIdx.z * 2 + threadIdx.z;
  if (x < width && y < height && z < depth) volume[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}
