#include "common/simulator/profile/trace.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace cudasim {
namespace {

constexpr std::size_t kWidth = 100, kLanesAt = 17, kTextAt = 27, kResultAt = 66;

bool among(const Ranges& ranges, u64 n) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), [n](const Range& r) { return r.has(n); });
}

// ---- Values

std::string real(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

u64 raw_value(const std::byte* values, u32 lane, u32 size) {
  u64 value = 0;
  std::memcpy(&value, values + std::size_t{lane} * size, std::min<u32>(size, 8));
  return value;
}

i64 extended(u64 value, u32 size) {
  const u32 shift = 64 - 8 * std::min<u32>(size, 8);
  return static_cast<i64>(value << shift) >> shift;
}

}  // namespace

std::string shown_value(u64 value, Type type, u32 size) {
  constexpr u64 kPlain = 1'000'000;  // larger ones are addresses and bits, mostly
  switch (type) {
    case Type::f64: return real(double_of(value));
    case Type::f32:
    case Type::tf32: return real(float_of(static_cast<u32>(value)));
    case Type::f16: return real(from_f16(static_cast<u16>(value)));
    case Type::bf16: return real(from_bf16(static_cast<u16>(value)));
    case Type::f16x2:
      return "(" + real(from_f16(static_cast<u16>(value))) + ", " + real(from_f16(static_cast<u16>(value >> 16))) + ")";
    case Type::bf16x2:
      return "(" + real(from_bf16(static_cast<u16>(value))) + ", " + real(from_bf16(static_cast<u16>(value >> 16))) +
             ")";
    default: break;
  }
  const i64 as_signed = extended(value, size);
  if (size > 8) return hex(value) + "…";
  if (is_unsigned(type) && size < 8) return std::to_string(value);
  if (as_signed < static_cast<i64>(kPlain) && as_signed > -static_cast<i64>(kPlain) && !is_unsigned(type))
    return std::to_string(as_signed);
  if (is_signed(type) && size < 8) return std::to_string(as_signed);
  return value < kPlain ? std::to_string(value) : hex(value);
}

std::string lane_value(const std::byte* values, Type type, u32 lane) {
  if (type == Type::pred) {
    u32 set = 0;
    std::memcpy(&set, values, sizeof set);
    return (set >> lane & 1) != 0 ? "true" : "false";
  }
  return shown_value(raw_value(values, lane, bytes(type)), type, bytes(type));
}

namespace {

std::string listed(const std::vector<std::string>& all, std::size_t room) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string more = (i == 0 ? "" : ", ") + all[i];
    const bool last = i + 1 == all.size();
    if (text.size() + more.size() + (last ? 0 : 3) > room && i != 0) return text + " …";
    text += more;
  }
  return text;
}

// Columns that a text takes: bytes but those that continue a character.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(std::string text, std::size_t to) {
  const std::size_t has = columns(text);
  text.append(has < to ? to - has : 1, ' ');
  return text;
}

std::string per_lane(i64 step) {
  return (step < 0 ? " - " : " + ") + std::to_string(step < 0 ? -step : step) + " per lane";
}

// Numbers that grow by the same step from lane to lane, as their first three and the last.
std::string series(const std::vector<u64>& values, Type type, u32 size) {
  if (values.size() < 5 || is_float(type)) return "";
  const u64 step = values[1] - values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] - values[i - 1] != step) return "";
  }
  const auto shown = [&](std::size_t i) { return shown_value(values[i], type, size); };
  if (values[0] > 0xffffff && extended(values[0], size) > 0) return shown(0) + per_lane(extended(step, size));
  return shown(0) + ", " + shown(1) + ", " + shown(2) + " … " + shown(values.size() - 1);
}

// "all", "0-7,9", "17 lanes".
std::string shown_lanes(u32 mask, u32 present) {
  if (mask == 0) return "none";
  if (mask == present) return "all";
  std::string text;
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    u32 last = lane;
    while (last + 1 < kWarpSize && (mask >> (last + 1) & 1) != 0) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(lane) + (last == lane ? "" : "-" + std::to_string(last));
    lane = last;
  }
  const std::size_t room = kTextAt - kLanesAt - 1;
  return text.size() <= room ? text : std::to_string(__builtin_popcount(mask)) + " lanes";
}

