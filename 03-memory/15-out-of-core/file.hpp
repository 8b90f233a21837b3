// The data set on disk, and ways to read it.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

constexpr std::size_t kPiece = 4 << 20;  // bytes

// A file of numbers, written when it is created and deleted at the end.
class DataSet {
 public:
  DataSet(std::string path, int pieces) : path_(std::move(path)), pieces_(pieces) {
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0) throw std::system_error(errno, std::generic_category(), path_);
    std::vector<std::uint32_t> piece(kPiece / sizeof(std::uint32_t));
    std::uint32_t next = 1;
    bool written = true;
    for (int i = 0; i < pieces && written; ++i) {
      for (std::uint32_t& number : piece) sum_ += number = next = next * 1664525u + 1013904223u;
      written = write(file, piece.data(), kPiece) == static_cast<ssize_t>(kPiece);
    }
    written &= fsync(file) == 0;  // pages that are not on disk yet could not be dropped from memory
    const int error = errno;
    close(file);
    if (written) return;
    unlink(path_.c_str());
    throw std::system_error(error, std::generic_category(), "writing " + path_);
  }
  ~DataSet() { unlink(path_.c_str()); }
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;

  const std::string& path() const { return path_; }
  int pieces() const { return pieces_; }
  std::uint64_t sum() const { return sum_; }

 private:
  std::string path_;
  int pieces_;
  std::uint64_t sum_ = 0;
};

// The data set, opened for reading. With O_DIRECT, the disk writes to the caller's memory, which must begin at a page;
// otherwise the system reads into its page cache, and copies from there.
class Reader {
 public:
  Reader(const DataSet& data, bool direct) : file_(open(data.path().c_str(), O_RDONLY | (direct ? O_DIRECT : 0))) {}
  ~Reader() {
    if (file_ >= 0) close(file_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Whether the file system permits this way to read.
  bool works() const { return file_ >= 0; }
  void read(int piece, void* to) const {
    const off_t begin = static_cast<off_t>(piece) * static_cast<off_t>(kPiece);
    std::size_t done = 0;
    while (done < kPiece) {
      const ssize_t got = pread(file_, static_cast<char*>(to) + done, kPiece - done, begin + static_cast<off_t>(done));
      if (got <= 0) throw std::system_error(got < 0 ? errno : EIO, std::generic_category(), "pread");
      done += static_cast<std::size_t>(got);
    }
  }
  // Asks the system to forget what it has of the file in its page cache.
  void drop() const { posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED); }

 private:
  int file_;
};
