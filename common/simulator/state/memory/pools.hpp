// Stream-ordered allocation: pools of a device's memory, from which allocations come and to which they return in the
// order of streams. What has returned stays with the pool, up to its release threshold, and is given out again.
#pragma once
#include "common/simulator/numbers.hpp"
#include "common/simulator/state/errors/registry.hpp"
#include "common/simulator/state/memory/allocations.hpp"
#include "common/simulator/state/processes/shared_memory.hpp"

#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace cudasim {

// The kind of memory of a pool and its location: CUmemLocation, without numbers that have no meaning.
struct PoolPlace {
  bool managed = false;
  int location = CU_MEM_LOCATION_TYPE_DEVICE;  // 0: nowhere in particular, of managed memory; 2, 3: on the host
  int id = 0;
  auto operator<=>(const PoolPlace&) const = default;
  bool on_device() const { return !managed && location == CU_MEM_LOCATION_TYPE_DEVICE; }
  // Page-locked memory of the host, which devices touch only if they are let (Pool::set_access).
  bool on_host() const { return !managed && location != CU_MEM_LOCATION_TYPE_DEVICE; }
};

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  // Whether the pool is shared with other processes.
  enum class Sharing : u8 { none, exported, imported };

  // `shared`: stands for the pool where it is known by a file descriptor; null unless it is shared.
  Pool(Device& device, const PoolPlace& place, u64 max_size, Sharing sharing = Sharing::none,
       std::shared_ptr<SharedMemory> shared = nullptr)
      : device(device), place(place), sharing(sharing), shared(std::move(shared)), max_size_(max_size) {}

  Device& device;  // of a pool elsewhere: any
  const PoolPlace place;
  const Sharing sharing;
  const std::shared_ptr<SharedMemory> shared;
  CUmemoryPool handle = nullptr;
  bool is_default = false;

  // The program gets the address at once, and the memory in the order of the stream.
  u64 allocate(Stream& stream, u64 size);
  // Throws CUDA_ERROR_INVALID_VALUE if `base` is no allocation of this pool, or freed already.
  void free_in_order(u64 base, Stream& stream);
  void free_now(u64 base);
  // Releases unused memory until at most `keep` bytes are held.
  void trim(u64 keep);
  void trim_to_threshold();

  void get(CUmemPool_attribute attribute, void* value);
  void set(CUmemPool_attribute attribute, const void* value);
  CUmemAccess_flags access(CUdevice from);
  void set_access(CUdevice from, CUmemAccess_flags flags);

  // Where another process finds the allocation at `base`, and how many bytes it has.
  std::pair<SharedMemory::Locator, u64> locate(u64 base);
  // Takes in what another process has located.
  u64 import(const SharedMemory::Locator& where, u64 size);

 private:
  struct Block {
    u64 capacity = 0;
    std::byte* host = nullptr;
    std::shared_ptr<const void> bytes;     // whose they are
    std::shared_ptr<SharedMemory> shared;  // the same, of a shared pool
    u64 size = 0;                          // as asked for
    bool in_use = false;                   // as the program sees it
    bool entered = false;                  // as the address space does: until the stream has come to the free
    u64 use = 0;                           // counts allocations of this block
    u64 stream = 0;                        // where it was freed
    TaskPtr freed;
  };
  using Blocks = std::map<u64, Block>;

  // mutex_ must be held.
  Blocks::iterator reusable(const Stream& stream, u64 size);
  Blocks::iterator make_block(u64 size);
  u64 give_out(Blocks::iterator block, u64 size);
  void leave(Blocks::iterator block, const char* by);
  Blocks::iterator erase(Blocks::iterator block);
  void begin_free(Block& block);
  void trim_locked(u64 keep);
  // What the device (or the host) has set apart for the pool: whole pieces, enough for all blocks.
  u64 reserved() const { return round_up(held_, kPiece); }
  // So many bytes more, or fewer. Throws CUDA_ERROR_OUT_OF_MEMORY.
  void hold(u64 bytes);
  void release(u64 bytes);

  static constexpr u64 kPiece = u64{32} << 20;  // as driver 580 reserves

  const u64 max_size_;
  std::mutex mutex_;  // must be held for the following
  Blocks blocks_;  // by address
  std::map<CUdevice, CUmemAccess_flags> access_;
  u64 release_threshold_ = 0;
  int follow_events_ = 1, opportunistic_ = 1, internal_dependencies_ = 1;
  u64 used_ = 0, used_high_ = 0, held_ = 0, reserved_high_ = 0;
  std::vector<std::unique_ptr<Share>> pieces_;  // of the device's memory
};

Registry<Pool, CUmemoryPool>& pools();
// Throws CUDA_ERROR_INVALID_VALUE for an unknown handle.
std::shared_ptr<Pool> get_pool(CUmemoryPool handle);
std::shared_ptr<Pool> make_pool(Device& device, const PoolPlace& place, u64 max_size,
                                Pool::Sharing sharing = Pool::Sharing::none,
                                std::shared_ptr<SharedMemory> shared = nullptr);
// For each place: its default pool, and the one that was set last.
std::shared_ptr<Pool> default_pool(const PoolPlace& place);
std::shared_ptr<Pool> current_pool(const PoolPlace& place);
void set_current_pool(const PoolPlace& place, std::shared_ptr<Pool> pool);
inline PoolPlace memory_of(const Device& device) { return {false, CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal}; }

// The pool that the allocation at `base` comes from; null if none does.
std::shared_ptr<Pool> pool_of(u64 base);

// What a synchronisation does to all pools of a device: memory beyond their thresholds goes back.
void trim_pools(Device& device);

}  // namespace cudasim
