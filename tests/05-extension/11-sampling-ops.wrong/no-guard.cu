// Rejected with: "threads past the last bin do nothing"
// Assumes that there are exactly as many threads as bins.
extern "C" __global__ void roi_pool_backward(const double* gradient, const double* boxes, const long long* winners,
                                             double* input_gradient, int channels, int pixels, int bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (winners[i] < 0) return;
  const int channel = i / bins % channels, image = boxes[5 * (i / bins / channels)];
  const long long plane = static_cast<long long>(image) * channels + channel;
  atomicAdd(&input_gradient[plane * pixels + winners[i]],
            gradient[i]);  // boxes overlap, and a large pixel wins in all of them
}
