// Rejected with: "one three-dimensional block: every thread finds its element"
// The thread's index is right, but the element is not: it assumes column-major order.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth) volume[(z * width + x) * height + y] = 10000 * z + 100 * y + x;
}
