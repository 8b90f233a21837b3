// Counts the memory accesses of a learner's kernel, warp by warp: the sectors of global memory that they touch, and the
// bank conflicts in shared memory. It inserts instructions into the PTX that nvcc wrote, before each load and store,
// ldmatrix, stmatrix, and cp.async, which is a load from global memory and a store to shared memory. They compare the
// addresses of a warp's lanes, so the counts are the same on every device. (counted.hpp counts how often instructions
// are executed; this file looks at their addresses.)
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

// The image with counters. Warps must have 32 lanes that are consecutive in x, and an access that only some lanes
// execute must be reached by these lanes together.
class Traffic {
 public:
  explicit Traffic(const std::string& image) {
    const std::string text = with_counters(image);
    CU_CHECK(cuModuleLoadData(&module_.handle, text.c_str()));
  }

  CUfunction function(const char* name) const { return module_.function(name); }

  // Bytes that all threads together have loaded from and stored to global memory.
  struct Bytes {
    std::size_t loaded, stored;
  };
  Bytes bytes() const {
    Bytes all{0, 0};
    for (const Place& place : places_) {
      if (place.is_global) (place.is_store ? all.stored : all.loaded) += counts(place).lanes * place.bytes;
    }
    return all;
  }

  // After `multiply_adds` multiply-adds: describes the line that loads most floats from global or shared memory if all
  // lines together load more than `allowed` of them per multiply-add, or returns "".
  enum class Space { kGlobal, kShared };
  std::string loads_beyond(Space space, double allowed, std::size_t multiply_adds) const {
    Count all = 0;
    std::map<int, Count> of_line;  // floats
    for (const Place& place : places_) {
      if (place.is_store || place.is_global != (space == Space::kGlobal)) continue;
      const Count floats = counts(place).lanes * place.bytes / sizeof(float);
      all += floats;
      of_line[place.line] += floats;
    }
    if (static_cast<double>(all) <= allowed * static_cast<double>(multiply_adds)) return "";
    const auto most = std::max_element(of_line.begin(), of_line.end(),
                                       [](const auto& one, const auto& other) { return one.second < other.second; });
    char numbers[100];
    std::snprintf(numbers, sizeof numbers, "%.4g floats from %s memory for each multiply-add where %.4g would do",
                  static_cast<double>(all) / static_cast<double>(multiply_adds),
                  space == Space::kGlobal ? "global" : "shared", allowed);
    return std::string("the threads load ") + numbers + ", most of them in exercise.cu:" + std::to_string(most->first);
  }

  // Describes the first access to global memory that touches more sectors than its bytes fill, or returns "".
  std::string scattered() const {
    for (const Place& place : places_) {
      const Counts found = counts(place);
      const Count needed = (found.lanes * place.bytes + 31) / 32;
      if (!place.is_global || found.units <= needed) continue;
      return "a warp's " + named(place, "to global memory", "from global memory") + " touches " +
             each(found.units, found) + " sectors where " + each(needed, found) + " would do, " + where(place);
    }
    return "";
  }

  // Describes the first access to shared memory with bank conflicts, or returns "".
  std::string conflicting() const {
    for (const Place& place : places_) {
      const Counts found = counts(place);
      if (place.is_global || found.units <= found.phases) continue;
      return "a warp's " + named(place, "to shared memory", "from shared memory") + " takes " +
             each(found.units, found) + " passes where " + each(found.phases, found) + " would do, " + where(place);
    }
    return "";
  }

 private:
  using Count = unsigned long long;
  struct Place {
    bool is_global, is_store;
    int line;  // in the learner's file
    int bytes;  // per lane
  };
  // For each place, summed over all warps: how often the access was executed, by how many lanes, and what it touched:
  // different sectors in global memory, passes in shared memory. An access of 8 or 16 bytes is divided into phases of
  // half a warp or a quarter, each of which takes at least one pass.
  struct Counts {
    Count requests, lanes, units, phases;
  };

