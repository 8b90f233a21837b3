// Rejected with: "several blocks in every direction, of any size: every thread finds its element"
// Uses only threadIdx, so every block writes to the elements of the first block.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  if (x < width && y < height && z < depth) volume[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}
