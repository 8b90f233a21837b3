// All kernels of the cases take the same arguments, so that one program runs them all: two buffers of `n` words each,
// and `n`. `in` is filled by the program, `out` is zero, unless the case says otherwise.
#pragma once

using u32 = unsigned;
using u8 = unsigned char;

#define KERNEL(name) extern "C" __global__ void name(u32* in, u32* out, u32 n)
