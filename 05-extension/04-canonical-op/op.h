// What the kernels offer to the host's side, in C. Who includes it needs no header of CUDA's, and who implements it
// none of PyTorch's.
//
// Each kernel takes two inputs and makes one result of `count` elements, all of one type, one after the other:
// SQUARE_FORWARD y = x² + b of x and b; SQUARE_BACKWARD dx = 2 x g of x and g. Each int is 0 or an error.
#pragma once

enum { SQUARE_FORWARD, SQUARE_BACKWARD, SQUARE_MISTAKEN };
enum { SQUARE_HALF, SQUARE_BFLOAT16, SQUARE_FLOAT, SQUARE_DOUBLE };

// A launch: which kernel, for which type, and its grid. A thread does 16 bytes.
struct square_launch {
  int kernel, type;
  unsigned blocks, threads;
  const void *first, *second;
  void* result;
  long long count;
};

extern "C" {
// On addresses in the device's memory, in this stream (a cudaStream_t) of the current device. Does not wait.
int square_on_device(const square_launch* launch, void* stream);
const char* square_device_message(int code);

// On addresses in host memory: copies to device 0, launches, and copies the result back, all by the driver API. The
// kernels come from the file that square_use_image() named, with their PTX.
int square_on_host(const square_launch* launch);
void square_use_image(const char* file);
const char* square_host_message(int code);

// How many kernels have been launched by the two.
long long square_launches(void);
}
