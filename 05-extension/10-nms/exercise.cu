// Write NMS for many classes at once. A detector finds each kind of object separately, so only boxes of the same class
// can remove each other. After a first selection, no class has more than 32 boxes: a warp decides about one class, and
// each of its lanes about one box.

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
  // Your code here.
}
