// Another.
extern "C" __device__ float curve(float x) { return sqrtf(x); }
