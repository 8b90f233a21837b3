#include "common/simulator/state/processes/shared_memory.hpp"

#include "common/simulator/state/processes/checkpoint.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>

namespace cudasim {
namespace {

constexpr u64 kMagic = 0x79726f6d654d2a64;

u64 new_serial() {
  std::random_device random;
  return u64{random()} << 32 | random();
}

}  // namespace

SharedMemory::SharedMemory(int file, const Label& label) : file_(file), label_(label) {
  void* const got = mmap(nullptr, label.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (got != MAP_FAILED) bytes_ = static_cast<std::byte*>(got);
}

SharedMemory::~SharedMemory() {
  if (bytes_ != nullptr) munmap(bytes_, label_.size);
  close(file_);
}

std::shared_ptr<SharedMemory> SharedMemory::make(Purpose purpose, u64 size, const void* notes, u64 notes_size) {
  Label label{kMagic, new_serial(), size, purpose, {}};
  require(notes_size <= kNotes);
  if (notes_size != 0) std::memcpy(label.notes, notes, notes_size);
  const int file = memfd_create("simulated device memory", MFD_CLOEXEC);
  require(file >= 0, CUDA_ERROR_OUT_OF_MEMORY);
  std::shared_ptr<SharedMemory> made(new SharedMemory(file, label));
  const bool written = ftruncate(file, static_cast<off_t>(size + sizeof label)) == 0 &&
                       pwrite(file, &label, sizeof label, static_cast<off_t>(size)) == sizeof label;
  require(written && made->bytes_ != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  return made;
}

std::shared_ptr<SharedMemory> SharedMemory::adopt(Purpose purpose, int file, CUresult otherwise) {
  require(file >= 0);
  struct stat known{};
  Label label{};
  const bool there = fstat(file, &known) == 0 && known.st_size > static_cast<off_t>(sizeof label);
  const off_t at = known.st_size - static_cast<off_t>(sizeof label);
  if (!there || pread(file, &label, sizeof label, at) != sizeof label || label.magic != kMagic ||
      label.size != static_cast<u64>(at) || label.purpose != purpose) {
    close(file);
    fail(otherwise);
  }
  std::shared_ptr<SharedMemory> opened(new SharedMemory(file, label));
  require(opened->bytes_ != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  return opened;
}

std::shared_ptr<SharedMemory> SharedMemory::open(Purpose purpose, int descriptor) {
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  require(own >= 0, CUDA_ERROR_UNKNOWN);  // as driver 580 for an unknown descriptor
  // And of physical memory, if it is a descriptor of something else.
  return adopt(purpose, own, purpose == Purpose::physical_memory ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_INVALID_VALUE);
}

std::shared_ptr<SharedMemory> SharedMemory::open(Purpose purpose, const Locator& locator) {
  const std::string path = "/proc/" + std::to_string(locator.process) + "/fd/" + std::to_string(locator.file);
  struct stat known{};  // looked at first: opening what is no file may wait, or do something
  // As driver 580, if that process has ended, or belongs to another user.
  const CUresult gone = purpose == Purpose::allocation ? CUDA_ERROR_INVALID_HANDLE
                        : purpose == Purpose::marks    ? CUDA_ERROR_MAP_FAILED
                                                       : CUDA_ERROR_INVALID_VALUE;
  require(locator.process > 0 && stat(path.c_str(), &known) == 0 && S_ISREG(known.st_mode), gone);
  auto opened = adopt(purpose, ::open(path.c_str(), O_RDWR | O_CLOEXEC));
  require(opened->serial() == locator.serial && opened->size() == locator.size);
  return opened;
}

void SharedMemory::read_notes(void* into, u64 size) const {
  require(size <= kNotes);
  std::memcpy(into, label_.notes, size);
}

SharedMemory::Locator SharedMemory::locator() const { return {label_.serial, label_.size, getpid(), file_}; }

bool SharedMemory::show_at(u64 address, int protection) const {
  void* const wanted = reinterpret_cast<void*>(address);
  return mmap(wanted, label_.size, protection, MAP_SHARED | MAP_FIXED, file_, 0) == wanted;
}

int SharedMemory::descriptor() {
  const int made = fcntl(file_, F_DUPFD_CLOEXEC, 0);
  require(made >= 0, CUDA_ERROR_OPERATING_SYSTEM);
  if (piece_) piece_->described(made);
  return made;
}

OpenedMemory::~OpenedMemory() { count_opened(-static_cast<int>(by_serial.size())); }

}  // namespace cudasim
