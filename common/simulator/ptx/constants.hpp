// A function's constants: each immediate once, in every lane, so that an instruction reads it as it reads a register.
#pragma once
#include "common/simulator/exec/instruction.hpp"

#include <map>
#include <tuple>

namespace cudasim::ptx {

// What an address is counted from; its value is known only when the module's variables have places.
struct AddressOf {
  enum Kind : u8 { none, variable, function, shared, of_launch } kind = none;
  u32 index =
      0;  // of Link::variables, or of Program::functions; of_launch: a Code::OfLaunch::Kind, whose index is the addend
  u64 addend = 0;
  auto tuple() const { return std::tuple(kind, index, addend); }
  bool operator<(const AddressOf& other) const { return tuple() < other.tuple(); }
};

class ConstantPool {
 public:
  // The slot that holds `bits` in `bytes` bytes a lane; 0 bytes: a predicate.
  Slot number(u64 bits, u32 bytes) { return place({{}, bits, bytes}); }
  Slot address(const AddressOf& of, u32 bytes) { return place({of, 0, bytes}); }
  // What only the launch knows: Code::of_launch.
  Slot of_launch(Code::OfLaunch::Kind kind, u32 index, u32 bytes) {
    return place({{AddressOf::of_launch, kind, index}, 0, bytes});
  }

  // Writes all constants into `code`; value(AddressOf) tells the addresses.
  template <class Value>
  void write(Code& code, Value&& value) const {
    code.constants.assign(size_ + kConstantAlign, std::byte{0});
    void* base = code.constants.data();
    std::size_t room = code.constants.size();
    base = std::align(kConstantAlign, size_ == 0 ? 1 : size_, base, room);
    code.constant_base = static_cast<const std::byte*>(base);
    for (const auto& [key, offset] : slots_) {
      const auto& [of, bits, bytes] = key;
      if (of.kind == AddressOf::of_launch) {
        code.of_launch.push_back(
            {static_cast<Code::OfLaunch::Kind>(of.index), static_cast<u32>(of.addend), offset, bytes});
        continue;
      }
      fill(static_cast<std::byte*>(base) + offset, of.kind == AddressOf::none ? bits : value(of), bytes);
    }
  }

 private:
  using Key = std::tuple<AddressOf, u64, u32>;

  Slot place(const Key& key) {
    const auto [at, is_new] = slots_.try_emplace(key, size_);
    if (is_new) {
      const u32 bytes = std::get<u32>(key);
      size_ += bytes == 0 ? 64 : (bytes * kWarpSize + 63) / 64 * 64;
    }
    return kConstant | at->second;
  }

  static void fill(std::byte* to, u64 bits, u32 bytes) {
    if (bytes == 0) {
      for (u32 i = 0; i < 4; ++i) to[i] = bits != 0 ? std::byte{0xff} : std::byte{0};
      return;
    }
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      for (u32 i = 0; i < bytes && i < 8; ++i) to[lane * bytes + i] = static_cast<std::byte>(bits >> (8 * i));
    }
  }

  std::map<Key, u32> slots_;
  u32 size_ = 0;
};

}  // namespace cudasim::ptx
