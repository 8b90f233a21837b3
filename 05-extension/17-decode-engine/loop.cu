// The end of a loop's body: the loop goes on while a slot has a request.
extern "C" __global__ void go_on(cudaGraphConditionalHandle loop, const int* lengths, int slots) {
  int any = 0;
  for (int i = 0; i < slots; ++i) any |= lengths[i];
  cudaGraphSetConditional(loop, any != 0);
}
