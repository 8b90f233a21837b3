// One access of one warp, at addresses that the host chooses: lane n touches byte at[n] of shared memory, or of `memory`.
// A lane whose number is kNowhere stays away. Written in PTX, so that no compiler makes something else of it.

constexpr unsigned kNowhere = 0xffffffff;

struct alignas(16) Four {
  unsigned x, y, z, w;
};

extern __shared__ Four shared[];

__device__ unsigned shared_address(unsigned at) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)) + at; }

#define PROBE(name) extern "C" __global__ void name(const unsigned* at, unsigned* memory, unsigned* out)
#define PLACE                             \
  const unsigned lane = threadIdx.x;      \
  const unsigned place = at[lane];        \
  if (place == kNowhere) return;          \
  const unsigned a = shared_address(place); \
  char* const m = reinterpret_cast<char*>(memory) + place; \
  (void)a, (void)m

PROBE(shared_load_1) {
  PLACE;
  unsigned v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(a));
  out[lane] = v;
}
PROBE(shared_load_4) {
  PLACE;
  unsigned v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a));
  out[lane] = v;
}
PROBE(shared_load_8) {
  PLACE;
  unsigned x, y;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(a));
  out[lane] = x ^ y;
}
PROBE(shared_load_16) {
  PLACE;
  unsigned x, y, z, w;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(a));
  out[lane] = x ^ y ^ z ^ w;
}
PROBE(shared_store_1) {
  PLACE;
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(a), "r"(lane));
}
PROBE(shared_store_4) {
  PLACE;
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(lane));
}
PROBE(shared_store_8) {
  PLACE;
  asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(a), "r"(lane));
}
PROBE(shared_store_16) {
  PLACE;
  asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(a), "r"(lane));
}
PROBE(shared_add) {
  PLACE;
  unsigned v;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(v) : "r"(a), "r"(lane));
  out[lane] = v;
}
PROBE(shared_add_quietly) {
  PLACE;
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(a), "r"(lane));
}
PROBE(shared_exchange) {
  PLACE;
  unsigned v;
  asm volatile("atom.shared.exch.b32 %0, [%1], %2;" : "=r"(v) : "r"(a), "r"(lane));
  out[lane] = v;
}

PROBE(global_load_1) {
  PLACE;
  unsigned v;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(m));
  out[lane] = v;
}
PROBE(global_load_4) {
  PLACE;
  unsigned v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(m));
  out[lane] = v;
}
PROBE(global_load_8) {
  PLACE;
  unsigned x, y;
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(m));
  out[lane] = x ^ y;
}
PROBE(global_load_16) {
  PLACE;
  unsigned x, y, z, w;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(m));
  out[lane] = x ^ y ^ z ^ w;
}
PROBE(global_store_1) {
  PLACE;
  asm volatile("st.global.u8 [%0], %1;" ::"l"(m), "r"(lane));
}
PROBE(global_store_4) {
  PLACE;
  asm volatile("st.global.u32 [%0], %1;" ::"l"(m), "r"(lane));
}
PROBE(global_store_8) {
  PLACE;
  asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(m), "r"(lane));
}
PROBE(global_store_16) {
  PLACE;
  asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(m), "r"(lane));
}
PROBE(global_add) {
  PLACE;
  unsigned v;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(m), "r"(lane));
  out[lane] = v;
}
PROBE(global_add_quietly) {
  PLACE;
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(m), "r"(lane));
}
