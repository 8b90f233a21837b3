// Counts what the threads of a learner's kernel execute, for the checks of exercises. In the PTX that nvcc wrote, a
// counter is inserted before each barrier, each warp-level instruction, each load from or atomic operation on global
// memory, and each of the instructions that kByName lists. The kernel's results stay the same on any device; the
// counters show what the results cannot.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

// The image with counters. A thread's warp is derived from threadIdx.x alone, so a two-dimensional block whose rows are
// no longer than a warp counts as one warp, and it must not use warp-level instructions.
class Counted {
 public:
  explicit Counted(const std::string& image) {
    const std::string text = with_counters(image);
    CU_CHECK(cuModuleLoadData(&module_.handle, text.c_str()));
  }

  CUfunction function(const char* name) const { return module_.function(name); }

  // Returns how many elements each warp of a block has loaded from global memory, or updated there with atomics.
  std::vector<std::size_t> loaded_by_warp() const { return numbers(kLoad); }
  std::vector<std::size_t> changed() const { return numbers(kAtomic); }

  // What all threads together have done: elements loaded from and stored to global memory (of 32 bits, if cp.async
  // loads them), and FP32 additions, multiplications and multiply-adds (one each).
  struct Work {
    std::size_t loaded, stored, arithmetic;
  };
  Work work() const { return {total(kLoad), total(kStore), total(kArithmetic)}; }

  // Returns how often warps have executed an instruction with this mnemonic, such as "mma", and this modifier, such as
  // ".shared". An execution by half of a warp counts half.
  double executed_by_warps(const std::string& mnemonic, const std::string& modifier = "") const {
    std::size_t threads = 0;
    for (const Place& place : places_) {
      const bool same = place.name.rfind(mnemonic + ".", 0) == 0 && place.name.find(modifier) != std::string::npos;
      if (same) threads += sum(place);
    }
    return static_cast<double>(threads) / 32;
  }

  // After a launch with blocks of `threads` threads: describes the first barrier or warp-level instruction that only
  // some of the threads it requires have reached. Returns "" if all of them did.
  std::string divergence(int threads) const {
    for (const Place& place : places_) {
      const std::string where = place.name + " (line " + std::to_string(place.line) + ") ";
      if (place.kind == kBarrier && sum(place) % threads != 0) {
        return where + "was reached " + std::to_string(sum(place)) + " times by blocks of " + std::to_string(threads) +
               " threads, so some threads skipped it";
      }
      for (const Count count : counts(place)) {
        if (place.kind == kTogether && count % kWhole != 0) {
          return where + "was not executed by all lanes in its mask";
        }
      }
    }
    return "";
  }

 private:
  using Count = unsigned long long;
  enum Kind { kLoad, kStore, kAtomic, kBarrier, kTogether, kArithmetic, kNamed };
  static constexpr const char* kByName =
      R"(((mma|wgmma|ldmatrix|stmatrix|ex2|lop3|prmt|cvt)\..*|(ld|st)\.(\w+\.)*?shared\b.*))";
  struct Place {
    Kind kind;
    std::string name;  // of the instruction
    int line;  // in the learner's file
    int width;  // elements that it moves
  };

  static constexpr int kWarps = 32;  // per block, each with its own counter
  static constexpr Count kWhole = 144403552893600;  // the sum over all lanes of a mask; a multiple of 1, 2, … 32

  // Returns the image's text with a counter before each counted instruction.
  std::string with_counters(const std::string& image) {
    static const std::regex line_of(R"(\.loc\s+1 (\d+)|inlined_at 1 (\d+))");
    static const std::regex instruction(R"(\s*(@!?%\w+\s+)?([a-z][\w.:]*)\s*(.*);)");
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
    if (declarations == 0) throw std::runtime_error(image + " is not PTX");
    const std::size_t bytes = (places_.size() + 1) * kWarps * sizeof(Count);
    return text.insert(declarations, ".visible .global .align 8 .b8 counted[" + std::to_string(bytes) + "];\n");
  }

  // Returns the PTX that counts an instruction, or "" for instructions that are not counted.
  std::string counter(const std::string& guard, const std::string& name, const std::string& operands, int line) {
    static const std::regex copy(R"(cp\.async\.c[ag]\..*)"), bytes(R"(.*\],\s*(\d+).*)"), named(kByName);
    static const std::regex load(R"(ld\.(?:\w+\.)*?global\b(?:.*\.v(\d)\b)?.*)");
    static const std::regex store(R"(st\.(?:\w+\.)*?global\b(?:.*\.v(\d)\b)?.*)");
    static const std::regex arithmetic(R"((fma|mad|add|sub|mul)(\.\w+)*\.f32)");
    static const std::regex atomic(R"((atom|red)\.(?:\w+\.)*?global\b.*)");
    static const std::regex barrier(R"((bar|barrier)(\.cta)?\.(sync|red)\b.*)");
    static const std::regex together(R"((bar\.warp|shfl|vote|match\.\w+|redux)\.sync\b.*)");
    std::string step = "mov.u64 %step, 1;\n";
    if (std::smatch found; std::regex_match(name, found, load)) {
      places_.push_back({kLoad, name, line, found[1].matched ? std::stoi(found[1]) : 1});
    } else if (std::regex_match(name, copy) && std::regex_match(operands, found, bytes)) {
      places_.push_back({kLoad, name, line, std::stoi(found[1]) / 4});
    } else if (std::regex_match(name, found, store)) {
      places_.push_back({kStore, name, line, found[1].matched ? std::stoi(found[1]) : 1});
    } else if (std::regex_match(name, arithmetic)) {
      places_.push_back({kArithmetic, name, line, 1});
    } else if (std::regex_match(name, atomic)) {
      places_.push_back({kAtomic, name, line, 1});
    } else if (std::regex_match(name, barrier)) {
      places_.push_back({kBarrier, name, line, 0});
    } else if (std::regex_match(name, named)) {
      places_.push_back({kNamed, name, line, 1});
    } else if (std::regex_match(name, together)) {
      places_.push_back({kTogether, name, line, 0});
      // Each lane adds kWhole divided by the number of lanes in the mask, which is the last operand.
      const std::string mask = operands.substr(operands.find_last_of(" ,\t") + 1);
      step = "mov.b32 %warp, " + mask + "; popc.b32 %warp, %warp; cvt.u64.u32 %step, %warp;\n" +  //
             "div.u64 %step, " + std::to_string(kWhole) + ", %step;\n";
    } else {
      return "";
    }
    const std::string row = "counted+" + std::to_string((places_.size() - 1) * kWarps * sizeof(Count));
    return "{ .reg .b32 %warp; .reg .b64 %step, %row, %place;\n" + step +
           "mov.u32 %warp, %tid.x; shr.u32 %warp, %warp, 5; mul.wide.u32 %place, %warp, 8;\n" +  //
           "mov.u64 %row, " + row + "; add.u64 %place, %place, %row;\n" +  //
           guard + "red.global.add.u64 [%place], %step; }\n";
  }

  // Returns how many elements the instructions of one kind have moved, for each warp.
  std::vector<std::size_t> numbers(Kind kind) const {
    std::vector<std::size_t> moved(kWarps);
    for (const Place& place : places_) {
      if (place.kind != kind) continue;
      const std::vector<Count> times = counts(place);
      for (int warp = 0; warp < kWarps; ++warp) moved[warp] += times[warp] * place.width;
    }
    return moved;
  }

  std::size_t total(Kind kind) const {
    std::size_t sum = 0;
    for (const std::size_t moved : numbers(kind)) sum += moved;
    return sum;
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
