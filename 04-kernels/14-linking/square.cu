// One definition of the function.
extern "C" __device__ float curve(float x) { return x * x; }