// What the lanes of `mask` hold, in a few words: "7", "0, 1, 2 … 31", "0.5, 2, -1 …".
std::string shown_values(const std::byte* values, Type type, u32 mask, std::size_t room) {
  if (type == Type::pred) {
    u32 set = 0;
    std::memcpy(&set, values, sizeof set);
    if ((set & mask) == 0) return "false";
    return (set & mask) == mask ? "true" : "true in " + shown_lanes(set & mask, 0);
  }
  const u32 size = bytes(type);
  std::vector<u64> raw;
  std::vector<std::string> each;
  for (const u32 lane : set_bits(mask)) {
    raw.push_back(raw_value(values, lane, size));
    each.push_back(shown_value(raw.back(), type, size));
  }
  if (each.empty()) return "";
  if (std::all_of(raw.begin(), raw.end(), [&](u64 v) { return v == raw[0]; })) return each[0];
  const std::string steps = series(raw, type, size);
  return steps.empty() || columns(steps) > room ? listed(each, room) : steps;
}

}  // namespace

// ---- Which are shown

u64 count_launch(const Grid& grid) {
  static std::mutex& mutex = *new std::mutex;
  static auto& counts = *new std::map<std::string, u64>;
  const std::scoped_lock lock(mutex);
  return ++counts[grid.kernel.name];
}

bool wanted_launch(const Grid& grid, u64 launch, const TraceChoice& choice) {
  return grid.kernel.name.find(choice.kernel) != std::string::npos && among(choice.launches, launch);
}

bool wanted_block(const Block& block, const TraceChoice& choice) {
  if (!choice.block) return among(choice.blocks, block.number);
  const Dim3& wanted = *choice.block;
  return block.index.x == wanted.x && block.index.y == wanted.y && block.index.z == wanted.z;
}

std::unique_ptr<Tracer> Tracer::of(Grid& grid, u64 launch, const TraceChoice& choice) {
  return wanted_launch(grid, launch, choice) ? std::unique_ptr<Tracer>(new Tracer(grid, choice)) : nullptr;
}

bool Tracer::wants(const Block& block) const { return wanted_block(block, choice_); }

bool Tracer::shows(const Warp& warp) {
  if (!among(choice_.warps, warp.index)) return false;
  u64& shown = shown_[{warp.block->number, warp.index}];
  if (shown == choice_.limit) {
    ++shown;
    std::fprintf(stderr, "… and so on: CUDASIM_TRACE_ONLY=limit=%llu would show more\n",
                 static_cast<unsigned long long>(choice_.limit * 10));
  }
  return shown < choice_.limit && ++shown != 0;
}

void Tracer::head(const Warp& warp) {
  // Grids that run at the same time write to stderr one after the other.
  static std::atomic<const Tracer*> last_tracer{nullptr};
  if (last_tracer.exchange(this) == this && &warp == last_ && warp.block->number == last_block_) return;
  last_ = &warp;
  last_block_ = warp.block->number;
  const Launch& l = grid_.launch;
  const std::string text = "---- " + demangled(grid_.kernel.name) + "<<<" + coordinates(l.grid) + ", " +
                           coordinates(l.block) + ">>>: block " + coordinates(warp.block->index) + ", warp " +
                           std::to_string(warp.index);
  std::fputs((text + "\n").c_str(), stderr);
}

// ---- Lines

namespace {

// The line of the source and the instruction, with the first of what came of it beside it, or below if it is long.
void print(const std::string& place, const std::string& lanes, std::string text, const std::vector<std::string>& came) {
  std::string line = padded(padded(place, kLanesAt) + lanes, kTextAt);
  const std::size_t room = kWidth - kTextAt;
  if (columns(text) > room) text = text.substr(0, room - 1) + "…";
  line += text;
  std::string out;
  bool beside = columns(line) < kResultAt;
  for (const std::string& each : came) {
    if (!beside) out += line + "\n", line.clear();
    line = padded(line, kResultAt) + each;
    beside = false;
  }
  std::fputs((out + line + "\n").c_str(), stderr);
}

std::string source_line(const Grid& grid, const Code& code, const Instruction& instruction) {
  std::string place = where(grid.program, {&code, &instruction});
  const std::string_view call = " (called from ";  // the trace shows the kernel's own line
  if (const std::size_t at = place.find(call); at != std::string::npos)
    place = place.substr(at + call.size()), place.pop_back();
  return columns(place) < kLanesAt ? place : "…" + place.substr(place.size() - (kLanesAt - 2));
}

std::string addresses(const std::vector<Touch>& touches) {
  std::vector<u64> at;
  std::vector<std::string> each;
  for (const Touch& touch : touches) {
    at.push_back(touch.address);
    each.push_back(hex(touch.address));
  }
  constexpr std::size_t kRoom = kWidth - kResultAt - 11;
  const std::string space = touches[0].space == Space::global ? "" : std::string(name(touches[0].space)) + " ";
  const auto same = [&](u64 address) { return address == at[0]; };
  if (std::all_of(at.begin(), at.end(), same)) return "at " + space + each[0];
  if (at.size() >= 3) {
    const u64 step = at[1] - at[0];
    bool regular = true;
    for (std::size_t i = 1; i < at.size(); ++i) regular &= at[i] - at[i - 1] == step;
    if (regular) return "at " + space + each[0] + per_lane(static_cast<i64>(step));
  }
  return "at " + space + listed(each, kRoom);
}

// What a store has left in memory.
std::string stored(const std::vector<Touch>& touches, Type type) {
  const u32 size = bytes(type);
  if (size == 0 || size > 8 || touches[0].size != size) return "";
  std::array<std::byte, kWarpSize * 8> values;
  u32 count = 0;
  for (const Touch& touch : touches) {
    if (count == kWarpSize || touch.size != size) break;
    std::memcpy(values.data() + std::size_t{count++} * size, touch.at, size);
  }
  const u32 mask = count == kWarpSize ? kAllLanes : (1u << count) - 1;
  const std::string head = "stored: ";
  return head + shown_values(values.data(), type, mask, kWidth - kResultAt - head.size());
}

}  // namespace

