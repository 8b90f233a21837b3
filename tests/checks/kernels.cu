// What CUDASIM_CHECK=init and sync must find, and what they must let pass: cases.hpp says which is which.
#include "tests/checks/kernel.hpp"

// ---- Memory never written

KERNEL(init_global) { out[threadIdx.x] = in[threadIdx.x]; }
KERNEL(init_atomic_counter) { atomicAdd(&in[0], 1); }
// The program has written all bytes but one.
KERNEL(init_bytes) { out[threadIdx.x] = reinterpret_cast<u8*>(in)[threadIdx.x]; }

KERNEL(init_shared) {
  __shared__ u32 sums[256];
  sums[threadIdx.x] += in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = sums[255 - threadIdx.x];
}

KERNEL(init_shared_edge) {
  __shared__ u32 tile[258];
  tile[1 + threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 2];
}

KERNEL(init_dynamic_shared) {
  extern __shared__ u32 dynamic[];
  if (threadIdx.x != 9) dynamic[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[threadIdx.x ^ 1];
}

KERNEL(init_local) {
  u32 stack[16];
  for (u32 i = 0; i < 15; ++i) stack[(i + in[threadIdx.x]) % 15] = i;
  out[threadIdx.x] = stack[(in[threadIdx.x] + threadIdx.x) % 16];
}

KERNEL(fine_written_by_the_program) { out[threadIdx.x] = in[threadIdx.x]; }
KERNEL(fine_writes_what_it_reads) {
  in[blockIdx.x * 256 + threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + 255 - threadIdx.x];
}
KERNEL(fine_writes_bytes_reads_words) {
  __shared__ u8 bytes[1024];
  for (u32 i = 0; i < 4; ++i) bytes[i * 256 + threadIdx.x] = static_cast<u8>(i);
  __syncthreads();
  out[threadIdx.x] = reinterpret_cast<u32*>(bytes)[threadIdx.x];
}
KERNEL(fine_local_array) {
  u32 stack[16];
  for (u32 i = 0; i < 16; ++i) stack[(i + in[threadIdx.x]) % 16] = i;
  out[threadIdx.x] = stack[in[threadIdx.x] % 16];
}

// Copies of a structure copy its padding, too.
struct Padded {
  char letter;
  double number;
};
KERNEL(fine_padding_is_copied) {
  __shared__ Padded some[64], others[64];
  some[threadIdx.x].letter = static_cast<char>(threadIdx.x);
  some[threadIdx.x].number = threadIdx.x;
  __syncthreads();
  others[threadIdx.x] = some[threadIdx.x ^ 1];
  __syncthreads();
  out[threadIdx.x] = others[threadIdx.x ^ 2].letter + static_cast<u32>(others[threadIdx.x].number);
}
// The copy has a member that was not written, and it is used.
KERNEL(init_member_is_copied_and_read) {
  __shared__ Padded some[64], others[64];
  some[threadIdx.x].letter = static_cast<char>(threadIdx.x);
  if (threadIdx.x != 9) some[threadIdx.x].number = threadIdx.x;
  __syncthreads();
  others[threadIdx.x] = some[threadIdx.x ^ 1];
  __syncthreads();
  out[threadIdx.x] = static_cast<u32>(others[threadIdx.x].number);
}

// What is unwritten passes through registers, other lanes and calls until it is used.
KERNEL(init_condition) {
  const u32 value = in[threadIdx.x];
  if (value * 3 > 7) out[threadIdx.x] = 1;
}
KERNEL(init_address) { out[in[threadIdx.x] % n] = 1; }
KERNEL(init_shuffled) {
  __shared__ u32 values[32];
  if (threadIdx.x != 9) values[threadIdx.x] = threadIdx.x;
  __syncwarp();
  const u32 value = __shfl_xor_sync(~0u, values[threadIdx.x], 1);
  if (value == 5) out[threadIdx.x] = value;
}
__noinline__ __device__ u32 halved(u32 value) { return value / 2; }
KERNEL(init_passed_to_a_function) {
  u32 value = halved(in[threadIdx.x]);
  out[threadIdx.x] = value == 0 ? out[value + 1] : 0;
}
KERNEL(init_exchanged) {
  if (atomicExch(&in[threadIdx.x], 1) == 0) out[threadIdx.x] = 1;
}

// The read alone is no mistake.
KERNEL(fine_is_read_and_not_used) {
  const u32 value = in[threadIdx.x];
  out[threadIdx.x] = (value & 0) + (threadIdx.x < n ? threadIdx.x : value);
}
KERNEL(fine_exchanges_to_initialize) {
  atomicExch(&in[threadIdx.x], threadIdx.x);
  out[threadIdx.x] = in[threadIdx.x];
}
struct Fields {
  u32 low : 3, middle : 9, high : 20;
};
KERNEL(fine_bit_fields) {
  __shared__ Fields fields[32];
  fields[threadIdx.x].middle = threadIdx.x;
  fields[threadIdx.x].low = threadIdx.x;
  __syncwarp();
  const Fields other = fields[threadIdx.x ^ 1];
  out[threadIdx.x] = other.low + other.middle;
}
KERNEL(fine_padding_goes_through_lanes) {
  __shared__ Padded some[32];
  some[threadIdx.x].letter = static_cast<char>(threadIdx.x);
  some[threadIdx.x].number = threadIdx.x;
  __syncwarp();
  u32 words[4];
  memcpy(words, &some[threadIdx.x], sizeof words);
  for (u32& word : words) word = __shfl_down_sync(~0u, word, 1);
  Padded other;
  memcpy(&other, words, sizeof words);
  out[threadIdx.x] = other.letter + static_cast<u32>(other.number);
}
KERNEL(fine_padding_stays_in_global_memory) {
  auto* const from = reinterpret_cast<Padded*>(in);
  from[threadIdx.x].letter = 'x';
  from[threadIdx.x].number = threadIdx.x;
  reinterpret_cast<Padded*>(out)[threadIdx.x] = from[threadIdx.x];
}

// ---- Barriers and masks

KERNEL(sync_barriers_in_both_branches) {
  if (threadIdx.x % 32 < 16) {
    out[threadIdx.x] = 1;
    asm volatile("bar.sync 0;" ::: "memory");
  } else {
    out[threadIdx.x] = 2;
    asm volatile("bar.sync 0;" ::: "memory");
  }
}

KERNEL(sync_barrier_in_half_a_warp) {
  if (threadIdx.x < 16) asm volatile("bar.sync 0;" ::: "memory");
  out[threadIdx.x] = threadIdx.x;
}

KERNEL(sync_barrier_after_exit) {
  if (threadIdx.x >= 200) return;
  out[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] += 1;
}

KERNEL(sync_barrier_missed_by_a_warp) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    return;
  }
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x];
}

