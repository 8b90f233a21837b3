// What CUDASIM_CHECK=race must find, and what it must let pass: cases.hpp says which is which.
#include "tests/checks/kernel.hpp"

// ---- Races

KERNEL(race_reduction_without_barrier) {
  __shared__ u32 sums[256];
  const u32 t = threadIdx.x;
  sums[t] = in[t];
  for (u32 step = 128; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
  }
  if (t == 0) out[0] = sums[0];
}

KERNEL(race_shared_neighbour) {
  __shared__ u32 values[256];
  const u32 t = threadIdx.x;
  values[t] = in[t];
  out[t] = values[(t + 1) % 256];
}

KERNEL(race_warp_without_syncwarp) {
  __shared__ u32 sums[32];
  const u32 t = threadIdx.x;
  sums[t] = in[t];
  for (u32 step = 16; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
  }
  if (t == 0) out[0] = sums[0];
}

// The same as it was written before sm_70.
KERNEL(race_warp_volatile_without_syncwarp) {
  __shared__ volatile u32 sums[32];
  const u32 t = threadIdx.x;
  sums[t] = in[t];
  for (u32 step = 16; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
  }
  if (t == 0) out[0] = sums[0];
}

KERNEL(race_warp_volatile_neighbour) {
  __shared__ volatile u32 values[64];
  const u32 t = threadIdx.x;
  values[t] = in[t];
  out[t] = values[t ^ 1];
}

KERNEL(race_syncwarp_across_warps) {
  __shared__ u32 values[256];
  const u32 t = threadIdx.x;
  values[t] = in[t];
  __syncwarp();
  out[t] = values[255 - t];
}

KERNEL(race_tile_reused_without_barrier) {
  __shared__ u32 tile[256];
  const u32 t = threadIdx.x;
  u32 sum = 0;
  for (u32 i = 0; i < 4; ++i) {
    tile[t] = in[i * 256 + t];
    __syncthreads();
    for (u32 k = 0; k < 256; ++k) sum += tile[k] * (k ^ t);
  }
  out[t] = sum;
}

KERNEL(race_between_blocks_same_word) { out[threadIdx.x] = in[threadIdx.x] + blockIdx.x; }

// In place: a thread reads what the thread beside it overwrites, at the edges in another block.
KERNEL(race_stencil_in_place) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 left = i > 0 ? in[i - 1] : 0, right = i + 1 < n ? in[i + 1] : 0;
  __syncthreads();
  in[i] = left + right;
}

KERNEL(race_histogram) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  out[in[i] % 16] += 1;
}

KERNEL(race_shared_histogram) {
  __shared__ u32 bins[16];
  const u32 t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  bins[in[t] % 16] += 1;
  __syncthreads();
  if (t < 16) out[t] = bins[t];
}

KERNEL(race_forgotten_barrier_after_init) {
  __shared__ u32 bins[16];
  const u32 t = threadIdx.x;
  if (t >= 240) bins[t - 240] = 0;
  atomicAdd(&bins[in[t] % 16], 1);
  __syncthreads();
  if (t < 16) out[t] = bins[t];
}

KERNEL(race_last_block_without_fence) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = in[blockIdx.x];
    last = atomicAdd(&out[n - 1], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    u32 sum = 0;
    for (u32 b = 0; b < gridDim.x; ++b) sum += out[1 + b];
    out[0] = sum;
  }
}

KERNEL(race_flag_without_fence) {
  volatile u32* flag = &out[n - 1];
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    out[0] = in[0] + 1;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    out[1] = out[0];
  }
}

// The other lanes' values are not yet published when lane 0 raises the flag.
KERNEL(race_flag_before_the_warp_is_done) {
  volatile u32* flag = &out[n - 1];
  const u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    out[t] = in[t] + 1;
    if (t == 0) {
      __threadfence();
      *flag = 1;
    }
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    out[32 + t] = out[t];
  }
}

KERNEL(race_atomic_and_plain) {
  if (threadIdx.x < 32)
    atomicAdd(&out[0], 1);
  else
    out[threadIdx.x] = out[0];
}

KERNEL(race_atomic_of_block_scope) { atomicAdd_block(&out[0], in[threadIdx.x]); }

