// Bytes of simulated memory, read and written as the simulated program does it: threads of the machine may race there
// because the kernel's threads do.
#pragma once
#include "common/simulator/types.hpp"

#include <cstring>

namespace cudasim {

using u128 = unsigned __int128;

// ThreadSanitizer would report a kernel's races as ours; atomic accesses are the way to tell it that they are meant.
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
  if constexpr (sizeof(T) <= 8) return __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_RELAXED);
#endif
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
inline void raw_store(std::byte* to, T value) {
#if defined(CUDASIM_RACY)
  if constexpr (sizeof(T) <= 8) return __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_RELAXED);
#endif
  std::memcpy(to, &value, sizeof value);
}

}  // namespace cudasim
