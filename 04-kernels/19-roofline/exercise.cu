// Evaluate a polynomial with as little memory traffic and arithmetic as possible.

struct Polynomial {
  int degree;        // 0 to 15
  float factor[16];  // factor[k] belongs to x to the power of k
};

// Sets y[i] to p.factor[0] + p.factor[1] * x[i] + p.factor[2] * x[i]² + … for all i < n. Loads each x[i] once, stores
// each y[i] once, and executes one fused multiply-add (fmaf) per degree and element. Any number of blocks and threads.
extern "C" __global__ void evaluate(const float* x, float* y, Polynomial p, unsigned long long n) {
  // Your code here.
}