KERNEL(race_lock_without_fences) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&out[0], 0, 1) != 0) {
  }
  out[1] += in[blockIdx.x];
  atomicExch(&out[0], 0);
}

KERNEL(race_fence_of_block_scope) {
  volatile u32* flag = &out[n - 1];
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    out[0] = in[0] + 1;
    __threadfence_block();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence_block();
    out[1] = out[0];
  }
}

// The consumers read without waiting for the producers' barrier.
KERNEL(race_named_barrier_not_waited_for) {
  __shared__ u32 values[64];
  const u32 t = threadIdx.x;
  if (t < 64) {
    values[t] = in[t];
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    out[t] = values[t - 64];
    asm volatile("bar.sync 1, 128;" ::: "memory");
  }
}

// Different values to one place, in one instruction.
KERNEL(race_lanes_write_one_word) {
  if (threadIdx.x < 32) out[0] = threadIdx.x;
}

// ---- No races

KERNEL(fine_reduction) {
  __shared__ u32 sums[256];
  const u32 t = threadIdx.x;
  sums[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (u32 step = 128; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

KERNEL(fine_warp_reduction) {
  __shared__ u32 sums[32];
  const u32 t = threadIdx.x;
  sums[t] = in[t];
  __syncwarp();
  for (u32 step = 16; step > 0; step /= 2) {
    const u32 other = t < step ? sums[t + step] : 0;
    __syncwarp();
    sums[t] += other;
    __syncwarp();
  }
  if (t == 0) out[0] = sums[0];
}

KERNEL(fine_shuffle_reduction) {
  __shared__ u32 partial[8];
  const u32 t = threadIdx.x;
  u32 sum = in[blockIdx.x * 256 + t];
  for (u32 step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (t % 32 == 0) partial[t / 32] = sum;
  __syncthreads();
  if (t < 8) {
    sum = partial[t];
    for (u32 step = 4; step > 0; step /= 2) sum += __shfl_down_sync(0xffu, sum, step);
    if (t == 0) atomicAdd(&out[0], sum);
  }
}

KERNEL(fine_tiled_product) {
  __shared__ u32 a[16][16], b[16][16];
  const u32 x = threadIdx.x % 16, y = threadIdx.x / 16;
  u32 sum = 0;
  for (u32 i = 0; i < 2; ++i) {
    a[y][x] = in[y * 32 + i * 16 + x];
    b[y][x] = in[(i * 16 + y) * 16 + x];
    __syncthreads();
    for (u32 k = 0; k < 16; ++k) sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

KERNEL(fine_histogram) {
  __shared__ u32 bins[16];
  const u32 t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * 256 + t] % 16], 1);
  __syncthreads();
  if (t < 16) atomicAdd(&out[t], bins[t]);
}

KERNEL(fine_last_block) {
  __shared__ bool last;
  const u32 t = threadIdx.x;
  out[1 + blockIdx.x * 64 + t] = in[t] + blockIdx.x;
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&out[n - 1], 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  u32 sum = 0;
  for (u32 b = 0; b < gridDim.x; ++b) sum += out[1 + b * 64 + t];
  in[t] = sum;
  if (t == 0) out[n - 1] = 0;  // for the next launch: its own atomic operation came after all others
}

KERNEL(fine_last_block_one_fence) {
  __shared__ bool last;
  const u32 t = threadIdx.x;
  out[1 + blockIdx.x * 64 + t] = in[t] + blockIdx.x;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    last = atomicInc(&out[n - 1], gridDim.x) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  u32 sum = 0;
  for (u32 b = 0; b < gridDim.x; ++b) sum += out[1 + b * 64 + t];
  in[t] = sum;
}

KERNEL(fine_flag_with_fences) {
  volatile u32* flag = &out[n - 1];
  const u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    out[t] = in[t] + 1;
    __syncthreads();
    if (t == 0) {
      __threadfence();
      *flag = 1;
    }
  } else {
    if (t == 0) {
      while (*flag == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[64 + t] = out[t];
  }
}

KERNEL(fine_release_and_acquire) {
  u32* flag = &out[n - 1];
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    out[0] = in[0] + 1;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory");
  } else {
    u32 seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    } while (seen == 0);
    out[blockIdx.x] = out[0];
  }
}

// A hands to B, B to C: C has never heard of A.
KERNEL(fine_chain_of_blocks) {
  u32* flag = &out[n - 8];
  if (threadIdx.x != 0) return;
  u32 seen = 1;
  if (blockIdx.x > 0) {
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(&flag[blockIdx.x - 1]) : "memory");
    } while (seen == 0);
  }
  if (blockIdx.x == 0) out[0] = in[0];
  if (blockIdx.x == gridDim.x - 1) out[1] = out[0];
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&flag[blockIdx.x]), "r"(1u) : "memory");
}

