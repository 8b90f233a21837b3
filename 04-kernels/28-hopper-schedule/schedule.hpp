// Which tiles of c a block computes, and in which order.
#pragma once

#include "04-kernels/raster.hpp"

// A piece of work: a tile, and those of its steps that are to be computed, [first, last).
struct Work {
  int tile, first, last;
};

// Hands out a worker's tiles: every workers-th tile. With stream-K, the tiles of the last, incomplete wave and of the
// wave before are divided into parts first, the same number of steps for each worker.
template <bool kStreamK>
class Schedule {
 public:
  __device__ Schedule(int tiles, int steps, int workers, int worker)
      : tiles_(tiles), steps_(steps), workers_(workers), next_(worker), cursor_(0), end_(0) {
    if (kStreamK) {
      cursor_ = begin(worker), end_ = begin(worker + 1);
      next_ += divided();
    }
  }

  __device__ bool next(Work& work) {
    if (kStreamK && cursor_ < end_) {
      const int first = cursor_ % steps_, last = min(steps_, first + end_ - cursor_);
      work = {cursor_ / steps_, first, last};
      cursor_ += last - first;
      return true;
    }
    if (next_ >= tiles_) return false;
    work = {next_, 0, steps_};
    next_ += workers_;
    return true;
  }

  // The number of steps that a worker has of the divided tiles.
  __device__ int share(int worker) const { return begin(worker + 1) - begin(worker); }

 private:
  __device__ int divided() const {
    const int rest = tiles_ % workers_;
    return rest == 0 ? 0 : rest + (tiles_ >= workers_ ? workers_ : 0);
  }
  __device__ int begin(int worker) const {
    return static_cast<int>(static_cast<long long>(divided()) * steps_ * worker / workers_);
  }

  int tiles_, steps_, workers_, next_, cursor_, end_;
};
