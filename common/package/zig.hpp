// Every file that zig compiles for a wheel includes this first.
//
// zig links functions of its own that have the names of glibc's. Their results are not those of glibc for all arguments
// and rounding modes, and they are slower. A symbol with a version can only be that of the glibc which the program
// loads.
#pragma once

#if defined(__x86_64__)
#define OF_GLIBC(name) __asm__(".symver " #name ", " #name "@GLIBC_2.2.5")
__asm__(".symver memcpy, memcpy@GLIBC_2.14");
#else
#define OF_GLIBC(name) __asm__(".symver " #name ", " #name "@GLIBC_2.17")
OF_GLIBC(memcpy);
#endif
OF_GLIBC(memmove);
OF_GLIBC(memset);
OF_GLIBC(memcmp);
OF_GLIBC(bcmp);
OF_GLIBC(fma);
OF_GLIBC(fmaf);
OF_GLIBC(fmodf);
OF_GLIBC(ceil);
OF_GLIBC(ceilf);
OF_GLIBC(floor);
OF_GLIBC(floorf);
OF_GLIBC(trunc);
OF_GLIBC(truncf);
OF_GLIBC(sin);
OF_GLIBC(cos);
OF_GLIBC(sincos);
OF_GLIBC(exp2f);
OF_GLIBC(log2);
OF_GLIBC(log2f);
#undef OF_GLIBC

// LLVM takes one NaN for any other: it drops the choice of PTX's NaN for the root of a negative number, unless it does
// not know that the number is a root.
inline float root_of_float(float x) {
  float root = __builtin_sqrtf(x);
  __asm__("" : "+r"(root));
  return root;
}
#define __builtin_sqrtf root_of_float
