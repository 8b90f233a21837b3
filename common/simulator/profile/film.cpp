#include "common/simulator/profile/film.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/profile/counters.hpp"
#include "common/simulator/profile/trace.hpp"
#include "common/simulator/profile/traffic.hpp"
#include "common/simulator/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace cudasim {
namespace {

constexpr u32 kBanks = 32, kBankBytes = 4;

void append(std::string& list, const std::string& item) {
  if (!list.empty()) list += ',';
  list += item;
}

std::string list_of(const Dim3& d) {
  return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

template <class Numbers>
std::string list_of(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) append(text, std::to_string(number));
  return "[" + text + "]";
}

// One text if all are equal.
std::string values(const std::vector<std::string>& each) {
  if (std::all_of(each.begin(), each.end(), [&](const std::string& one) { return one == each[0]; }))
    return json_text(each.empty() ? "" : each[0]);
  std::string text;
  for (const std::string& one : each) append(text, json_text(one));
  return "[" + text + "]";
}

// How many different words of each bank the lanes want.
std::array<u32, kBanks> words_by_bank(const std::vector<const Touch*>& touches) {
  std::vector<u64> words;
  for (const Touch* touch : touches) {
    for (u64 word = touch->address / kBankBytes; word * kBankBytes < touch->address + touch->size; ++word)
      words.push_back(word);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<u32, kBanks> count{};
  for (const u64 word : words) ++count[word % kBanks];
  return count;
}

std::string stored(const Touch& touch, Type type) {
  u64 value = 0;
  if (bytes(type) != touch.size || touch.size > sizeof value) return "";
  std::memcpy(&value, touch.at, touch.size);
  return shown_value(value, type, touch.size);
}

// [space, kind, bytes a lane, lanes, addresses, cost, least cost, words by bank, stored values]
std::string access(const std::vector<const Touch*>& touches, const SiteCount& cost, Type type) {
  const Touch& first = *touches[0];
  static constexpr const char* kKinds[] = {"read", "write", "atomic"};
  std::vector<u32> lanes;
  std::vector<u64> addresses;
  std::vector<std::string> written;
  for (const Touch* touch : touches) {
    lanes.push_back(touch->lane);
    addresses.push_back(touch->address);
    if (touch->kind == Access::write) written.push_back(stored(*touch, type));
  }
  const bool shared = first.space == Space::shared;
  const GlobalCount& memory = first.space == Space::local ? cost.local : cost.global;
  const u64 paid = shared ? cost.shared.wavefronts : memory.sectors;
  const u64 least = shared ? cost.shared.least : (memory.bytes + kSector - 1) / kSector;
  std::string text = "[\"" + std::string(name(first.space)) + "\",\"" + kKinds[static_cast<u32>(first.kind)] + "\"," +
                     std::to_string(first.size) + "," + list_of(lanes) + "," + list_of(addresses) + "," +
                     std::to_string(paid) + "," + std::to_string(least) + ",";
  text += shared ? list_of(words_by_bank(touches)) : "[]";
  return text + "," + (written.empty() ? "\"\"" : values(written)) + "]";
}

// The film that is being recorded of a grid. A grid that is observed runs on one thread.
std::mutex& films_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
std::map<const Grid*, Film*>& films() {
  static auto& all = *new std::map<const Grid*, Film*>;
  return all;
}

}  // namespace

// ---- Which are recorded

std::unique_ptr<Film> Film::of(Grid& grid, u64 launch, const TraceChoice& choice) {
  return wanted_launch(grid, launch, choice) ? std::unique_ptr<Film>(new Film(grid, launch, choice)) : nullptr;
}

Film::Film(Grid& grid, u64 launch, const TraceChoice& choice) : grid_(grid), choice_(choice), launch_(launch) {
  const std::scoped_lock lock(films_mutex());
  films()[&grid] = this;
}

bool Film::wants(const Block& block) const {
  return (count_ == 0 || block.number == block_) && wanted_block(block, choice_);
}

// ---- Steps

// The number of a function's instruction among all that the film shows. A function's are listed when it is first met.
u32 Film::statement_of(const Code& code, u32 index) {
  const auto [found, is_new] = statements_.try_emplace({&code, index}, 0);
  if (!is_new) return found->second;
  const u32 first = static_cast<u32>(statements_.size()) - 1;
  const auto& statements = code.notes->statements;
  for (u32 i = 0; i < statements.size(); ++i) {
    const StatementInfo info = i < code.statements.size() ? code.statements[i] : StatementInfo{};
    const SourceLine& at = info.source;
    append(statements_text_, "[" + json_text(statements[i].text) + "," + json_text(name(statements[i].kind)) + "," +
                                 std::to_string(info.line) + "," + std::to_string(at.file) + "," +
                                 std::to_string(at.line) + "," + std::to_string(at.outer_file) + "," +
                                 std::to_string(at.outer_line) + "," + json_text(demangled(code.name)) + "]");
    statements_[{&code, i}] = first + i;
  }
  return statements_[{&code, index}];
}

u32 Film::name_of(const std::string& name) {
  const auto [found, is_new] = names_.try_emplace(name, static_cast<u32>(names_.size()));
  if (is_new) append(names_text_, json_text(name));
  return found->second;
}

// Begins a step, unless the film is full.
bool Film::step(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, u32 lanes) {
  if (code.notes == nullptr || instruction.statement >= code.notes->statements.size()) return false;
  if (count_ == choice_.limit) return ++cut_, false;
  if (count_++ == 0) {
    block_ = warp.block->number;
    index_ = warp.block->index;
  }
  append(steps_, "[" + std::to_string(warp.index) + "," + std::to_string(statement_of(code, instruction.statement)) +
                     "," + std::to_string(mask) + "," + std::to_string(lanes));
  return true;
}

// [[name, values], …]: of each register that the instruction has written.
std::string Film::results(const Notes& notes, u32 index, const std::byte* registers, u32 mask) {
  const auto first = std::lower_bound(notes.results.begin(), notes.results.end(), index,
                                      [](const Notes::Result& r, u32 i) { return r.instruction < i; });
  std::string text;
  for (auto r = first; r != notes.results.end() && r->instruction == index; ++r) {
    std::vector<std::string> each;
    for (const u32 lane : set_bits(mask)) each.push_back(lane_value(registers + r->slot, r->type, lane));
    append(text, "[" + std::to_string(name_of(r->name)) + "," + values(each) + "]");
  }
  return "[" + text + "]";
}

void Film::executed(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, u32 lanes,
                    const std::byte* registers, const std::vector<Touch>& touches) {
  if (code.notes == nullptr || instruction.statement >= code.notes->statements.size()) return;
  const u32 index = static_cast<u32>(&instruction - code.instructions.data());
  const Notes::Statement& statement = code.notes->statements[instruction.statement];
  if (statement.instruction != index || !step(warp, code, instruction, mask, lanes)) return;
  const bool later = statement.barrier || statement.text.find("call") != std::string::npos;  // the results come later
  steps_ += "," + (later || mask == 0 ? "[]" : results(*code.notes, index, registers, mask));
  SiteCount cost;
  count_touches(cost, statement, touches);
  std::string accesses;
  const bool passed = statement.kind == Class::load_constant || statement.kind == Class::move;
  for (const Space space : {Space::global, Space::shared, Space::local}) {
    std::vector<const Touch*> of_space;
    for (const Touch& touch : touches) {
      if (touch.space == space) of_space.push_back(&touch);
    }
    if (!of_space.empty() && !passed) append(accesses, access(of_space, cost, statement.type));
  }
  steps_ += ",[" + accesses + "]]";
}

void Film::fault(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, const Fault& fault) {
  if (!step(warp, code, instruction, mask, mask)) return;
  steps_ += ",[],[]]";
  std::vector<std::pair<const char*, std::string>> rows{{"lane", std::to_string(fault.lane)}};
  if (fault.size != 0) {
    rows.push_back({"access", fault.what + " at " + hex(fault.address)});
    rows.push_back({"where", fault.where});
  } else {
    rows.push_back({"why", fault.what});
  }
  add_finding(grid_, name(fault.kind), rows);
}

// [step, what, warp, barrier]
void Film::arrives(const Warp& warp, u32 barrier) {
  append(events_, "[" + std::to_string(count_) + ",\"waits\"," + std::to_string(warp.index) + "," +
                      std::to_string(barrier) + "]");
}

void Film::opens(u32 barrier) {
  append(events_, "[" + std::to_string(count_) + ",\"opens\",0," + std::to_string(barrier) + "]");
}

void Film::add_finding(const Grid& grid, const std::string& title,
                       const std::vector<std::pair<const char*, std::string>>& rows) {
  const std::scoped_lock lock(films_mutex());
  const auto film = films().find(&grid);
  if (film == films().end() || film->second->count_ == 0) return;
  std::string listed;
  for (const auto& [head, what] : rows) append(listed, "[" + json_text(head) + "," + json_text(what) + "]");
  append(film->second->findings_,
         "[" + std::to_string(film->second->count_ - 1) + "," + json_text(title) + ",[" + listed + "]]");
}

// ---- The file

Film::~Film() {
  const std::scoped_lock lock(films_mutex());
  films().erase(&grid_);
  if (count_ == 0) return;
  std::string files, shared;
  for (const std::string& file : grid_.program.files) append(files, json_text(file));
  for (const auto& variable : grid_.kernel.shared_variables)
    append(shared, "[" + json_text(demangled(variable.name)) + "," + std::to_string(variable.offset) + "," +
                       std::to_string(variable.size) + "]");
  const std::string text = "{\"kernel\":" + json_text(demangled(grid_.kernel.name)) +
                           ",\"launch\":" + std::to_string(launch_) + ",\"grid\":" + list_of(grid_.launch.grid) +
                           ",\"block\":" + list_of(grid_.launch.block) + ",\"at\":" + list_of(index_) +
                           ",\"shared_bytes\":" + std::to_string(grid_.shared_bytes) + ",\"shared\":[" + shared +
                           "],\"files\":[" + files + "],\"statements\":[" + statements_text_ + "],\"names\":[" +
                           names_text_ + "],\"steps\":[" + steps_ + "],\"events\":[" + events_ + "],\"findings\":[" +
                           findings_ + "],\"cut\":" + std::to_string(cut_) + "}\n";
  if (std::FILE* file = std::fopen(film_wanted().file.c_str(), "a")) {
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
}

}  // namespace cudasim
