// Rejected with: "several blocks in every direction, of whatever size: every thread finds its place"
// threadIdx alone: every block writes to the places of the first.
extern "C" __global__ void coordinates(int* volume, int width, int height, int depth) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  if (x < width && y < height && z < depth) volume[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}
