#include "common/simulator/profile/report.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/occupancy.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/profile/counters.hpp"
#include "common/simulator/profile/ncu.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/wanted.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace cudasim {
namespace {

constexpr std::size_t kLines = 5;             // hottest ones told of
constexpr std::size_t kMostLaunches = 10000;  // told of one by one, in the file

// An instruction, in words that outlive its module.
struct Line {
  std::string place, text;
  u64 number = 0;  // in the order of the text
  bool operator<(const Line& other) const {
    return std::tie(number, place, text) < std::tie(other.number, other.place, other.text);
  }
};
struct LineCount {
  Class kind = Class::other;
  u64 warps = 0, lanes = 0, parted = 0;
  GlobalCount global;
  SharedCount shared;
};

// Launches of one kernel in one shape.
struct Shape {
  std::string kernel;
  Dim3 grid, block;
  u32 dynamic_shared = 0;
  bool operator==(const Shape& o) const {
    const auto same = [](Dim3 a, Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
    return kernel == o.kernel && same(grid, o.grid) && same(block, o.block) && dynamic_shared == o.dynamic_shared;
  }
};
struct Entry {
  Shape shape;
  KernelCount count;
  std::map<Line, LineCount> lines;
  u32 registers = 0, shared = 0, resident = 0;
  const char* limit = "";
};

struct Profile {
  std::mutex mutex;
  const pid_t owner = getpid();  // not a copy of it that has only been forked
  std::vector<Entry> entries;
  std::vector<std::pair<std::size_t, KernelCount>> launches;  // index of the entry
  u64 left_out = 0;
};

std::string format(const char* pattern, ...) {
  char text[400];
  std::va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

double ratio(u64 a, u64 b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

// ---- The table

// What one launch did, on average: a whole number if all launches did the same.
class Table {
 public:
  explicit Table(const Entry& entry) : entry_(entry), count_(entry.count) {}
  std::string text();

 private:
  unsigned long long each(u64 n) const { return (n + count_.launches / 2) / count_.launches; }
  void head();
  void instructions();
  void global(const char* what, const GlobalCount& count);
  void shared(const char* what, const SharedCount& count);
  void memory();
  void occupancy();
  void hottest(const char* title, const char* unit, u64 (*cost)(const LineCount&), u64 (*asked)(const LineCount&));

  const Entry& entry_;
  const KernelCount& count_;
  std::string out_;
};

std::string dimensions(Dim3 d) {
  std::string text = std::to_string(d.x);
  if (d.y != 1 || d.z != 1) text += " x " + std::to_string(d.y);
  if (d.z != 1) text += " x " + std::to_string(d.z);
  return text;
}

void Table::head() {
  const Shape& shape = entry_.shape;
  out_ += "\n" + demangled(shape.kernel) + ", " + dimensions(shape.grid) + " blocks of " + dimensions(shape.block) +
          " threads";
  if (shape.dynamic_shared != 0) out_ += format(", %u bytes of dynamic shared memory", shape.dynamic_shared);
  if (count_.launches != 1)
    out_ += format(", %llu launches; numbers per launch:", static_cast<unsigned long long>(count_.launches));
  out_ += "\n";
}

void Table::instructions() {
  out_ += format("  instructions   %llu executed by warps, %.1f of 32 lanes active\n", each(count_.warps),
                 ratio(count_.lanes, count_.warps));
  std::vector<std::pair<u64, Class>> sorted;
  for (u32 c = 0; c < kClasses; ++c) {
    if (count_.by_class[c] != 0) sorted.emplace_back(count_.by_class[c], static_cast<Class>(c));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string line = "               ";
  for (const auto& [n, c] : sorted) {
    const std::string more = format("%s %llu", name(c), each(n));
    if (line.size() + more.size() + 2 > 98) out_ += line + "\n", line = "               ";
    line += "  " + more;
  }
  out_ += line + "\n";
  if (count_.branches != 0) {
    out_ += format("  branches       %llu conditional; the lanes diverge at %llu (%.0f %%)\n", each(count_.branches),
                   each(count_.parted), 100 * ratio(count_.parted, count_.branches));
  }
  if (count_.barriers != 0) out_ += format("  barriers       %llu, counted once per warp\n", each(count_.barriers));
}

void Table::global(const char* what, const GlobalCount& count) {
  if (count.requests == 0) return;
  out_ += format("  %-15s%12llu  %12llu  %8.1f  %14llu  %14llu  %5.0f %%\n", what, each(count.requests),
                 each(count.sectors), ratio(count.sectors, count.requests), each(count.bytes), each(32 * count.sectors),
                 100 * ratio(count.bytes, 32 * count.sectors));
}

void Table::shared(const char* what, const SharedCount& count) {
  if (count.requests == 0) return;
  out_ += format("  %-15s%12llu  %12llu  %8.1f  %14llu\n", what, each(count.requests), each(count.wavefronts),
                 ratio(count.wavefronts, count.requests), each(count.conflicts()));
}

void Table::memory() {
  GlobalCount any = count_.loads;
  for (const GlobalCount* each : {&count_.stores, &count_.atomics, &count_.reductions, &count_.copies, &count_.textures,
                                  &count_.local_loads, &count_.local_stores, &count_.bulk_loads, &count_.bulk_stores})
    any.add(*each);
  if (any.requests != 0)
    out_ += "  global memory      requests       sectors      each    bytes needed           moved     used\n";
  global("  loads", count_.loads);
  global("  stores", count_.stores);
  GlobalCount atomics = count_.atomics;
  atomics.add(count_.reductions);
  global("  atomics", atomics);
  global("  cp.async", count_.copies);
  global("  textures", count_.textures);
  global("  local, loads", count_.local_loads);
  global("  local, stores", count_.local_stores);
  global("  bulk, loads", count_.bulk_loads);
  global("  bulk, stores", count_.bulk_stores);
  SharedCount in_shared = count_.shared_loads;
  in_shared.add(count_.shared_stores);
  in_shared.add(count_.shared_atomics);
  if (count_.operand_bytes != 0) {
    const u64 bytes = each(count_.operand_bytes);
    out_ += format("  wgmma operands  %llu bytes read from shared memory\n", static_cast<unsigned long long>(bytes));
  }
  if (in_shared.requests == 0) return;
  out_ += "  shared memory      requests    wavefronts      each       conflicts\n";
  shared("  loads", count_.shared_loads);
  shared("  stores", count_.shared_stores);
  shared("  atomics", count_.shared_atomics);
}

void Table::occupancy() {
  const u64 threads = entry_.shape.block.count(), warps = (threads + kWarpSize - 1) / kWarpSize;
  out_ += format("  occupancy      %u registers per thread, %u bytes of shared memory per block: %u blocks\n",
                 entry_.registers, entry_.shared, entry_.resident);
  out_ += format("                 on a multiprocessor at once, %.0f %% of its threads; limited by %s\n",
                 100 * ratio(entry_.resident * warps * kWarpSize, kMaxThreadsPerMultiprocessor), entry_.limit);
}

void Table::hottest(const char* title, const char* unit, u64 (*cost)(const LineCount&),
                    u64 (*asked)(const LineCount&)) {
  struct Sum {
    std::string place, text;
    u64 cost = 0, asked = 0;
  };
  std::vector<Sum> sums;  // of a line's instructions of one kind
  std::map<std::pair<std::string, Class>, std::size_t> found;
  for (const auto& [line, count] : entry_.lines) {
    if (asked(count) == 0) continue;
    const auto [at, made] = found.emplace(std::pair(line.place, count.kind), sums.size());
    if (made)
      sums.push_back({line.place, line.text});
    else
      sums[at->second].text = name(count.kind);
    sums[at->second].cost += cost(count);
    sums[at->second].asked += asked(count);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.cost > b.cost; });
  sums.resize(std::min(sums.size(), kLines));
  if (sums.empty() || sums[0].cost == 0) return;
  out_ += format("  %s\n", title);
  for (const Sum& sum : sums) {
    if (sum.cost == 0) break;
    const std::string place = sum.place.substr(0, sum.place.find(" (in "));
    const std::string text = format("    %-20s %12llu %s, %.1f per request   ", place.c_str(), each(sum.cost), unit,
                                    ratio(sum.cost, sum.asked));
    const std::size_t room = text.size() < 98 ? 98 - text.size() : 0;
    out_ += text + (sum.text.size() <= room ? sum.text : sum.text.substr(0, room) + "…") + "\n";
  }
}

std::string Table::text() {
  head();
  instructions();
  memory();
  occupancy();
  hottest(
      "most sectors", "sectors", [](const LineCount& c) { return c.global.sectors; },
      [](const LineCount& c) { return c.global.requests; });
  hottest(
      "most bank conflicts", "conflicts", [](const LineCount& c) { return c.shared.conflicts(); },
      [](const LineCount& c) { return c.shared.requests; });
  return out_;
}

// ---- The file

std::string json(const GlobalCount& c) {
  return format("{\"requests\": %llu, \"sectors\": %llu, \"bytes_wanted\": %llu, \"bytes_moved\": %llu}",
                static_cast<unsigned long long>(c.requests), static_cast<unsigned long long>(c.sectors),
                static_cast<unsigned long long>(c.bytes), static_cast<unsigned long long>(32 * c.sectors));
}
std::string json(const SharedCount& c) {
  return format("{\"requests\": %llu, \"wavefronts\": %llu, \"conflicts\": %llu}",
                static_cast<unsigned long long>(c.requests), static_cast<unsigned long long>(c.wavefronts),
                static_cast<unsigned long long>(c.conflicts()));
}
std::string json(Dim3 d) { return format("[%u, %u, %u]", d.x, d.y, d.z); }

std::string json(const KernelCount& c) {
  std::string text = format("\"warp_instructions\": %llu, \"thread_instructions\": %llu, ",
                            static_cast<unsigned long long>(c.warps), static_cast<unsigned long long>(c.lanes));
  text += "\"by_class\": {";
  for (u32 i = 0, n = 0; i < kClasses; ++i) {
    if (c.by_class[i] == 0) continue;
    text += format("%s\"%s\": %llu", n++ == 0 ? "" : ", ", name(static_cast<Class>(i)),
                   static_cast<unsigned long long>(c.by_class[i]));
  }
  text +=
      format("}, \"branches\": %llu, \"divergent_branches\": %llu, \"barriers\": %llu, \"wgmma_operand_bytes\": %llu",
             static_cast<unsigned long long>(c.branches), static_cast<unsigned long long>(c.parted),
             static_cast<unsigned long long>(c.barriers), static_cast<unsigned long long>(c.operand_bytes));
  GlobalCount atomics = c.atomics;
  atomics.add(c.reductions);
  text += ", \"global\": {\"load\": " + json(c.loads) + ", \"store\": " + json(c.stores) +
          ", \"atomic\": " + json(atomics) + ", \"cp.async\": " + json(c.copies) +
          ", \"texture\": " + json(c.textures) + "}, \"bulk\": {\"load\": " + json(c.bulk_loads) +
          ", \"store\": " + json(c.bulk_stores) + "}, \"local\": {\"load\": " + json(c.local_loads) +
          ", \"store\": " + json(c.local_stores) + "}, \"shared\": {\"load\": " + json(c.shared_loads) +
          ", \"store\": " + json(c.shared_stores) + ", \"atomic\": " + json(c.shared_atomics) + "}";
  return text;
}

std::string json(const Entry& entry) {
  const Shape& shape = entry.shape;
  std::string text = "{\"kernel\": " + json_text(shape.kernel) + ", \"name\": " + json_text(demangled(shape.kernel)) +
                     ", \"grid\": " + json(shape.grid) + ", \"block\": " + json(shape.block) +
                     format(", \"dynamic_shared\": %u, \"launches\": %llu, ", shape.dynamic_shared,
                            static_cast<unsigned long long>(entry.count.launches)) +
                     json(entry.count);
  text += format(
      ", \"occupancy\": {\"registers\": %u, \"shared_bytes\": %u, \"blocks_per_multiprocessor\": %u, "
      "\"limited_by\": \"%s\"}, \"lines\": [",
      entry.registers, entry.shared, entry.resident, entry.limit);
  bool first = true;
  for (const auto& [line, count] : entry.lines) {
    text += std::string(first ? "" : ",") + "\n      {\"at\": " + json_text(line.place) +
            ", \"instruction\": " + json_text(line.text) +
            format(", \"warps\": %llu, \"lanes\": %llu", static_cast<unsigned long long>(count.warps),
                   static_cast<unsigned long long>(count.lanes));
    if (count.parted != 0) text += format(", \"divergent\": %llu", static_cast<unsigned long long>(count.parted));
    if (count.global.requests != 0) text += ", \"global\": " + json(count.global);
    if (count.shared.requests != 0) text += ", \"shared\": " + json(count.shared);
    text += "}";
    first = false;
  }
  return text + "]}";
}

std::string json(const Profile& profile) {
  std::string text = "{\"device\": \"Simulated H200\", \"counters\": \"of PTX instructions\", \"kernels\": [";
  for (std::size_t i = 0; i < profile.entries.size(); ++i)
    text += (i == 0 ? "\n    " : ",\n    ") + json(profile.entries[i]);
  text += "],\n  \"launches\": [";
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    const auto& [entry, count] = profile.launches[i];
    text += std::string(i == 0 ? "" : ",") + "\n    {\"kernel\": " + json_text(profile.entries[entry].shape.kernel) +
            ", " + json(count) + "}";
  }
  return text + format("],\n  \"launches_left_out\": %llu}\n", static_cast<unsigned long long>(profile.left_out));
}

std::string csv(const Profile& profile) {
  std::string text = ncu_heading();
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    const auto& [entry, count] = profile.launches[i];
    const Shape& shape = profile.entries[entry].shape;
    text += ncu_rows({i, demangled(shape.kernel), shape.grid, shape.block}, count);
  }
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cudasim: CUDASIM_PROFILE=%s: this file cannot be written\n", path.c_str());
    return;
  }
  std::fputs(text.c_str(), file);
  std::fclose(file);
}

// ---- Keeping it

void report_at_exit();

Profile& profile() {
  static Profile& made = *[] {
    std::atexit(report_at_exit);
    return new Profile;
  }();
  return made;
}

void report_at_exit() {
  Profile& all = profile();
  if (all.owner != getpid()) return;
  const std::scoped_lock lock(all.mutex);
  std::string text = "========= simulated GPU: profile (instructions as in the PTX; memory as a GPU would serve it)\n";
  for (const Entry& entry : all.entries) text += Table(entry).text();
  std::fputs(text.c_str(), stderr);
  const std::string& path = profile_wanted().file;
  if (!path.empty()) write_file(path, path.ends_with(".csv") ? csv(all) : json(all));
}

void add_lines(Entry& entry, const Grid& grid, const Counter& counter) {
  for (const auto& [code, sites] : counter.sites()) {
    if (code->notes == nullptr) continue;
    for (std::size_t i = 0; i < sites.by_instruction.size(); ++i) {
      const SiteCount& site = sites.by_instruction[i];
      const Instruction& instruction = code->instructions[i];
      if (site.warps == 0 || instruction.statement >= code->notes->statements.size()) continue;
      const Notes::Statement& statement = code->notes->statements[instruction.statement];
      if (statement.instruction != i) continue;
      LineCount& line = entry.lines[{where(grid.program, {code, &instruction}), statement.text,
                                     code->statements[instruction.statement].line}];
      line.kind = statement.kind;
      line.warps += site.warps;
      line.lanes += site.lanes;
      line.parted += statement.branches ? site.parted : 0;
      line.global.add(site.global);
      line.global.add(site.local);
      line.global.add(site.bulk);
      line.shared.add(site.shared);
    }
  }
}

}  // namespace

void record_profile(const Grid& grid, const Counter& counter) {
  Profile& all = profile();
  const std::scoped_lock lock(all.mutex);
  const Launch& launch = grid.launch;
  const Shape shape{grid.kernel.name, launch.grid, launch.block, launch.dynamic_shared};
  auto found = std::find_if(all.entries.begin(), all.entries.end(), [&](const Entry& e) { return e.shape == shape; });
  if (found == all.entries.end()) {
    Entry entry;
    entry.shape = shape;
    entry.registers = grid.kernel.registers;
    entry.shared = grid.shared_bytes;
    entry.resident = blocks_that_fit(grid.kernel, launch.block.count(), launch.dynamic_shared, &entry.limit);
    found = all.entries.insert(all.entries.end(), std::move(entry));
  }
  const KernelCount count = counter.sum();
  found->count.add(count);
  add_lines(*found, grid, counter);
  if (all.launches.size() == kMostLaunches)
    ++all.left_out;
  else
    all.launches.emplace_back(static_cast<std::size_t>(found - all.entries.begin()), count);
}

}  // namespace cudasim
