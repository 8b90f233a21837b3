// The matrix instruction of compute capability 9.0, and instructions that serve it: one function each. CUTLASS wraps
// them in its part CuTe. PTX ISA: "wgmma", "stmatrix", "setmaxnreg", "bar".
#pragma once
#include "hopper.hpp"

namespace hopper {

// ---- wgmma: a warpgroup, four warps, multiplies matrices in shared memory ----

// A matrix is K-major if the elements with neighboring k, the index of the sum, are neighbors in memory. Otherwise, the
// elements with neighboring rows of a, or columns of b, are neighbors. The manual calls these two dimensions m and n.
enum class Major { kK, kMN };

// Describes a matrix in shared memory that consists of boxes: 128 bytes wide, swizzled, each aligned to 1024 bytes. The
// descriptor has the address of the first box and two distances, all in units of 16 bytes: to the next box, which only
// a matrix with several boxes side by side needs, and to the next eight rows of the same box. The upper bits of a
// shared address name the block of the cluster and are not part of a descriptor.
__device__ inline std::uint64_t matrix_descriptor(const void* boxes, unsigned to_next_box = 8192) {
  constexpr std::uint64_t kSwizzle128 = 1;
  return (shared_address(boxes) & 0x3ffff) >> 4 | std::uint64_t{to_next_box >> 4} << 16 |
         std::uint64_t{1024 >> 4} << 32 | kSwizzle128 << 62;
}

// Orders the threads' accesses to the sums before the next wgmma, which accesses them asynchronously.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Makes one group of all instructions since the last commit. A thread can only wait for groups.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all groups except for the last `pending` ones. Before that, no thread may read the sums or overwrite a or
// b.
template <int pending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// The compiler may move no use of these registers from one side of this place to the other. It does not know that wgmma
// still uses its sums, and its operand in registers, after the instruction.
template <int kCount>
__device__ void keep(float (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}
template <int kCount>
__device__ void keep(unsigned (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}

// Multiplies 64 × 16 elements of a, which is K-major, by 16 × n elements of b. A thread has n / 2 of the 64 × n sums:
// in rows g and g + 8 of its warp's 16 rows, two neighbors out of every eight columns, as in ampere.hpp. `accumulate`:
// adds to the present sums. The operand a is in shared memory or, in the second form, in registers, as for mma.
//
// The constants in the instruction: neither a (1) nor b (1) is negated, a is K-major (0), and so is b if kB says so.
#define REGISTERS_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define REGISTERS_32                       \
  REGISTERS_8                              \
  ", "                                     \
  "%8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define REGISTERS_64                                                                 \
  REGISTERS_32                                                                       \
  ", "                                                                               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REGISTERS_128                                                                            \
  REGISTERS_64                                                                                   \
  ", "                                                                                           \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_32(i) SUMS_16(i), SUMS_16(i + 16)
#define WGMMA(shape, registers, a_operand, b_register, accumulate_register, constants, a_registers, ...) \
  asm volatile(                                                                                          \
      "{\n"                                                                                              \
      ".reg .pred accumulate;\n"                                                                         \
      "setp.ne.b32 accumulate, " accumulate_register                                                     \
      ", 0;\n"                                                                                           \
      "wgmma.mma_async.sync.aligned." shape ".f32.bf16.bf16 {" registers "}, " a_operand ", " b_register \
      ", accumulate, 1, 1, " constants                                                                   \
      ";\n"                                                                                              \
      "}"                                                                                                \
      : __VA_ARGS__                                                                                      \
      : a_registers, "l"(b), "r"(static_cast<int>(accumulate)), "n"(kB == Major::kMN))
#define A_IN_REGISTERS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
template <Major kB = Major::kMN>
__device__ void wgmma(float (&sums)[8], std::uint64_t a, std::uint64_t b, bool accumulate) {
  WGMMA("m64n16k16", REGISTERS_8, "%8", "%9", "%10", "0, %11", "l"(a), SUMS_4(0), SUMS_4(4));
}
template <Major kB = Major::kMN>
__device__ void wgmma(float (&sums)[8], const unsigned (&a)[4], std::uint64_t b, bool accumulate) {
  WGMMA("m64n16k16", REGISTERS_8, "{%8, %9, %10, %11}", "%12", "%13", "%14", A_IN_REGISTERS, SUMS_4(0), SUMS_4(4));
}
template <Major kB = Major::kMN>
__device__ void wgmma(float (&sums)[32], std::uint64_t a, std::uint64_t b, bool accumulate) {
  WGMMA("m64n64k16", REGISTERS_32, "%32", "%33", "%34", "0, %35", "l"(a), SUMS_32(0));
}
template <Major kB = Major::kMN>
__device__ void wgmma(float (&sums)[32], const unsigned (&a)[4], std::uint64_t b, bool accumulate) {
  WGMMA("m64n64k16", REGISTERS_32, "{%32, %33, %34, %35}", "%36", "%37", "%38", A_IN_REGISTERS, SUMS_32(0));
}
template <Major kB = Major::kMN>
__device__ void wgmma(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool accumulate) {
  WGMMA("m64n128k16", REGISTERS_64, "%64", "%65", "%66", "0, %67", "l"(a), SUMS_32(0), SUMS_32(32));
}
template <Major kB = Major::kMN>
__device__ void wgmma(float (&sums)[64], const unsigned (&a)[4], std::uint64_t b, bool accumulate) {
  WGMMA("m64n128k16", REGISTERS_64, "{%64, %65, %66, %67}", "%68", "%69", "%70", A_IN_REGISTERS, SUMS_32(0),
        SUMS_32(32));
}
template <Major kB = Major::kMN>
__device__ void wgmma(float (&sums)[128], std::uint64_t a, std::uint64_t b, bool accumulate) {
  WGMMA("m64n256k16", REGISTERS_128, "%128", "%129", "%130", "0, %131", "l"(a), SUMS_32(0), SUMS_32(32), SUMS_32(64),
        SUMS_32(96));
}
template <Major kB = Major::kMN>
__device__ void wgmma(float (&sums)[128], const unsigned (&a)[4], std::uint64_t b, bool accumulate) {
  WGMMA("m64n256k16", REGISTERS_128, "{%128, %129, %130, %131}", "%132", "%133", "%134", A_IN_REGISTERS, SUMS_32(0),
        SUMS_32(32), SUMS_32(64), SUMS_32(96));
}
#undef WGMMA

// The same for elements of 8 bits, all of which are K-major: 64 × 32 elements of a by 32 × n of b, with sums in FP32
// for e4m3 and in integers for s8. The operands of an instruction for e4m3 can be negated, those of one for s8 cannot.
#define BYTES(shape, types, registers, a_operand, b_register, accumulate_register, negations, a_registers, ...) \
  asm volatile(                                                                                                 \
      "{\n"                                                                                                     \
      ".reg .pred accumulate;\n"                                                                                \
      "setp.ne.b32 accumulate, " accumulate_register                                                            \
      ", 0;\n"                                                                                                  \
      "wgmma.mma_async.sync.aligned." shape "k32." types " {" registers "}, " a_operand ", " b_register         \
      ", accumulate" negations                                                                                  \
      ";\n"                                                                                                     \
      "}"                                                                                                       \
      : __VA_ARGS__                                                                                             \
      : a_registers, "l"(b), "r"(static_cast<int>(accumulate)))
#define E4M3(shape, registers, ...) BYTES(shape, "f32.e4m3.e4m3", registers, __VA_ARGS__)
__device__ inline void wgmma_bytes(float (&sums)[8], std::uint64_t a, std::uint64_t b, bool accumulate) {
  E4M3("m64n16", REGISTERS_8, "%8", "%9", "%10", ", 1, 1", "l"(a), SUMS_4(0), SUMS_4(4));
}
__device__ inline void wgmma_bytes(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool accumulate) {
  E4M3("m64n128", REGISTERS_64, "%64", "%65", "%66", ", 1, 1", "l"(a), SUMS_32(0), SUMS_32(32));
}
__device__ inline void wgmma_bytes(float (&sums)[64], const unsigned (&a)[4], std::uint64_t b, bool accumulate) {
  BYTES("m64n128", "f32.e4m3.e4m3", REGISTERS_64, "{%64, %65, %66, %67}", "%68", "%69", ", 1, 1", A_IN_REGISTERS,
        SUMS_32(0), SUMS_32(32));
}
__device__ inline void wgmma_bytes(float (&sums)[128], std::uint64_t a, std::uint64_t b, bool accumulate) {
  E4M3("m64n256", REGISTERS_128, "%128", "%129", "%130", ", 1, 1", "l"(a), SUMS_32(0), SUMS_32(32), SUMS_32(64),
       SUMS_32(96));
}
#undef E4M3
#undef SUMS_4
#define SUMS_4(i) "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3])
__device__ inline void wgmma_bytes(int (&sums)[128], std::uint64_t a, std::uint64_t b, bool accumulate) {
  BYTES("m64n256", "s32.s8.s8", REGISTERS_128, "%128", "%129", "%130", "", "l"(a), SUMS_32(0), SUMS_32(32), SUMS_32(64),
        SUMS_32(96));
}
#undef BYTES
#undef A_IN_REGISTERS
#undef SUMS_32
#undef SUMS_16
#undef SUMS_4
#undef REGISTERS_128
#undef REGISTERS_64
#undef REGISTERS_32
#undef REGISTERS_8

// ---- Registers, barriers for warpgroups, and stores of fragments ----

// Changes the number of registers of each thread of this warpgroup, which all of its warps must do.
template <int registers>
__device__ void setmaxnreg_increase() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void setmaxnreg_decrease() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

// A barrier for some of the block's warps, by number: 0 is __syncthreads(), 1 to 15 are free. It opens when `threads`
// threads have reached it. Those that only arrive do not wait.
__device__ inline void named_barrier_sync(unsigned number, unsigned threads = 128) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline void named_barrier_arrive(unsigned number, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Stores four matrices of 8 × 8 elements from the registers of a warp. Each lane passes the address of one row.
__device__ inline void stmatrix_x4(void* row, unsigned first, unsigned second, unsigned third, unsigned fourth) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
               "r"(first), "r"(second), "r"(third), "r"(fourth)
               : "memory");
}

}  // namespace hopper
