// Rejected with: "blocks that stick out in z write nothing past the end"
// Pictures have no depth, and the guard was copied from a picture.
extern "C" __global__ void coordinates(int* volume, int width, int height, int) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height) volume[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}
