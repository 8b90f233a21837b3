// What the kernel `probe` measures, for kernel and host.
#pragma once

struct Probe {
  unsigned long long nanoseconds;  // that the thread's loads took
  unsigned long long bytes;        // that all other blocks loaded in this time
  enum State { kStarting, kRunning, kFinished } state;
};
