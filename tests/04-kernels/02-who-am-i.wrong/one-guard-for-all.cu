// Rejected with: "blocks that stick out in x do not write into the next row"
// The guard compares the place with the size of the whole: x = width is in the volume all right, in the next row.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  const int place = (z * height + y) * width + x;
  if (place < width * height * depth) volume[place] = 10000 * z + 100 * y + x;
}
