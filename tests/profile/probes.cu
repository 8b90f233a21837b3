// One access of one warp, at addresses that the host chooses: lane n touches byte at[n] of shared memory, or of
// `memory`. A lane whose number is kNowhere stays away. Written in PTX, and volatile, so that no compiler makes
// something else of it. Each probe comes twice: alone; and several patterns after one another, the first once, the next
// kTimes as often, and so on, so that a profiler's sum says what each of them costs, as the digits of a number do.

constexpr unsigned kNowhere = 0xffffffff, kTimes = 128;

struct alignas(16) Four {
  unsigned x, y, z, w;
};

extern __shared__ Four shared[];

__device__ unsigned shared_address(unsigned at) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)) + at; }

// `...`: an access at `a` in shared memory, or at `m` in global memory, which may leave a number in v.
#define PROBE(name, ...)                                                                                             \
  extern "C" __global__ void name(const unsigned* at, unsigned* memory, unsigned* out) {                             \
    const unsigned lane = threadIdx.x, place = at[lane];                                                             \
    if (place == kNowhere) return;                                                                                   \
    [[maybe_unused]] const unsigned a = shared_address(place);                                                       \
    [[maybe_unused]] char* const m = reinterpret_cast<char*>(memory) + place;                                        \
    unsigned v = 0;                                                                                                  \
    __VA_ARGS__;                                                                                                     \
    if (v != 0) out[lane] = v;                                                                                       \
  }                                                                                                                  \
  extern "C" __global__ void name##_packed(const unsigned* at, unsigned* memory, unsigned* out, unsigned patterns) { \
    const unsigned lane = threadIdx.x;                                                                               \
    unsigned times = 1, sum = 0;                                                                                     \
    for (unsigned p = 0; p < patterns; ++p, times *= kTimes) {                                                       \
      const unsigned place = at[32 * p + lane];                                                                      \
      if (place != kNowhere) {                                                                                       \
        [[maybe_unused]] const unsigned a = shared_address(place);                                                   \
        [[maybe_unused]] char* const m = reinterpret_cast<char*>(memory) + place;                                    \
        for (unsigned i = 0; i < times; ++i) {                                                                       \
          unsigned v = 0;                                                                                            \
          __VA_ARGS__;                                                                                               \
          sum ^= v;                                                                                                  \
        }                                                                                                            \
      }                                                                                                              \
      __syncwarp();                                                                                                  \
    }                                                                                                                \
    if (sum != 0) out[lane] = sum;                                                                                   \
  }

PROBE(shared_load_1, asm volatile("ld.volatile.shared.u8 %0, [%1];" : "=r"(v) : "r"(a)))
PROBE(shared_load_4, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(a)))
PROBE(shared_load_8, unsigned x; asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(x) : "r"(a));
      v ^= x)
PROBE(shared_load_16, unsigned x, y, z;
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v), "=r"(x), "=r"(y), "=r"(z) : "r"(a));
      v ^= x ^ y ^ z)
PROBE(shared_store_1, asm volatile("st.volatile.shared.u8 [%0], %1;" ::"r"(a), "r"(lane)))
PROBE(shared_store_4, asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(a), "r"(lane)))
PROBE(shared_store_8, asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(a), "r"(lane)))
PROBE(shared_store_16, asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(a), "r"(lane)))
PROBE(shared_add, asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(v) : "r"(a), "r"(lane)))
PROBE(shared_add_quietly, asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(a), "r"(lane)))

PROBE(global_load_1, asm volatile("ld.volatile.global.u8 %0, [%1];" : "=r"(v) : "l"(m)))
PROBE(global_load_4, asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(m)))
PROBE(global_load_8, unsigned x; asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(x) : "l"(m));
      v ^= x)
PROBE(global_load_16, unsigned x, y, z;
      asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v), "=r"(x), "=r"(y), "=r"(z) : "l"(m));
      v ^= x ^ y ^ z)
PROBE(global_store_1, asm volatile("st.volatile.global.u8 [%0], %1;" ::"l"(m), "r"(lane)))
PROBE(global_store_4, asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(m), "r"(lane)))
PROBE(global_store_8, asm volatile("st.volatile.global.v2.u32 [%0], {%1, %1};" ::"l"(m), "r"(lane)))
PROBE(global_store_16, asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(m), "r"(lane)))
PROBE(global_add, asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(m), "r"(lane)))
PROBE(global_add_quietly, asm volatile("red.global.add.u32 [%0], %1;" ::"l"(m), "r"(lane)))

// What a call passes is no traffic; what a thread keeps in an array is.
__device__ __noinline__ float chosen(float x) {
  float all[4];
  for (int i = 0; i < 4; ++i) all[i] = x * i;
  return all[threadIdx.x & 3];
}
extern "C" __global__ void calls(float* out) { out[threadIdx.x] = chosen(threadIdx.x); }
