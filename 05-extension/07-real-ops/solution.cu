// Write the backward of another op, ROI max pooling: ROIAlign's older brother, whose bins hand on the largest pixel
// instead of an average.
//
// Forward has left behind, for each bin, which pixel won: its number in the plane of its image and channel, or -1 if
// there was no pixel in the bin. Your kernel sends each bin's gradient to its winner.

// Bin i belongs to (box, channel, bin), as in ROIAlign: `bins` in a box and channel, `channels` in a box, `count` in
// all. There are at least as many threads. A box is image, left, top, right, bottom. input_gradient is
// [image][channel][pixel], with `pixels` in a plane, zero at the start.
extern "C" __global__ void roi_pool_backward(const double* gradient, const double* boxes, const long long* winners,
                                             double* input_gradient, int channels, int pixels, int bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || winners[i] < 0) return;
  const int channel = i / bins % channels, image = boxes[5 * (i / bins / channels)];
  const long long plane = static_cast<long long>(image) * channels + channel;
  // Boxes overlap, and a large pixel wins in all of them: several threads add to it.
  atomicAdd(&input_gradient[plane * pixels + winners[i]], gradient[i]);
}
