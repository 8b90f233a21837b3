// Finds out from the PTX text what becomes of a loaded value. One statement a line, as compilers write it; of other
// texts nothing is known.
#include "common/simulator/watch/copies.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace cudasim {
namespace {

struct Statement {
  std::string_view opcode, operands;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// "ld.shared.b64" and "%rd5, [%rd4]" of "@%p1 ld.shared.b64 %rd5, [%rd4];".
Statement statement(std::string_view line) {
  line = trimmed(line.substr(0, line.find(';')));
  if (line.starts_with('@')) line = trimmed(line.substr(std::min(line.find(' '), line.size())));
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  return {line.substr(0, end), trimmed(line.substr(end))};
}

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }

std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = text.find('%'); at < text.size(); at = text.find('%', at)) {
    std::size_t end = at + 1;
    while (end < text.size() && is_part_of_name(text[end])) ++end;
    names.push_back(text.substr(at, end - at));
    at = end;
  }
  return names;
}

bool names(std::string_view text, std::string_view name) {
  const auto all = names_in(text);
  return std::find(all.begin(), all.end(), name) != all.end();
}

// "b64" of "ld.shared.v2.b64", and as if it were b64 of "ld.u64" and "ld.f64".
std::string_view width_of(std::string_view opcode) {
  const std::size_t digits = opcode.find_last_not_of("0123456789");
  return opcode.substr(digits + 1);
}

// What is in memory, and what is in registers.
struct Operands {
  std::string_view registers, address;
};
Operands taken_apart(const Statement& s) {
  const std::size_t open = s.operands.find('['), close = s.operands.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  const bool loads = s.opcode.starts_with("ld");
  return {loads ? s.operands.substr(0, open) : s.operands.substr(close), s.operands.substr(open, close - open)};
}

bool moves(const Statement& s) { return s.opcode.starts_with("ld.") || s.opcode.starts_with("st."); }

}  // namespace

const std::vector<std::string_view>& Copies::lines() {
  if (!lines_.empty() || program_.text == nullptr) return lines_;
  std::string_view rest = *program_.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines_.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines_;
}

u32 Copies::number_of(u32 function, std::string_view name) {
  const std::string key = std::to_string(function) + std::string(name);
  return numbers_.try_emplace(key, static_cast<u32>(numbers_.size())).first->second;
}

bool Copies::is_only_copied(std::string_view name, std::string_view width, u32 first, u32 last, u32 depth) {
  constexpr u32 kDeepest = 8;  // of moves from register to register
  for (u32 line = first; line < last; ++line) {
    if (!names(lines_[line], name)) continue;
    const Statement s = statement(lines_[line]);
    if (s.opcode.starts_with("//") || s.opcode == ".reg") continue;
    if (s.opcode.starts_with("mov.") && depth < kDeepest) {
      const auto both = names_in(s.operands);
      if (both.size() == 2 && both[0] != name && is_only_copied(both[0], width, first, last, depth + 1)) continue;
      if (both.size() == 2 && both[0] == name && depth != 0) continue;
      return false;
    }
    const Operands operands = taken_apart(s);
    if (!moves(s) || names(operands.address, name) || width_of(s.opcode) != width) return false;
  }
  return true;
}

bool Copies::is_passed(std::string_view name, u32 first, u32 last) {
  for (u32 line = first; line < last; ++line) {
    const Statement s = statement(lines_[line]);
    if (names(lines_[line], name) && s.opcode.starts_with("st.") && !s.opcode.starts_with("st.param")) return false;
  }
  return true;
}

// and with a number, or with the new bits, and a store to the same address: the only use of each value.
Copies::Bits Copies::bits_of(std::string_view name, std::string_view address, u32 first, u32 last) {
  bool masked = false, replaced = false;
  std::string_view value = name;
  for (u32 line = first; line < last; ++line) {
    if (!names(lines_[line], value)) continue;
    const Statement s = statement(lines_[line]);
    if (s.opcode == ".reg") continue;
    if (s.opcode.starts_with("st.")) {
      const bool same_place = taken_apart(s).address == address && names(taken_apart(s).registers, value);
      return !masked || !same_place ? Bits::used : replaced ? Bits::replaced : Bits::cleared;
    }
    const auto operands = names_in(s.operands);
    if (operands.empty() || operands.front() == value) continue;  // where it comes from
    if (s.opcode.starts_with("and.b"))
      masked = true;
    else if (s.opcode.starts_with("or.b"))
      replaced = true;
    else
      return Bits::used;
    value = operands.front();
  }
  return Bits::used;
}

namespace {

// "%rd1" and 4 of "[%rd1+4".
struct Address {
  std::string_view base;
  i64 offset = 0;
};
Address address_in(std::string_view text) {
  const auto all = names_in(text);
  const std::size_t plus = text.find('+');
  if (all.size() != 1) return {};
  return {all.front(), plus == std::string_view::npos ? 0 : std::atoll(std::string(text.substr(plus + 1)).c_str())};
}

// Whether both are loads of one width, from places beside each other.
bool in_a_row(const Statement& a, const Statement& b) {
  const Address of_a = address_in(taken_apart(a).address), of_b = address_in(taken_apart(b).address);
  if (!b.opcode.starts_with("ld.") || a.opcode != b.opcode || of_a.base.empty() || of_a.base != of_b.base) return false;
  const std::string_view width = width_of(a.opcode);
  const i64 bytes = std::atoll(std::string(width).c_str()) / 8;
  return std::abs(of_a.offset - of_b.offset) == bytes;
}

}  // namespace

const Copies::Moved& Copies::of(const Site& site) {
  const auto [found, fresh] = known_.try_emplace(site.instruction);
  Moved& moved = found->second;
  const u32 index = site.instruction->statement;
  if (!fresh || index >= site.code->statements.size()) return moved;
  const u32 line = site.code->statements[index].line;
  const auto& all = lines();
  if (line == 0 || line > all.size()) return moved;
  const Statement s = statement(all[line - 1]);
  const Operands operands = taken_apart(s);
  if (!moves(s) || operands.address.empty()) return moved;
  // A function's braces are at the beginning of their lines.
  u32 first = line - 1, last = line;
  while (first > 0 && !all[first].starts_with('{')) --first;
  while (last < all.size() && !all[last].starts_with('}')) ++last;
  moved.loads = s.opcode.starts_with("ld.");
  moved.only_copied = moved.loads;
  for (const std::string_view name : names_in(operands.registers)) {
    moved.registers.push_back(number_of(first, name));
    if (moved.only_copied) moved.only_copied = is_only_copied(name, width_of(s.opcode), first, last);
  }
  constexpr u32 kBeside = 8;  // lines
  moved.in_a_row = moved.registers.size() > 1;
  for (u32 other = std::max(first + kBeside, line) - kBeside; other < std::min(last, line + kBeside); ++other)
    moved.in_a_row = moved.in_a_row || (other != line - 1 && in_a_row(s, statement(all[other])));
  const auto loaded = names_in(operands.registers);
  moved.passed = moved.only_copied && loaded.size() == 1 && is_passed(loaded.front(), first, last);
  if (moved.loads && loaded.size() == 1) moved.bits = bits_of(loaded.front(), operands.address, line, last);
  return moved;
}

}  // namespace cudasim
