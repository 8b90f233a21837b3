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
  // Your code here.
}