KERNEL(fine_spin_lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&out[0], 0, 1) != 0) {
  }
  __threadfence();
  out[1] += in[blockIdx.x];
  __threadfence();
  atomicExch(&out[0], 0);
}

// Every thread of a block takes a lock in shared memory.
KERNEL(fine_spin_lock_in_shared_memory) {
  __shared__ u32 lock, sum;
  if (threadIdx.x == 0) lock = 0, sum = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence_block();
      sum += in[threadIdx.x];
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

KERNEL(fine_named_barriers) {
  __shared__ u32 values[64];
  const u32 t = threadIdx.x;
  for (u32 i = 0; i < 4; ++i) {
    if (t < 64) {
      if (i > 0) asm volatile("bar.sync 2, 128;" ::: "memory");
      values[t] = in[i * 64 + t];
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      out[i * 64 + t - 64] = values[127 - t];
      if (i < 3) asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  }
}

// Threads share words, not bytes.
KERNEL(fine_neighbouring_bytes) {
  __shared__ u8 bytes[256];
  const u32 t = threadIdx.x;
  bytes[t] = static_cast<u8>(in[t]);
  reinterpret_cast<u8*>(out)[blockIdx.x * 256 + t] = bytes[t];
  __syncthreads();
  reinterpret_cast<u8*>(out)[1024 + blockIdx.x * 256 + t] = bytes[255 - t];
}

KERNEL(fine_same_value_from_all) { out[0] = 7; }

KERNEL(fine_warp_aggregated_counter) {
  __shared__ u32 count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const bool mine = in[threadIdx.x] % 3 == 0;
  const u32 those = __ballot_sync(~0u, mine);
  const u32 lane = threadIdx.x % 32;
  u32 base = 0;
  if (lane == 0) base = atomicAdd(&count, __popc(those));
  base = __shfl_sync(~0u, base, 0);
  if (mine) out[base + __popc(those & ((1u << lane) - 1))] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[n - 1] = count;
}

// The programming guide's own atomic operation: its first read is plain, and only a guess.
KERNEL(fine_sum_by_compare_and_swap) {
  u32 old = out[0], assumed = 0;
  do {
    assumed = old;
    old = atomicCAS(&out[0], assumed, assumed + in[threadIdx.x]);
  } while (assumed != old);
}

KERNEL(race_plain_read_before_an_atomic) {
  if (out[0] < 100) atomicAdd(&out[0], 1);
}

KERNEL(fine_maximum_by_cas) {
  const u32 mine = in[threadIdx.x] * 7919 % 1009;
  for (u32 assumed = atomicAdd(&out[0], 0); assumed < mine;) {
    const u32 old = atomicCAS(&out[0], assumed, mine);
    if (old == assumed) break;
    assumed = old;
  }
}

KERNEL(fine_lane_zero_publishes) {
  volatile u32* flag = &out[n - 1];
  const u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    out[t] = in[t] + 1;
    __syncwarp();
    if (t == 0) {
      __threadfence();
      *flag = 1;
    }
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    out[32 + t] = out[t];
  }
}

KERNEL(fine_two_buffers) {
  __shared__ u32 tile[2][256];
  const u32 t = threadIdx.x;
  u32 sum = 0;
  tile[0][t] = in[t];
  for (u32 i = 0; i < 4; ++i) {
    __syncthreads();
    if (i < 3) tile[(i + 1) % 2][t] = in[(i + 1) * 256 + t];
    sum += tile[i % 2][255 - t];
  }
  out[t] = sum;
}
