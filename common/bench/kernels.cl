// The kernels of kernels.cu, as OpenCL.
#define kTile 16
#define kBlock 256
#define kBins 256

__kernel void saxpy(__global const float* x, __global float* y, int n) {
  const int i = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0);
  if (i < n) y[i] = 2.5f * x[i] + y[i];
}

__kernel void stencil_2d(__global const float* in, __global float* out, int width, int height) {
  const int x = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0), y = (int)get_group_id(1) * (int)get_local_size(1) + (int)get_local_id(1);
  if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1) return;
  const int i = y * width + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

// One thread for all planes of a column.
__kernel void stencil_3d(__global const float* in, __global float* out, int side) {
  const int x = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0), y = (int)get_group_id(1) * (int)get_local_size(1) + (int)get_local_id(1);
  if (x < 1 || x >= side - 1 || y < 1 || y >= side - 1) return;
  for (int z = 1; z < side - 1; ++z) {
    const int i = (z * side + y) * side + x;
    out[i] = 0.5f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - side] + in[i + side] + in[i - side * side] +
                                    in[i + side * side]);
  }
}

// One partial sum a block: a grid-stride loop, then a tree in shared memory.
__kernel void sum(__global const float* in, __global float* partial, int n) {
  __local float part[kBlock];
  const int t = (int)get_local_id(0);
  float mine = 0;
  for (int i = (int)get_group_id(0) * (int)get_local_size(0) + t; i < n; i += (int)get_num_groups(0) * (int)get_local_size(0)) mine += in[i];
  part[t] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = kBlock / 2; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[(int)get_group_id(0)] = part[0];
}

// Inclusive, in each block by itself (Hillis and Steele).
__kernel void scan_blocks(__global const float* in, __global float* out, int n) {
  __local float part[2][kBlock];
  const int t = (int)get_local_id(0), i = (int)get_group_id(0) * kBlock + t;
  int now = 0;
  part[0][t] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < kBlock; step *= 2) {
    part[1 - now][t] = part[now][t] + (t >= step ? part[now][t - step] : 0);
    now = 1 - now;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) out[i] = part[now][t];
}

__kernel void bitonic_step(__global int* values, int stride, int size) {
  const int i = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0), other = i ^ stride;
  if (other <= i) return;
  const int a = values[i], b = values[other];
  if (((i & size) == 0) == (a > b)) {
    values[i] = b;
    values[other] = a;
  }
}

__kernel void histogram(__global const int* in, __global int* bins, int n) {
  __local int mine[kBins];
  for (int i = (int)get_local_id(0); i < kBins; i += (int)get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0); i < n; i += (int)get_num_groups(0) * (int)get_local_size(0)) atomic_add(&mine[in[i]], 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = (int)get_local_id(0); i < kBins; i += (int)get_local_size(0)) atomic_add(&bins[i], mine[i]);
}

// One thread a row.
__kernel void csr_product(__global const int* begin, __global const int* column, __global const float* value, __global const float* x, __global float* y,
                                       int rows) {
  const int row = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}

// c = a * b, all n × n, row by row; one thread an element.
__kernel void matmul_naive(__global const float* a, __global const float* b, __global float* c, int n) {
  const int row = (int)get_group_id(1) * (int)get_local_size(1) + (int)get_local_id(1);
  const int column = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__kernel void matmul_tiled(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = (int)get_local_id(0), y = (int)get_local_id(1);
  const int row = (int)get_group_id(1) * kTile + y, column = (int)get_group_id(0) * kTile + x;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    tile_a[y][x] = a[row * n + t + x];
    tile_b[y][x] = b[(t + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

__kernel void matmul_double(__global const double* a, __global const double* b, __global double* c, int n) {
  const int row = (int)get_group_id(1) * (int)get_local_size(1) + (int)get_local_id(1);
  const int column = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0);
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// The formula of Black and Scholes for a call; the normal distribution by Abramowitz and Stegun, 26.2.17.
float normal(float d) {
  const float k = 1 / (1 + 0.2316419f * fabs(d));
  const float tail = 0.39894228f * exp(-0.5f * d * d) *
                     (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}
__kernel void option_prices(__global const float* price, __global const float* strike, __global float* call, int n) {
  const int i = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0);
  if (i >= n) return;
  const float rate = 0.02f, volatility = 0.3f, years = 2;
  const float root = volatility * sqrt(years);
  const float d1 = (log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years) / root;
  call[i] = price[i] * normal(d1) - strike[i] * exp(-rate * years) * normal(d1 - root);
}

__kernel void mandelbrot(__global int* steps, int side, int most) {
  const int x = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0), y = (int)get_group_id(1) * (int)get_local_size(1) + (int)get_local_id(1);
  const float re = 3.0f * x / side - 2.25f, im = 3.0f * y / side - 1.5f;
  float a = 0, b = 0;
  int n = 0;
  while (n < most && a * a + b * b < 4) {
    const float next = a * a - b * b + re;
    b = 2 * a * b + im;
    a = next;
    ++n;
  }
  steps[y * side + x] = n;
}

// The potential of all bodies (x, y, z, mass) at each one's place.
__kernel void n_body(__global const float* bodies, __global float* potential, int n) {
  __local float tile[4 * kBlock];
  const int t = (int)get_local_id(0), i = (int)get_group_id(0) * kBlock + t;
  const float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
  float sum = 0;
  for (int first = 0; first < n; first += kBlock) {
    for (int part = 0; part < 4; ++part) tile[4 * t + part] = bodies[4 * (first + t) + part];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < kBlock; ++k) {
      const float dx = tile[4 * k] - x, dy = tile[4 * k + 1] - y, dz = tile[4 * k + 2] - z;
      sum += tile[4 * k + 3] / sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  potential[i] = sum;
}

// As a warp has it in CUDA, with local memory instead of shuffles.
__kernel void softmax_rows(__global const float* in, __global float* out, int width) {
  __local float part[32];
  const int t = get_local_id(0);
  __global const float* row = in + get_group_id(0) * width;
  float most = -1e30f, sum = 0;
  for (int i = t; i < width; i += 32) most = fmax(most, row[i]);
  for (int step = 16; step > 0; step /= 2) {
    part[t] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    most = fmax(most, part[t ^ step]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = t; i < width; i += 32) sum += exp(row[i] - most);
  for (int step = 16; step > 0; step /= 2) {
    part[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += part[t ^ step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = t; i < width; i += 32) out[get_group_id(0) * width + i] = exp(row[i] - most) / sum;
}

__kernel void transpose(__global const float* in, __global float* out, int side) {
  __local float tile[32][33];
  const int x = (int)get_local_id(0), y = (int)get_local_id(1), left = (int)get_group_id(0) * 32, top = (int)get_group_id(1) * 32;
  for (int row = y; row < 32; row += 8) tile[row][x] = in[(top + row) * side + left + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = y; row < 32; row += 8) out[(left + row) * side + top + x] = tile[x][row];
}

__kernel void small_launches(__global float* values, int n) {
  const int i = (int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0);
  if (i < n) values[i] += 1;
}
