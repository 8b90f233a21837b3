// Rejected with: "the best box is always kept"
// Lets the worse of two boxes remove the better one.
struct Box {
  float left, top, right, bottom;
};

// Complete. A box overlaps another if this exceeds the threshold.
__device__ float iou(const Box& a, const Box& b) {
  const float across = min(a.right, b.right) - max(a.left, b.left), down = min(a.bottom, b.bottom) - max(a.top, b.top);
  const float shared = max(across, 0.0f) * max(down, 0.0f);
  return shared / ((a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - shared);
}

// Class c has counts[c] boxes, boxes[32 * c], boxes[32 * c + 1], …, best first. What is behind them in its 32 places is
// undefined. Bit i of kept[c] becomes 1 if box i of class c is kept, and 0 otherwise.
//
// There are `classes` classes, and at least as many warps. A block has 128 threads.
extern "C" __global__ void nms_of_classes(const Box* boxes, const int* counts, int classes, float threshold,
                                          unsigned* kept) {
  const int c = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (c >= classes) return;  // the whole warp
  const bool is_there = lane < counts[c];
  unsigned better = 0;  // a bit for each better box that overlaps this lane's box
  for (int i = lane + 1; i < 32 && is_there; ++i) {
    if (iou(boxes[32 * c + i], boxes[32 * c + lane]) > threshold) better |= 1u << i;
  }
  unsigned bits = __ballot_sync(~0u, is_there), before;
  do {
    before = bits;
    bits = __ballot_sync(~0u, is_there && !(better & before));
  } while (bits != before);
  if (lane == 0) kept[c] = bits;
}
