// The pages that a warp copies to shared memory, some steps ahead, also across the ends of parts.
#pragma once
#include "page.hpp"
#include "work.hpp"

template <class S>
class Ring {
 public:
  __device__ Ring(const Decode& p, const Work<S>& work, unsigned memory)
      : p_(p), work_(work), ahead_(work.first()), memory_(memory + warp() * S::kStages * kStageBytes<S>) {
    find_pages();
    for (int i = 0; i < S::kStages - 1; ++i) copy();
  }

  // Waits for the pages of the next step, and starts to copy pages to the stage of the step before.
  __device__ void wait() {
    ampere::cp_async_wait<S::kStages - 2>();
    __syncwarp();
    copy();
    used_ = (used_ + 1) % S::kStages;
  }
  // The stage of the step that wait() waited for, relative to the warp's memory, and its pages.
  __device__ int used_offset() const { return used_ * kStageBytes<S>; }
  __device__ unsigned k(int page) const { return stage(used_) + page * kPageBytes<S>; }
  __device__ unsigned v(int page) const { return k(kPages<S> + page); }

  // The first key of a warp's page.
  __device__ static int first_key(int step, int page) { return ((step * kWarps + warp()) * kPages<S> + page) * kPage; }

 private:
  __device__ unsigned stage(int number) const { return memory_ + number * kStageBytes<S>; }

  __device__ void copy() {
    if (ahead_.left > 0) {
      const unsigned to = stage(filled_);
      const int head = S::kGrouped ? ahead_.head : ahead_.head / p_.group;
#pragma unroll
      for (int i = 0; i < kPages<S>; ++i) {
        const int rows = work_.keys_of(ahead_.request) - first_key(ahead_.step, i);
        if (rows <= 0) break;
        const std::size_t first = first_row(head, i) * S::kHead * S::kBytes;
        copy_page<S>(to + i * kPageBytes<S>, static_cast<const char*>(p_.k) + first, rows);
        copy_page<S>(to + (kPages<S> + i) * kPageBytes<S>, static_cast<const char*>(p_.v) + first, rows);
      }
      work_.advance(ahead_);
      find_pages();
    }
    ampere::cp_async_commit();
    filled_ = (filled_ + 1) % S::kStages;
  }

  // Loads the numbers of the pages that will be copied next. They are needed only then, so no copy waits for them.
  __device__ void find_pages() {
    if (!S::kPaged || ahead_.left == 0) return;
    const int* const row = p_.table + static_cast<std::size_t>(ahead_.request) * p_.pitch;
#pragma unroll
    for (int i = 0; i < kPages<S>; ++i) {
      const int key = first_key(ahead_.step, i);
      if (key < work_.keys_of(ahead_.request)) pages_[i] = row[key / kPage];
    }
  }
  // The first row of a page in the cache.
  __device__ std::size_t first_row(int head, int page) const {
    if (S::kPaged) return (std::size_t{static_cast<unsigned>(pages_[page])} * p_.kv_heads + head) * kPage;
    const std::size_t of_head = std::size_t{static_cast<unsigned>(ahead_.request)} * p_.kv_heads + head;
    return of_head * p_.pitch * kPage + first_key(ahead_.step, page);
  }

  const Decode& p_;
  const Work<S>& work_;
  Position ahead_;
  unsigned memory_;
  int filled_ = 0, used_ = S::kStages - 1;
  int pages_[kPages<S>];
};
