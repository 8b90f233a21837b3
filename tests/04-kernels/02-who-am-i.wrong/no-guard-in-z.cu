// Rejected with: "blocks that extend past the volume in z write nothing past its end"
// The guard is for a two-dimensional image: it does not check z.
extern "C" __global__ void coordinates(int* volume, int width, int height, int) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height) volume[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}
