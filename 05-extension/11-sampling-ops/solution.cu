// Write the backward pass of ROI max pooling, the predecessor of ROIAlign. A bin's result is its largest pixel instead
// of an average.
//
// Forward has stored the winner of each bin: the number of the largest pixel in the plane of its image and channel, or
// -1 if the bin contains no pixel. Your kernel sends each bin's gradient to its winner.

// The index of a bin is (box, channel, bin). There are `bins` bins for each box and channel, `channels` channels for
// each box, and `count` bins in all, and at least as many threads. A box is image, left, top, right, bottom.
// input_gradient is [image][channel][pixel], with `pixels` pixels in a plane, and is zero at the start.
extern "C" __global__ void roi_pool_backward(const double* gradient, const double* boxes, const long long* winners,
                                             double* input_gradient, int channels, int pixels, int bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || winners[i] < 0) return;
  const int channel = i / bins % channels, image = boxes[5 * (i / bins / channels)];
  const long long plane = static_cast<long long>(image) * channels + channel;
  // Boxes overlap, and a large pixel can win in several of them, so several threads add to it.
  atomicAdd(&input_gradient[plane * pixels + winners[i]], gradient[i]);
}