KERNEL(sync_counts_differ) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1, 128;" ::: "memory");
  out[threadIdx.x] = 1;
}

KERNEL(sync_lane_not_in_its_mask) { out[threadIdx.x] = __shfl_sync(0xffffu, in[threadIdx.x], 0); }

KERNEL(sync_masks_differ) {
  const u32 mask = threadIdx.x < 16 ? 0xffffffffu : 0xfffffffeu;
  out[threadIdx.x] = __shfl_xor_sync(mask, in[threadIdx.x], 1);
}

KERNEL(sync_syncwarp_of_others) { __syncwarp(0x0000ffffu << (threadIdx.x % 32 < 16 ? 16 : 0)); }

KERNEL(sync_mask_names_exited_lanes) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = __shfl_xor_sync(~0u, in[threadIdx.x], 16);
}

// The mask was taken before the branch: it still names the lanes that went the other way, which come here never.
KERNEL(sync_stale_mask) {
  const u32 before = __activemask();
  if (threadIdx.x % 2 == 0)
    out[threadIdx.x] = __ballot_sync(before, in[threadIdx.x] != 0);
  else
    out[threadIdx.x] = 1;
}

KERNEL(fine_uniform_branches) {
  if (n > 4) {
    out[threadIdx.x] = 1;
    __syncthreads();
  } else {
    __syncthreads();
  }
  if (threadIdx.x / 32 == 1) __syncwarp();
  __syncthreads();
}
KERNEL(fine_masks_of_branches) {
  const u32 those = __ballot_sync(~0u, threadIdx.x % 3 == 0);
  if (threadIdx.x % 3 == 0)
    out[threadIdx.x] = __shfl_sync(those, in[threadIdx.x], __ffs(those) - 1);
  else
    out[threadIdx.x] = __popc(those);
  __syncwarp();
}
// A block whose last warp is not full: lanes that do not exist are not missed.
KERNEL(fine_partial_warp) {
  u32 sum = in[threadIdx.x];
  for (u32 step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  __syncthreads();
  out[threadIdx.x] = sum;
}
KERNEL(fine_warps_leave_early) {
  if (threadIdx.x >= 64) return;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = in[threadIdx.x];
}

// ---- Of launches in two streams: cases.hpp says which buffers they get

KERNEL(between_launches) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + blockIdx.x + 1;
}

