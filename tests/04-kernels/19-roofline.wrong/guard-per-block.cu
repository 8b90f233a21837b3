// Rejected with: "nothing past element n is written"
// The guard looks at the first element of the block, so the last block writes past the end.
struct Polynomial {
  int degree;        // 0 to 15
  float factor[16];  // factor[k] belongs to x to the power of k
};

// Sets y[i] to p.factor[0] + p.factor[1] * x[i] + p.factor[2] * x[i]² + … for all i < n. Loads each x[i] once, stores
// each y[i] once, and executes one fused multiply-add (fmaf) per degree and element. Any number of blocks and threads.
extern "C" __global__ void evaluate(const float* x, float* y, Polynomial p, unsigned long long n) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i - threadIdx.x < n; i += threads) {
    const float at = x[i];
    float sum = p.factor[p.degree];
    for (int k = p.degree - 1; k >= 0; --k) sum = fmaf(sum, at, p.factor[k]);  // Horner's scheme
    y[i] = sum;
  }
}
