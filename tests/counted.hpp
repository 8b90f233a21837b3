// Counts what the threads of an answer's kernel come to, for the checks of 04-07, 04-08, 04-09, 04-11 and 04-12: in the
// PTX that nvcc wrote, a counter is put before each barrier, each instruction that lanes execute together, and each
// load from global memory or atomic operation on it. The kernel does what it did before, on any device; afterwards the
// counters tell what cannot be seen by its results.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

// The image, with counters. The warps of a block are told apart by threadIdx.x only: all of a block with two
// dimensions, whose rows are no longer than a warp, count as one, and its lanes may do nothing together.
class Counted {
 public:
  explicit Counted(const std::string& image) {
    const std::string text = with_counters(image);
    CU_CHECK(cuModuleLoadData(&module_.handle, text.c_str()));
  }

  CUfunction function(const char* name) const { return module_.function(name); }

  // How many numbers each warp of a block has read from global memory, and changed there by atomic operations.
  std::vector<std::size_t> fetched() const { return numbers(kLoad); }
  std::vector<std::size_t> changed() const { return numbers(kAtomic); }

  // After a launch of blocks of so many threads: the first place to which only some have come of those who must come
  // to it together; "" if there is none.
  std::string parted(int threads) const {
    for (const Place& place : places_) {
      const std::string where = place.name + " (line " + std::to_string(place.line) + ") ";
      if (place.kind == kBarrier && sum(place) % threads != 0) {
        return where + "was reached " + std::to_string(sum(place)) + " times by blocks of " + std::to_string(threads) +
               " threads: not by all of them together";
      }
      for (const Count count : counts(place)) {
        if (place.kind == kTogether && count % kWhole != 0) {
          return where + "was not reached by all lanes that its mask names";
        }
      }
    }
    return "";
  }

 private:
  using Count = unsigned long long;
  enum Kind { kLoad, kAtomic, kBarrier, kTogether };
  struct Place {
    Kind kind;
    std::string name;  // the instruction's
    int line;          // in the answer
    int width;         // how many numbers it moves
  };

  static constexpr int kWarps = 32;                 // of a block, each with a counter of its own
  static constexpr Count kWhole = 144403552893600;  // what all lanes of a mask add up to; 1, 2, … 32 all divide it

  // Copies the image's text, and puts a counter before each place.
  std::string with_counters(const std::string& image) {
    static const std::regex line_of(R"(\.loc\s+1 (\d+)|inlined_at 1 (\d+))");
    static const std::regex instruction(R"(\s*(@!?%\w+\s+)?([a-z][\w.]*)\s*(.*);)");
    std::ifstream file(image);
    std::string text, line;
    std::size_t declarations = 0;
    int at = 0;
    for (std::smatch found; std::getline(file, line);) {
      if (std::regex_search(line, found, line_of)) at = std::stoi(found[1].matched ? found[1] : found[2]);
      if (std::regex_match(line, found, instruction)) text += counter(found[1], found[2], found[3], at);
      text += line + '\n';
      if (line.rfind(".address_size", 0) == 0) declarations = text.size();
    }
    if (declarations == 0) throw std::runtime_error(image + " is no PTX");
    const std::size_t bytes = (places_.size() + 1) * kWarps * sizeof(Count);
    return text.insert(declarations, ".visible .global .align 8 .b8 counted[" + std::to_string(bytes) + "];\n");
  }

  // What counts an instruction; "" if it is none of those that are counted.
  std::string counter(const std::string& guard, const std::string& name, const std::string& operands, int line) {
    static const std::regex load(R"(ld\.(?:\w+\.)*?global\b(?:.*\.v(\d)\b)?.*)");
    static const std::regex atomic(R"((atom|red)\.(?:\w+\.)*?global\b.*)");
    static const std::regex barrier(R"((bar|barrier)(\.cta)?\.(sync|red)\b.*)");
    static const std::regex together(R"((bar\.warp|shfl|vote|match\.\w+|redux)\.sync\b.*)");
    std::string step = "mov.u64 %step, 1;\n";
    if (std::smatch found; std::regex_match(name, found, load)) {
      places_.push_back({kLoad, name, line, found[1].matched ? std::stoi(found[1]) : 1});
    } else if (std::regex_match(name, atomic)) {
      places_.push_back({kAtomic, name, line, 1});
    } else if (std::regex_match(name, barrier)) {
      places_.push_back({kBarrier, name, line, 0});
    } else if (std::regex_match(name, together)) {
      places_.push_back({kTogether, name, line, 0});
      // Each lane adds its share of the mask, the last operand.
      const std::string mask = operands.substr(operands.find_last_of(" ,\t") + 1);
      step = "mov.b32 %warp, " + mask + "; popc.b32 %warp, %warp; cvt.u64.u32 %step, %warp;\n" +  //
             "div.u64 %step, " + std::to_string(kWhole) + ", %step;\n";
    } else {
      return "";
    }
    const std::string row = "counted+" + std::to_string((places_.size() - 1) * kWarps * sizeof(Count));
    return "{ .reg .b32 %warp; .reg .b64 %step, %row, %place;\n" + step +
           "mov.u32 %warp, %tid.x; shr.u32 %warp, %warp, 5; mul.wide.u32 %place, %warp, 8;\n" +  //
           "mov.u64 %row, " + row + "; add.u64 %place, %place, %row;\n" +                        //
           guard + "red.global.add.u64 [%place], %step; }\n";
  }

  // By warp: how many numbers all places of a kind have moved.
  std::vector<std::size_t> numbers(Kind kind) const {
    std::vector<std::size_t> moved(kWarps);
    for (const Place& place : places_) {
      if (place.kind != kind) continue;
      const std::vector<Count> times = counts(place);
      for (int warp = 0; warp < kWarps; ++warp) moved[warp] += times[warp] * place.width;
    }
    return moved;
  }

  std::vector<Count> counts(const Place& place) const {
    CUdeviceptr all;
    CU_CHECK(cuModuleGetGlobal(&all, nullptr, module_.handle, "counted"));
    std::vector<Count> found(kWarps);
    const std::size_t offset = (&place - places_.data()) * kWarps * sizeof(Count);
    CU_CHECK(cuMemcpyDtoH(found.data(), all + offset, kWarps * sizeof(Count)));
    return found;
  }

  Count sum(const Place& place) const {
    Count sum = 0;
    for (const Count count : counts(place)) sum += count;
    return sum;
  }

  cu::Module module_;
  std::vector<Place> places_;
};