// ---- Variables of shared memory

KERNEL(memory_index_beyond_shared_array) {
  __shared__ u32 values[64];
  __shared__ u32 others[64];
  const u32 t = threadIdx.x;
  others[t] = 1;
  __syncthreads();
  values[t + in[0] + 1] = in[t];
  __syncthreads();
  out[t] = values[t] + others[t];
}

KERNEL(memory_row_beyond_shared_tile) {
  __shared__ u32 flags[32];
  __shared__ u32 tile[8][33];
  const u32 x = threadIdx.x % 32, y = threadIdx.x / 32;
  if (y == 0) flags[x] = x;
  tile[y][x] = in[threadIdx.x];
  __syncthreads();
  u32 sum = flags[x];
  for (u32 row = 0; row <= 8; ++row) sum += *(volatile u32*)&tile[row][x];
  out[threadIdx.x] = sum;
}

KERNEL(memory_atomic_beyond_shared_bins) {
  __shared__ u32 bins[16];
  __shared__ u32 behind[32];
  const u32 t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  if (t < 32) behind[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[t] % 17], 1u);
  __syncthreads();
  if (t < 16) out[t] = bins[t] + behind[t];
}

KERNEL(fine_pointers_into_shared_arrays) {
  __shared__ u32 a[64];
  __shared__ u32 b[64];
  const u32 t = threadIdx.x;
  u32* p = t % 2 == 0 ? a : b;
  p[t] = in[t];
  p = t % 2 == 0 ? b : a;
  p[t] = 1;
  __syncthreads();
  u32* from = a;
  u32* to = b;
  for (u32 round = 0; round < 4; ++round) {
    to[t] = from[63 - t] + round;
    __syncthreads();
    u32* const other = from;
    from = to;
    to = other;
  }
  const u32* end = a + 64;
  out[t] = *(end - 1 - t) + b[t];
}

KERNEL(fine_volatile_with_syncwarp) {
  __shared__ volatile u32 sums[32];
  const u32 t = threadIdx.x;
  sums[t] = in[t];
  __syncwarp();
  for (u32 step = 16; step > 0; step /= 2) {
    u32 sum = 0;
    if (t < step) sum = sums[t] + sums[t + step];
    __syncwarp();
    if (t < step) sums[t] = sum;
    __syncwarp();
  }
  if (t == 0) out[0] = sums[0];
}

KERNEL(fine_volatile_flag_in_a_warp) {
  __shared__ u32 data;
  __shared__ volatile u32 flag;
  const u32 t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 5) {
    data = in[5];
    __threadfence_block();
    flag = 1;
  } else if (t == 9) {
    while (flag == 0) {
    }
    __threadfence_block();
    out[0] = data;
  }
}

// ---- The whole block's barrier

KERNEL(sync_two_barriers_on_one_line) {
  // clang-format off
  if (threadIdx.x < 128) { out[0] = 1; __syncthreads(); in[0] = 1; } else { out[1] = 2; __syncthreads(); in[1] = 2; }
  // clang-format on
}

KERNEL(sync_barrier_at_two_places) {
  __shared__ u32 values[256];
  const u32 t = threadIdx.x;
  if (t < 128) {
    values[t] = in[t];
    asm volatile("bar.sync 0;" ::: "memory");
  } else {
    values[t] = in[t] + 1;
    asm volatile("bar.sync 0;" ::: "memory");
  }
  out[t] = values[255 - t];
}

KERNEL(fine_barrier_in_unrolled_loop) {
  __shared__ u32 values[256];
  const u32 t = threadIdx.x;
  values[t] = in[t];
#pragma unroll
  for (u32 step = 1; step < 256; step *= 2) {
    __syncthreads();
    const u32 other = values[t ^ step];
    __syncthreads();
    values[t] += other;
  }
  __syncthreads();
  out[t] = values[t];
}
