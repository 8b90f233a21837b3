// A family: a program and the processes that it has forked. They share the simulated devices as processes share a GPU:
// memory that one of them allocates is not available to the others, and their kernels are time-sliced (turns.hpp). A
// parent may fork before it has initialized its driver, so the first fork prepares the family, in memory that all
// members share. A program that a member starts with exec does not belong to the family.
#pragma once
#include "common/simulator/types.hpp"

#include <pthread.h>

#include <atomic>

namespace cudasim {

struct Family {
  static constexpr u32 kMembers = 64, kDevices = 16, kPieces = 256, kNone = kMembers;

  struct Member {
    std::atomic<i32> process;  // 0: the place is free
    std::atomic<u64> started;  // when, as the system counts: a later process may have the same number
    std::atomic<i64> used[kDevices];  // bytes that this member has allocated since the family exists
    std::atomic<bool> away;  // a checkpoint has moved them to the host
  };

  // Memory that several members can share. It counts only once.
  struct Piece {
    u64 serial;  // 0: the place is free
    u64 bytes;
    u32 device;
    u64 file, file_system;  // of a descriptor that a program has got; file 0: none has
    u16 held[kMembers];     // how many objects of a member lead to it
    u16 counted[kMembers];  // how many of them are among the bytes that the member has allocated
  };

  // Whose kernels run on a device.
  struct Turn {
    std::atomic<u32> owner;  // a member + 1; 0: no kernel runs
    std::atomic<i64> since;  // nanoseconds
    std::atomic<u64> waiting;  // members, a bit each
  };

  Member members[kMembers];
  Turn turns[kDevices];
  std::atomic<u32> timeline_numbers;  // that members have got for the timeline
  std::atomic<u32> timelines;      // members that write to the timeline; kOpening while the first one begins it
  std::atomic<i64> timeline_start;  // nanoseconds
  pthread_mutex_t mutex;           // must be held for `pieces`, and to become a member
  Piece pieces[kPieces];

  // This process's number, which it gets when it first asks for it. kNone if the family is too large.
  u32 self();
  bool lives(u32 member) const;
  bool lives(const Member& member) const;
};

// Null in a process that has not forked and was not forked.
Family* family();

// Notes that this process has allocated bytes of a device, or has freed some.
void count_memory(u32 device, i64 bytes);
// A checkpoint of a process of the family takes its memory from the devices; a restore brings it back.
void move_memory(i32 process, bool away);
// How much more is allocated than this process has allocated. It is less than nothing if several members count the same
// memory as theirs.
i64 memory_of_others(u32 device);

// That an object of this process leads to memory that other members may have, too.
class PieceOfMemory {
 public:
  // `counted`: the bytes are among those of count_memory.
  PieceOfMemory(u64 serial, u64 bytes, u32 device, bool counted);
  ~PieceOfMemory();
  // A program gets a descriptor of the memory, which exists until the last copy of the descriptor is closed.
  void described(int descriptor);
  PieceOfMemory(const PieceOfMemory&) = delete;
  PieceOfMemory& operator=(const PieceOfMemory&) = delete;

 private:
  void change(int by);
  u64 serial_, bytes_;
  u32 device_;
  bool counted_;
};

}  // namespace cudasim
