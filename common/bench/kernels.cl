// The four kernels of kernels.cu, as OpenCL.
#define TILE 16
#define BLOCK 256

__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int n) {
  const int i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}

__kernel void matmul_naive(__global const float* a, __global const float* b, __global float* c, int n) {
  const int row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__kernel void matmul_tiled(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float tile_a[TILE][TILE], tile_b[TILE][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int row = get_group_id(1) * TILE + y, column = get_group_id(0) * TILE + x;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    tile_a[y][x] = a[row * n + t + x];
    tile_b[y][x] = b[(t + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

__kernel void sum(__global const float* in, __global float* partial, int n) {
  __local float part[BLOCK];
  const int t = get_local_id(0);
  float mine = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine += in[i];
  part[t] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = part[0];
}
