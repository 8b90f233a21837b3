// Writes a kernel, or a function that it calls, as C++. write.cpp has blocks and control flow, write_values.cpp the
// instructions that compute, write_memory.cpp those that load and store.
#pragma once
#include "common/simulator/compile/flow.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudasim::compile {

inline std::string text(u64 number) { return std::to_string(number); }
inline std::string text(i64 number) { return std::to_string(number); }
inline std::string text(u32 number) { return std::to_string(number); }
inline std::string unsigned_of(u32 bytes) { return "u" + text(8 * bytes); }

// Where a register's value is while a block is written.
struct Value {
  enum Where : u8 {
    frame,
    rows,  // a variable, Each<unsigned>, and a stride
    lane,  // a variable in the loop over the lanes that is being written
    array,  // a variable with an element for each lane
    mask,  // predicates: a variable with a bit for each lane
    flag,  // a variable in that loop, 0 or -1
  } where = frame;
  std::string name = {};
  u32 bytes = 0;
  i64 stride = 0;
  bool in_frame = true;  // there, too
  std::string type = {};  // of a lane or an array
  bool awaited = false;  // an array that is filled behind the loop that is being written
  // What a variable in the loop is computed from: if all lanes have one value in each of these, they have one in it.
  std::set<std::string> sources = {};
  bool varies = false;  // or is computed from something else
};
using Values = std::map<Slot, Value>;

class Writer {
 public:
  Writer(const Flow& flow, bool together, bool entry)
      : flow_(flow), code_(flow.code()), together_(together), entry_(entry) {}
  std::string run();

 private:
  const Instruction& instruction(u32 i) const { return code_.instructions[i]; }
  std::string fresh(const char* letter) { return letter + text(++names_); }
  void line(const std::string& words) { out_ += "    " + words + "\n"; }
  void in_loop(const std::string& words) { loop_ += "      " + words + "\n"; }
  void behind_loop(const std::string& words) { behind_ += "    " + words + "\n"; }

  // write.cpp
  void find_sizes();
  void declare();
  bool is_better_one_by_one(const Block& block) const;
  void begin(const Block& block);
  void enter(const Block& block);
  void write(const Block& block);
  void finish(const Block& block);
  void leave_before(u32 pc, const Values& values, const char* how, u32 unspent);
  void one(u32 i);
  void call(u32 i);
  std::string go_to(u32 target) const;
  void branch(u32 i);
  void require(const std::string& condition);
  void require_behind_loop(const std::string& condition);
  void cut(u32 next);
  void flush(u32 next);
  std::string keep_flag(Slot slot, const Value& v, std::string& stores, std::string& masks);
  void write_loop(const std::string& stores, const std::string& masks);
  void begin_segment(u32 next);
  void spill(Slot slot, const Value& value);
  void to_frame(Slot slot);

  // write_values.cpp
  void in_rows(u32 i, Kind kind);
  void in_lanes(u32 i);
  void compare(u32 i, bool rows);
  void combine(u32 i);
  void set_predicate(u32 i, Slot slot, const std::string& value, bool flag);
  Value value(Slot slot) const;
  std::string row_text(Slot slot, const std::string& type) const;
  std::string lane_text(Slot slot, const std::string& type);
  std::string mask_text(Slot slot) const;
  std::string flag_text(Slot slot);
  std::string guard_mask(u32 i) const;
  std::string guard_flag(u32 i);
  std::string offset_text(u32 i, i64 offset) const;
  std::string offset_text(u32 i) const { return offset_text(i, instruction(i).offset); }
  std::string expression(u32 i, const std::vector<std::string>& operands) const;
  std::vector<std::string> operand_types(u32 i) const;
  std::string result_type(u32 i) const;
  i64 stride_of(Slot slot) const { return value(slot).stride; }

  // write_memory.cpp
  struct Place {  // where the lanes of a scattered access touch memory
    std::string host, offset, scale, mask;  // host + u64(offset[lane]) * scale, of the lanes of the mask
  };
  struct Stretch {  // of memory: its first address, its bytes, where it is on the host
    std::string first, size, host;
    std::string stride;  // from one lane's own to the next lane's; empty: they have one
    std::string good;  // a condition
    std::string view;
  };
  // Loads whose addresses differ only in their offsets: one test checks them all.
  struct Group {
    u32 last = 0;  // instruction
    i64 least = 0;  // offset
    std::string host, alike, key;
    std::set<std::string> sources = {};
    bool varies = false;
  };
  void load(u32 i);
  void load_rows(u32 i, i64 stride);
  void load_scattered(u32 i);
  void load_one_by_one(u32 i);
  void store(u32 i);
  void store_rows(u32 i, i64 stride);
  void store_scattered(u32 i);
  std::string host_address(u32 i, Slot base, i64 stride);
  std::string address_in(Slot base, const std::string& lane) const;
  Stretch stretch(u32 i, Slot base);
  Stretch or_local(const Stretch& global, u32 i, Slot base, const std::string& mask);
  Place place(u32 i, Slot base);
  std::string executing(u32 i);
  struct Extent {
    std::string key;
    u32 last = 0;  // instruction
    i64 least = 0, most = 0;  // offsets
  };
  Extent extent_of(u32 i) const;
  u32 bytes_of(u32 i) const;
  bool may_write(u32 i) const;
  std::string key_of(u32 i) const;
  void require_steady(Slot slot, const std::string& type);
  const Group& group_of(u32 i, const std::string& mask);
  std::string loop_begin() const;
  std::string alike();
  std::string view_of(u32 i);

  const Flow& flow_;
  const Code& code_;
  bool together_, entry_;
  std::string out_, loop_, behind_, leaves_, entries_;
  std::map<Slot, u32> bytes_;  // of registers that have been in rows
  Values values_;
  std::map<Slot, Kind> kinds_;
  const Block* block_ = nullptr;
  u32 segment_ = 0;  // the instruction from which on nothing has been written to memory
  Values at_segment_;
  u32 names_ = 0;
  bool one_by_one_ = false;  // the loops of this block take one lane after the other, and may end early
  bool may_fail_ = false;  // the loop that is being written may
  std::vector<Group> groups_;  // of the loop that is being written
  std::vector<Group> rows_;  // of the segment
  std::set<std::string> steady_;  // conditions that the block has tested
  std::set<std::string> sources_;  // of the instruction that is being written
  bool varies_ = false;
  std::map<std::string, std::string> alike_;  // variables that tell whether all lanes have one value in a source
};

}  // namespace cudasim::compile
