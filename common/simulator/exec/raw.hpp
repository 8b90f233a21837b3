// Bytes of simulated memory, read and written as the simulated program does it: threads of the machine may race there
// because the kernel's threads do.
#pragma once
#include "common/simulator/types.hpp"

#include <cstring>

namespace cudasim {

// They are plain moves: aligned ones of up to 8 bytes are whole on the processors that this runs on, also as parts of a
// vector, and a compiler makes no vectors of atomic accesses, which whole warps are to be served by. For
// ThreadSanitizer they are relaxed atomic accesses: a kernel's races are the kernel's affair (CUDASIM_CHECK=race tells
// of them), and whatever else it reports is a race of the simulator's own.
#if defined(__SANITIZE_THREAD__)
#define CUDASIM_RACY 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUDASIM_RACY 1
#endif
#endif

template <class T>
inline T raw_load(const std::byte* from) {
#if defined(CUDASIM_RACY)
  if constexpr (sizeof(T) <= 8) {
    return __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_RELAXED);
  } else {
    return static_cast<T>(raw_load<u64>(from + 8)) << 64 | raw_load<u64>(from);
  }
#endif
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
inline void raw_store(std::byte* to, T value) {
#if defined(CUDASIM_RACY)
  if constexpr (sizeof(T) <= 8) {
    return __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_RELAXED);
  } else {
    raw_store<u64>(to, static_cast<u64>(value));
    return raw_store<u64>(to + 8, static_cast<u64>(value >> 64));
  }
#endif
  std::memcpy(to, &value, sizeof value);
}

// kBytes of elements T that lie one after the other, from or to such memory, by the processor's longest moves: the
// smaller ones that a compiler makes of a row of elements hold up who reads the row as a vector next.
template <class T, u32 kBytes>
inline void raw_copy(std::byte* to, const std::byte* from) {
#if defined(CUDASIM_RACY)
  for (u32 at = 0; at < kBytes; at += sizeof(T)) raw_store<T>(to + at, raw_load<T>(from + at));
#else
  typedef unsigned char Chunk __attribute__((vector_size(kBytes % 32 == 0 ? 32 : kBytes)));
  Chunk chunks[kBytes / sizeof(Chunk)];
  for (u32 c = 0; c < kBytes / sizeof(Chunk); ++c) std::memcpy(&chunks[c], from + c * sizeof(Chunk), sizeof(Chunk));
  for (u32 c = 0; c < kBytes / sizeof(Chunk); ++c) std::memcpy(to + c * sizeof(Chunk), &chunks[c], sizeof(Chunk));
#endif
}

// An element of `size` bytes, 1, 2, 4 or 8, into the lower ones of a number.
inline u64 raw_element(const std::byte* from, u32 size) {
  switch (size) {
    case 1: return raw_load<u8>(from);
    case 2: return raw_load<u16>(from);
    case 4: return raw_load<u32>(from);
    default: return raw_load<u64>(from);
  }
}

inline void raw_store_element(std::byte* to, u64 value, u32 size) {
  switch (size) {
    case 1: return raw_store(to, static_cast<u8>(value));
    case 2: return raw_store(to, static_cast<u16>(value));
    case 4: return raw_store(to, static_cast<u32>(value));
    default: return raw_store(to, value);
  }
}

// Fences that order them for other threads. ThreadSanitizer does not understand fences, and g++ warns about that; it
// need not, because it sees every access that is ordered here as atomic.
#if defined(CUDASIM_RACY) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
inline void raw_fence_acquire() { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
inline void raw_fence_release() { __atomic_thread_fence(__ATOMIC_RELEASE); }
inline void raw_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#if defined(CUDASIM_RACY) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace cudasim
