// Rejected with: "any number of bins and any plane size work"
// Assumes two by two bins instead of using the argument.
extern "C" __global__ void roi_pool_backward(const double* gradient, const double* boxes, const long long* winners,
                                             double* input_gradient, int channels, int pixels, int bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || winners[i] < 0) return;
  const int channel = i / 4 % channels, image = boxes[5 * (i / 4 / channels)];
  const long long plane = static_cast<long long>(image) * channels + channel;
  atomicAdd(&input_gradient[plane * pixels + winners[i]], gradient[i]);
}