namespace {

// Sets of lanes are read bit by bit.
bool is_mask(const Notes::Statement& statement) {
  const auto has = [&](const char* what) { return statement.text.find(what) != std::string::npos; };
  return statement.kind == Class::warp && (has("activemask") || has("ballot") || has("match"));
}

std::string shown_masks(const std::byte* values, u32 lanes, std::size_t room) {
  std::vector<std::string> each;
  for (const u32 lane : set_bits(lanes)) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", static_cast<u32>(raw_value(values, lane, 4)));
    each.push_back(text);
  }
  const bool same = std::all_of(each.begin(), each.end(), [&](const std::string& text) { return text == each[0]; });
  return same ? each[0] : listed(each, room);
}

}  // namespace

void Tracer::executed(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, u32 lanes,
                      const std::byte* registers, const std::vector<Touch>& touches) {
  if (!among(choice_.warps, warp.index) || code.notes == nullptr) return;
  const u32 index = static_cast<u32>(&instruction - code.instructions.data());
  const Notes& notes = *code.notes;
  if (instruction.statement >= notes.statements.size()) return;
  const Notes::Statement& statement = notes.statements[instruction.statement];
  if (statement.instruction != index || !shows(warp)) return;
  head(warp);

  std::vector<std::string> came;
  u32 shown = 0;
  for (const u32 lane : set_bits(mask)) shown |= among(choice_.lanes, lane) ? 1u << lane : 0;
  const auto first = std::lower_bound(notes.results.begin(), notes.results.end(), index,
                                      [](const Notes::Result& r, u32 i) { return r.instruction < i; });
  const bool waits =
      statement.barrier || statement.text.find("call") != std::string::npos;  // what comes of it comes later
  for (auto r = first; r != notes.results.end() && r->instruction == index && shown != 0 && !waits; ++r) {
    const std::string head = r->name + " = ";
    const std::size_t room = kWidth - kResultAt - head.size();
    const std::byte* const values = registers + r->slot;
    came.push_back(head + (is_mask(statement) && r->type != Type::pred ? shown_masks(values, shown, room)
                                                                       : shown_values(values, r->type, shown, room)));
  }
  std::vector<Touch> seen;
  std::copy_if(touches.begin(), touches.end(), std::back_inserter(seen),
               [&](const Touch& touch) { return (shown >> touch.lane & 1) != 0; });
  if (!seen.empty()) {
    const std::string value = seen[0].kind == Access::write ? stored(seen, statement.type) : "";
    if (!value.empty()) came.push_back(value);
    const bool passed = statement.kind == Class::load_constant || statement.kind == Class::move;
    if (!passed) came.push_back(addresses(seen));
  }
  if (statement.branches && mask != 0 && mask != lanes) came.push_back("lanes diverge");
  print(source_line(grid_, code, instruction), shown_lanes(mask, warp.present), statement.text + ";", came);
}

void Tracer::fault(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, const Fault& fault) {
  if (!among(choice_.warps, warp.index) || code.notes == nullptr) return;
  if (instruction.statement >= code.notes->statements.size() || !shows(warp)) return;
  head(warp);
  print(source_line(grid_, code, instruction), shown_lanes(mask, warp.present),
        code.notes->statements[instruction.statement].text + ";", {std::string("ends here: ") + name(fault.kind)});
}

}  // namespace cudasim