  static std::string named(const Place& place, const char* to, const char* from) {
    return place.is_store ? std::string("store ") + to : std::string("load ") + from;
  }
  static std::string where(const Place& place) { return "exercise.cu:" + std::to_string(place.line); }
  static std::string each(Count count, const Counts& found) {
    const Count tenths = (10 * count + found.requests / 2) / found.requests;
    return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10));
  }

  // The address of an access, and which lanes access it: those whose guard and `bytes`, a register of cp.async, are not
  // zero, and whose number is less than `lanes`.
  struct Access {
    std::string guard, base, offset;
    int lanes;
    std::string bytes;
  };

  // Returns the image's text with counters before each access to global and shared memory.
  std::string with_counters(const std::string& image) {
    static const std::regex line_of(R"(\.loc\s+1 (\d+)|inlined_at 1 (\d+))");
    std::ifstream file(image);
    std::string text, line;
    std::size_t declarations = 0;
    int at = 0;
    for (std::smatch found; std::getline(file, line);) {
      if (std::regex_search(line, found, line_of)) at = std::stoi(found[1].matched ? found[1] : found[2]);
      text += counters(line, at) + line + '\n';
      if (line.rfind(".address_size", 0) == 0) declarations = text.size();
    }
    if (declarations == 0) throw std::runtime_error(image + " is not PTX");
    const std::size_t bytes = (places_.size() + 1) * sizeof(Counts);
    return text.insert(declarations, ".visible .global .align 8 .b8 traffic[" + std::to_string(bytes) + "];\n");
  }

  // Returns the counters for a line of PTX, or "" if it accesses neither global nor shared memory.
  std::string counters(const std::string& line, int at) {
    static const std::regex access(
        R"(\s*(@!?%\w+\s+)?(ld|st)\.((?:\w+\.)*?)(global|shared)\b([\w.:]*)\.[busf](\d+)\s+(.*);)");
    static const std::regex matrix(R"(\s*(@!?%\w+\s+)?(ld|st)matrix\.[\w.]*?\.x(\d)\b[\w.:]*\s+(.*);)");
    static const std::regex copy(R"(\s*(@!?%\w+\s+)?cp\.async\.c[ag]\.[\w.:]*\s+(\[.*\]),\s*(\[.*\]),\s*(\d+)(.*);)");
    static const std::regex vector(R"(.*\.v(\d)\b.*)"), rest(R"((?:,\s*(%r\d+|\d+))?(?:,\s*%rd\d+)?\s*)");
    std::smatch found, of_rest;
    if (std::regex_match(line, found, access)) {
      std::smatch wide;
      const std::string modifiers = found[5];
      const int elements = std::regex_match(modifiers, wide, vector) ? std::stoi(wide[1]) : 1;
      places_.push_back({found[4] == "global", found[2] == "st", at, elements * std::stoi(found[6]) / 8});
      return counter(addressed(found[1], found[7], line));
    }
    if (std::regex_match(line, found, matrix)) {  // eight lanes pass the addresses of one matrix's rows
      places_.push_back({false, found[2] == "st", at, 16});
      Access rows = addressed(found[1], found[4], line);
      rows.lanes = 8 * std::stoi(found[3]);
      return counter(rows) + "bar.warp.sync 0xffffffff;\n";  // all lanes execute the instruction together
    }
    if (std::regex_match(line, found, copy)) {
      const std::string after = found[5];
      if (!std::regex_match(after, of_rest, rest)) throw std::runtime_error("Traffic cannot count " + line);
      const int bytes = std::stoi(found[4]);
      places_.push_back({true, false, at, bytes});
      Access from = addressed(found[1], found[3], line);
      from.bytes = of_rest[1];
      const std::string counted = counter(from);
      places_.push_back({false, true, at, bytes});
      return counted + counter(addressed(found[1], found[2], line));
    }
    return "";
  }

  static Access addressed(const std::string& guard, const std::string& operands, const std::string& line) {
    static const std::regex address(R"([^\[]*\[([\w%$.]+)(?:\+(-?\d+))?\].*)");
    std::smatch to;
    if (!std::regex_match(operands, to, address)) throw std::runtime_error("no address in " + line);
    return {guard, to[1], to[2].matched ? to[2].str() : "0", 32, ""};
  }

  // Returns the PTX that counts the access which was added last.
  std::string counter(const Access& access) {
    const Place& place = places_.back();
    const std::string &base = access.base, &offset = access.offset;
    const std::string skip = "traffic_skip_" + std::to_string(places_.size() - 1);
    std::string code = "{ .reg .b32 %t<10>; .reg .b64 %u<3>; .reg .pred %q;\n";
    // Lanes that do not access the memory skip the counter.
    if (const std::string& guard = access.guard; !guard.empty()) {
      code += (guard[1] == '!' ? "@" + guard.substr(2) : "@!" + guard.substr(1)) + " bra " + skip + ";\n";
    }
    if (access.lanes < 32) {
      code += "mov.u32 %t0, %laneid;\nsetp.ge.u32 %q, %t0, " + std::to_string(access.lanes) + ";\n" +  //
              "@%q bra " + skip + ";\n";
    }
    if (!access.bytes.empty()) code += "setp.eq.u32 %q, " + access.bytes + ", 0;\n@%q bra " + skip + ";\n";
    // %u0: the address. A shared address may be in a 32-bit register, in a 64-bit register, or a variable's name.
    if (base[0] == '%') {
      code += base.rfind("%rd", 0) == 0 ? "mov.u64 %u0, " + base + ";\n" : "cvt.u64.u32 %u0, " + base + ";\n";
    } else {
      code += "mov.u64 %u0, " + base + ";\n";
    }
    code += "add.s64 %u0, %u0, " + offset + ";\nmov.u64 %u1, traffic;\nactivemask.b32 %t0;\n";
    const auto add = [&](std::size_t counter, const char* guarded) {
      return std::string(guarded) + "red.global.add.u64 [%u1+" +
             std::to_string((places_.size() - 1) * sizeof(Counts) + counter * sizeof(Count)) + "], 1;\n";
    };
    // Adds 1 for every different value of `key` among the lanes: the lowest lane that has it does so.
    const auto add_different = [&](std::size_t counter, const std::string& key, const char* type) {
      return std::string("match.any.sync.") + type + " %t1, " + key + ", %t0;\n" +
             "mov.u32 %t2, %lanemask_lt;\nand.b32 %t2, %t2, %t1;\nsetp.eq.u32 %q, %t2, 0;\n" + add(counter, "@%q ");
    };
    code += "mov.u32 %t2, %lanemask_lt;\nand.b32 %t2, %t2, %t0;\nsetp.eq.u32 %q, %t2, 0;\n" + add(0, "@%q ");
    code += add(1, "");
    if (place.is_global) {
      code += "shr.u64 %u2, %u0, 5;\n" + add_different(2, "%u2", "b64");
    } else {
      // %t3: the unit of memory that the lane accesses, as wide as the access and at least one word; %t4: its phase.
      // One pass serves one unit of each bank. %t5: the lanes of a phase whose unit is in the same bank; of these,
      // %t7: the lowest lane of each different unit. So the lane's unit is served in pass number popc(%t7 below it).
      const int unit = place.bytes < 4 ? 4 : place.bytes, lanes = 128 / unit;
      code += "cvt.u32.u64 %t3, %u0;\ndiv.u32 %t3, %t3, " + std::to_string(unit) + ";\n" +
              "mov.u32 %t4, %laneid;\ndiv.u32 %t4, %t4, " + std::to_string(lanes) + ";\nshl.b32 %t4, %t4, 24;\n" +
              "and.b32 %t5, %t3, " + std::to_string(lanes - 1) + ";\nor.b32 %t5, %t5, %t4;\n" +
              "match.any.sync.b32 %t5, %t5, %t0;\nor.b32 %t3, %t3, %t4;\nmatch.any.sync.b32 %t6, %t3, %t0;\n" +
              "mov.u32 %t2, %lanemask_lt;\nand.b32 %t6, %t6, %t2;\nsetp.eq.u32 %q, %t6, 0;\n" +
              "vote.sync.ballot.b32 %t7, %q, %t0;\nand.b32 %t7, %t7, %t5;\nand.b32 %t7, %t7, %t2;\n" +
              "popc.b32 %t7, %t7;\nselp.b32 %t7, %t7, 0, %q;\nor.b32 %t7, %t7, %t4;\n" +
              add_different(2, "%t7", "b32") + add_different(3, "%t4", "b32");
    }
    return code + skip + ":\n}\n";
  }

  Counts counts(const Place& place) const {
    CUdeviceptr all;
    CU_CHECK(cuModuleGetGlobal(&all, nullptr, module_.handle, "traffic"));
    Counts found;
    CU_CHECK(cuMemcpyDtoH(&found, all + (&place - places_.data()) * sizeof(Counts), sizeof found));
    return found;
  }

  cu::Module module_;
  std::vector<Place> places_;
};
