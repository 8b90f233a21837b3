// The image with which load_first() is tested; the check makes others of its text.
extern "C" __global__ void answer(int* number) { *number = *number * 3; }
