// Rejected with: "each image gets the gradients of its own boxes"
// Ignores the image of a box.
extern "C" __global__ void roi_pool_backward(const double* gradient, const double* boxes, const long long* winners,
                                             double* input_gradient, int channels, int pixels, int bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || winners[i] < 0) return;
  const int channel = i / bins % channels, image = 0;
  const long long plane = static_cast<long long>(image) * channels + channel;
  atomicAdd(&input_gradient[plane * pixels + winners[i]],
            gradient[i]);  // boxes overlap, and a large pixel wins in all of them
}
