// Loads and stores that only copy: what is loaded is stored as it is, and nothing is computed with it. Compilers copy a
// structure so, with the padding between its members, which no program writes.
#pragma once
#include "common/simulator/exec/instruction.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cudasim {

class Copies {
 public:
  explicit Copies(const Program& program) : program_(program) {}

  // The registers that an instruction loads or stores, by number, in the order of the elements in memory. The same
  // register of a function has the same number. `only_copied`: each register that is loaded is stored, in the width in
  // which it was loaded, and not used otherwise. `in_a_row`: other loads beside it move what is before or behind in
  // memory. `passed`: what is loaded is stored as a parameter of a call, and nowhere else. `bits`: what is loaded is
  // stored where it was, with some of its bits cleared or replaced, as members of a few bits are written. Empty if the
  // text does not show it.
  enum class Bits : u8 { used, cleared, replaced };
  struct Moved {
    std::vector<u32> registers;
    bool loads = false, only_copied = false, in_a_row = false, passed = false;
    Bits bits = Bits::used;
  };
  const Moved& of(const Site& site);

 private:
  const std::vector<std::string_view>& lines();
  u32 number_of(u32 function, std::string_view name);
  bool is_only_copied(std::string_view name, std::string_view width, u32 first, u32 last, u32 depth = 0);
  bool is_passed(std::string_view name, u32 first, u32 last);
  Bits bits_of(std::string_view name, std::string_view address, u32 first, u32 last);

  const Program& program_;
  std::vector<std::string_view> lines_;
  std::unordered_map<const Instruction*, Moved> known_;
  std::unordered_map<std::string, u32> numbers_;
};

}  // namespace cudasim
