// Runs the cases of tests/instructions on the instruction table's functions directly, and holds the table to having a
// case for each of its rows.
#include "common/simulator/exec/warp.hpp"
#include "common/simulator/isa/row.hpp"
#include "tests/catch.hpp"
#include "tests/instructions/chains.hpp"
#include "tests/instructions/convert.hpp"
#include "tests/instructions/float.hpp"
#include "tests/instructions/integer.hpp"
#include "tests/instructions/matrix.hpp"
#include "tests/instructions/open.hpp"
#include "tests/instructions/video.hpp"
#include "tests/simulator/forms.hpp"

#include <memory>
#include <set>

using namespace cudasim;
using instructions::Case;
using instructions::Kind;
using instructions::kThreads;

namespace {

// A frame of registers for one warp: operand k is at 512 k.
struct Frame {
  alignas(64) std::byte registers[8 * 512] = {};
  void set(u32 operand, u32 bits, u32 lane, u64 value) {
    if (bits == 1) {
      u32& word = *reinterpret_cast<u32*>(registers + 512 * operand);
      word = (word & ~(1u << lane)) | u32(value & 1) << lane;
    } else {
      std::memcpy(registers + 512 * operand + lane * bits / 8, &value, bits / 8);
    }
  }
  u64 get(u32 operand, u32 bits, u32 lane) const {
    u64 value = 0;
    if (bits == 1) {
      std::memcpy(&value, registers + 512 * operand, 4);
      return value >> lane & 1;
    }
    std::memcpy(&value, registers + 512 * operand + lane * bits / 8, bits / 8);
    return value;
  }
};

// The instruction that the loader would make of a case.
Instruction instruction(const Case& c, const Match& match) {
  const auto operands = instructions::operands(c);
  Form form = match.form;
  Instruction made;
  u32 operand = 0, source = 0, destination = 0, slot = 0;  // the kinds live as long as the form refers to them
  for (const OperandRule& rule : *match.operands) {
    const Kind* kind = nullptr;
    if (rule.written && destination < operands.destinations.size()) kind = &operands.destinations[destination++];
    if (!rule.written && source < operands.sources.size()) kind = &operands.sources[source++];
    if (rule.kind == OperandRule::immediate) {
      made.offset = std::stoll(kind->literal);
    } else if (!kind) {
      made.slot[slot++] = kNoSlot;
    } else {
      const u32 place = rule.written ? destination - 1 : 2 + source - 1;
      made.slot[slot++] = 512 * place;
      form.width[operand] = u8(kind->register_bits / 8);
      form.selector[operand] = kind->selector;
    }
    ++operand;
  }
  const Bound bound = match.row->bind(form);
  made.run = bound.run;
  made.control = bound.control;
  return made;
}

u64 extended(const Kind& kind, u64 value) { return value & instructions::mask(kind.register_bits); }

// The first disagreement, or an empty text.
std::string disagreement(const Case& c) {
  const Match match = find(c.form);
  if (!match.row) return c.form + ": " + match.refusal;
  const Instruction made = instruction(c, match);
  if (!made.run) return c.form + ": does not bind";
  const auto operands = instructions::operands(c);
  const auto inputs = instructions::inputs(c);
  for (u32 first = 0; first < kThreads; first += kWarpSize) {
    auto frame = std::make_unique<Frame>();
    Warp warp;
    warp.base[0] = frame->registers;
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      if (instructions::executes(first + lane)) warp.mask |= 1u << lane;
      for (u32 k = 0; k < inputs.size(); ++k) {
        if (operands.sources[k].literal.empty()) {
          frame->set(2 + k, operands.sources[k].register_bits, lane, inputs[k][first + lane]);
        }
      }
      for (u32 k = 0; k < operands.destinations.size(); ++k) {
        frame->set(k, operands.destinations[k].register_bits, lane, instructions::kUntouched);
      }
    }
    made.run(warp, made);
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      std::vector<u64> in;
      for (const auto& column : inputs) in.push_back(column[first + lane]);
      const u64 want = c.reference(in.data());
      u32 shift = 0;
      for (u32 k = 0; k < operands.destinations.size(); ++k) {
        const Kind& kind = operands.destinations[k];
        const u64 got = frame->get(k, kind.register_bits, lane);
        const bool ran = warp.mask >> lane & 1;
        const u64 expected = extended(kind, ran ? want >> shift : instructions::kUntouched);
        shift += kind.register_bits;
        if (ran ? !c.same(got, expected) : got != expected) {
          std::string text = c.form;
          for (const u64 value : in) text += " " + (std::ostringstream() << std::hex << "0x" << value).str();
          return text + " = " + (std::ostringstream() << std::hex << "0x" << got << ", not 0x" << expected).str();
        }
      }
    }
  }
  return "";
}

void check(const instructions::Cases& cases) {
  for (const Case& c : cases) {
    const std::string wrong = disagreement(c);
    CHECK(wrong == "");
  }
}

// The rows that the forms in a piece of PTX belong to.
void collect(const std::string& text, std::set<const Row*>& rows) {
  std::stringstream stream(text);
  for (std::string word; stream >> word;) {
    if (word.find('.') == std::string::npos || word[0] == '.') continue;
    if (const Match found = find(word); found.row) rows.insert(found.row);
  }
}

}  // namespace

TEST_CASE("integer instructions do what the manual says") { check(instructions::integer_cases()); }
TEST_CASE("floating-point instructions do what IEEE 754 says") { check(instructions::float_cases()); }
TEST_CASE("half-precision instructions round exact results") { check(instructions::half_cases()); }
TEST_CASE("comparisons and selections do what the manual says") { check(instructions::compare_cases()); }
TEST_CASE("conversions round exact values") { check(instructions::convert_cases()); }
TEST_CASE("video instructions do what the manual says") { check(instructions::video_cases()); }

TEST_CASE("every row of a compute family has a case") {
  std::set<const Row*> tested;
  for (const auto& cases : {instructions::integer_cases(), instructions::float_cases(), instructions::half_cases(),
                            instructions::compare_cases(), instructions::convert_cases(), instructions::video_cases(),
                            instructions::chain_cases()}) {
    for (const Case& c : cases) collect(c.form, tested);
  }
  for (const auto family :
       {arithmetic_rows(), float_rows(), logic_rows(), compare_rows(), convert_rows(), video_rows()}) {
    for (const Row& row : family) {
      CAPTURE(row.syntax);
      CHECK((!row.bind || tested.count(&row) == 1));
    }
  }
}
