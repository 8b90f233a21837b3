// A model that only adds up some of its weights, and a kernel with a bug.

// Adds 32 of the weights to *sum. Launch it with one block of 32 threads.
extern "C" __global__ void infer(const float* weights, size_t count, float* sum) {
  atomicAdd(sum, weights[count / 32 * threadIdx.x]);
}

extern "C" __global__ void fault(float* nowhere) { *nowhere = 1; }
