// Rejected with: "a pixel that wins several bins gets the sum of their gradients"
// Adds without an atomic operation. If several threads add to a pixel at the same time, only one addition counts.
extern "C" __global__ void roi_pool_backward(const double* gradient, const double* boxes, const long long* winners,
                                             double* input_gradient, int channels, int pixels, int bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || winners[i] < 0) return;
  const int channel = i / bins % channels, image = boxes[5 * (i / bins / channels)];
  const long long plane = static_cast<long long>(image) * channels + channel;
  input_gradient[plane * pixels + winners[i]] += gradient[i];
}
