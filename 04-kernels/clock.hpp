// The kernel with which a program measures the clock rate of the multiprocessors.
#pragma once

struct Stamp {
  unsigned long long cycles, nanoseconds;  // of a multiprocessor's clock, and of the time; zeros if there is none
};
constexpr int kMostMultiprocessors = 1024;

#ifdef __CUDACC__
// Every multiprocessor that executes one of the blocks writes a stamp, to the element with its number.
extern "C" __global__ void stamp_clocks(Stamp* stamps) {
  unsigned multiprocessor;
  unsigned long long now;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  if (multiprocessor < kMostMultiprocessors) stamps[multiprocessor] = {static_cast<unsigned long long>(clock64()), now};
}
#endif
