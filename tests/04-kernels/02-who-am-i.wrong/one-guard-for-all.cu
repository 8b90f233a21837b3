// Rejected with: "blocks that extend past the volume in x do not write into the next row"
// The guard compares the index with the size of the whole volume. An element with x = width is inside the volume, but
// in the next row.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  const int place = (z * height + y) * width + x;
  if (place < width * height * depth) volume[place] = 10000 * z + 100 * y + x;
}
