// Memory that other processes can open: through a file descriptor that is handed on, or through a locator, a few bytes
// that say which process has it.
#pragma once
#include "common/simulator/state/errors/failure.hpp"
#include "common/simulator/state/processes/family.hpp"
#include "common/simulator/types.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace cudasim {

class SharedMemory {
 public:
  // The purpose is stored behind the bytes, for the process that opens them.
  enum class Purpose : u32 { physical_memory, allocation, pool, pool_block, marks };
  static constexpr u64 kNotes = 192;  // bytes that its maker may add to that

  // Where to find it, as bytes that may be copied anywhere. It lasts as long as a SharedMemory of that process does.
  struct Locator {
    u64 serial;  // never used twice, of any process
    u64 size;
    i32 process;
    i32 file;
  };

  // Zero bytes. Throws CUDA_ERROR_OUT_OF_MEMORY.
  static std::shared_ptr<SharedMemory> make(Purpose purpose, u64 size, const void* notes = nullptr, u64 notes_size = 0);
  // Throw CUDA_ERROR_INVALID_VALUE, or what a driver returns in this case, if it leads to something else or to nothing.
  static std::shared_ptr<SharedMemory> open(Purpose purpose, int descriptor);
  static std::shared_ptr<SharedMemory> open(Purpose purpose, const Locator& locator);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* get() const { return bytes_; }
  u64 size() const { return label_.size; }
  u64 serial() const { return label_.serial; }
  void read_notes(void* into, u64 size) const;
  Locator locator() const;
  // The same bytes at `address` as well, in the place of what is there. `protection`: mmap's. False if the system
  // refuses.
  bool show_at(u64 address, int protection) const;
  // The bytes are a device's memory, which counts once for all processes that have it. See PieceOfMemory.
  void count_on(u32 device, u64 bytes, bool counted) { piece_.emplace(serial(), bytes, device, counted); }
  // A descriptor of the caller's own. Throws CUDA_ERROR_OPERATING_SYSTEM.
  int descriptor();

 private:
  struct Label {
    u64 magic, serial, size;
    Purpose purpose;
    std::byte notes[kNotes];
  };
  SharedMemory(int file, const Label& label);
  // Takes the descriptor over.
  static std::shared_ptr<SharedMemory> adopt(Purpose purpose, int file, CUresult otherwise = CUDA_ERROR_INVALID_VALUE);

  int file_;
  Label label_;
  std::byte* bytes_ = nullptr;
  std::optional<PieceOfMemory> piece_;
};

// The memory of other processes that a context has opened, by serial number. It ends with the context.
struct OpenedMemory {
  struct Opening {
    u64 base;
    u32 count;
  };
  std::mutex mutex;
  std::map<u64, Opening> by_serial;
  ~OpenedMemory();
};

}  // namespace cudasim
