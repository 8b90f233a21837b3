// Every function of the API with arguments of the right types and no sense: random handles of each kind, live, stale
// and foreign, random numbers, structures full of addresses. What a caller must not do stays out: pointers are null or
// lead to memory that is there. Nothing may crash, hang or leak. Only for the simulator: a GPU's driver looks into what
// it is given. CONFORMANCE_CALLS says how many calls (default: 20000), CONFORMANCE_SEED which.
#include "tests/conformance/scenario.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <typeindex>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // those are called, too
#if CUDA_VERSION >= 13000

// Every function that the driver exports, by its symbol; null in a driver that is older than the table.
#define FUNCTION(name, release, symbol, admits, parameters, ...) \
  extern "C" CUresult every_##symbol parameters __asm__(#symbol) __attribute__((weak));
#define PER_THREAD(name, release, symbol, admits, per_thread_release, suffix, parameters, ...) \
  extern "C" CUresult every_##symbol parameters __asm__(#symbol) __attribute__((weak));
#define FIRST_VERSION(...)
#define UNKNOWN_FUNCTION(...)
#define UNKNOWN_PER_THREAD(...)
#include "common/simulator/api/functions.inc"

namespace {

// Not those that wait for memory to change, or for a process to be unlocked, which may be this one, and not the one
// that returns undocumented tables.
bool may_be_called(const std::string& symbol) {
  for (const char* const left_out : {"cuCheckpoint", "cuStreamWaitValue", "BatchMemOp", "cuGetExportTable"}) {
    if (symbol.find(left_out) != std::string::npos) return false;
  }
  return true;
}

void CUDA_CB nothing(void*) {}
void CUDA_CB nothing_of_stream(CUstream, CUresult, void*) {}
std::size_t CUDA_CB nothing_needed(int) { return 0; }

// Memory that arguments point to: each eight bytes null or an address in here. Such an address read as a number of 32
// bits, the length of an array perhaps, is small; what follows is long enough for that, and zero.
class Scratch {
 public:
  explicit Scratch(std::mt19937_64& random) : random_(random) {
    for (std::uintptr_t high = 0x7f00; high < 0x7f80 && words_ == nullptr; ++high) {
      void* const wish = reinterpret_cast<void*>(high << 32);
      void* const got = mmap(wish, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (got == wish) {
        words_ = static_cast<std::uintptr_t*>(got);
      } else if (got != MAP_FAILED) {
        munmap(got, kBytes);
      }
    }
  }
  bool there() const { return words_ != nullptr; }
  void refill() {  // before each call: the one before may have left anything
    std::memset(words_, 0, kTouched);
    std::memset(zero(), 0, kTouched);
    for (std::size_t i = 0; i < 4 * kTargets; ++i)
      words_[i] = random_() % 3 == 0 ? reinterpret_cast<std::uintptr_t>(any()) : 0;
  }
  void* any() { return &words_[random_() % kTargets]; }
  void* zero() { return &words_[kBytes / 2 / sizeof *words_]; }  // a structure with nothing in it

 private:
  static constexpr std::size_t kBytes = 16 << 20, kTargets = 64, kTouched = 8192;
  std::mt19937_64& random_;
  std::uintptr_t* words_ = nullptr;
};

class EveryCall {
 public:
  explicit EveryCall(unsigned long seed) : random_(seed), scratch_(random_), image_(conformance::image()) {}

  void make_call() {
    struct Entry {
      const char* symbol;
      void (EveryCall::*call)();
    };
    static const Entry entries[] = {
#define FUNCTION(name, release, symbol, ...) {#symbol, &EveryCall::call<decltype(&every_##symbol), &every_##symbol>},
#define PER_THREAD FUNCTION
#define FIRST_VERSION(...)
#define UNKNOWN_FUNCTION(...)
#define UNKNOWN_PER_THREAD(...)
#include "common/simulator/api/functions.inc"
    };
    const Entry* entry = nullptr;
    do {
      entry = &entries[random_() % std::size(entries)];
    } while (!may_be_called(entry->symbol));
    last = entry->symbol;
    scratch_.refill();
    (this->*entry->call)();
  }

  bool can() const { return scratch_.there(); }

  const char* last = "";
  std::map<CUresult, long> answers;

 private:
  template <class Function, Function function>
  void call() {
    apply(function);
  }
  // A constructor: braces evaluate its arguments from left to right, as a tuple's, and compile in a fifth of the time.
  struct Call {
    template <class... Parameters>
    Call(EveryCall& every, CUresult (*function)(Parameters...), std::decay_t<Parameters>... arguments) {
      ++every.answers[function(arguments...)];
      (every.keep(arguments), ...);
    }
  };
  template <class... Parameters>
  void apply(CUresult (*function)(Parameters...)) {
    Call{*this, function, make<Parameters>()...};
  }

  // Small, since it may say how long an array is: flags have low bits, too.
  unsigned number() {
    const unsigned kinds[] = {static_cast<unsigned>(random_() % 4), static_cast<unsigned>(random_() % 70),
                              1u << random_() % 8};
    return kinds[random_() % 3];
  }

  // A size that no copy into the scratch memory can overrun, or one that no machine has.
  std::uint64_t size() { return random_() % 8 == 0 ? ~std::uint64_t{0} >> random_() % 16 : random_() % 65; }

  template <class T>
  static constexpr bool is_handle() {
    return std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>> &&
           !is_complete<std::remove_pointer_t<T>>(0);
  }
  template <class T, std::size_t = sizeof(T)>
  static constexpr bool is_complete(int) {
    return true;
  }
  template <class T>
  static constexpr bool is_complete(...) {
    return std::is_void_v<T>;
  }

  template <class T>
  T make() {
    if constexpr (std::is_same_v<T, CUhostFn>) {
      return &nothing;
    } else if constexpr (std::is_same_v<T, CUstreamCallback>) {
      return &nothing_of_stream;
    } else if constexpr (std::is_same_v<T, CUoccupancyB2DSize>) {
      return random_() % 2 == 0 ? nullptr : &nothing_needed;
    } else if constexpr (std::is_same_v<T, CUdevice>) {  // an int, like other numbers
      return static_cast<int>(random_() % 4 != 0 ? random_() % 3 : number());
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(number());
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(number());
    } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {  // CUdeviceptr, too
      const auto known = handle(typeid(CUdeviceptr));
      return static_cast<T>(random_() % 2 == 0 && known != 0 ? known + random_() % 3 * 8 : size());
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(number());
    } else if constexpr (std::is_same_v<T, const char*>) {
      constexpr const char* kTexts[] = {"vadd",       "counter", "inc",         "/nonexistent/file",
                                        "cuMemAlloc", "",        "0000:00:06.0"};
      return random_() % 8 == 0 ? nullptr : kTexts[random_() % std::size(kTexts)];
    } else if constexpr (std::is_function_v<std::remove_pointer_t<T>>) {
      return nullptr;
    } else if constexpr (is_handle<T>()) {
      return reinterpret_cast<T>(handle(typeid(T)));
    } else if constexpr (std::is_same_v<T, const void*>) {
      return random_() % 3 == 0 ? static_cast<const void*>(image_.c_str()) : pointer();
    } else if constexpr (std::is_pointer_v<T>) {
      using Target = std::remove_const_t<std::remove_pointer_t<T>>;
      if constexpr (std::is_pointer_v<Target> || std::is_integral_v<Target>) {
        // In: an array of handles. Out: where one is put.
        if constexpr (is_handle<Target>() || sizeof(Target) == 8) {
          if (std::is_pointer_v<Target> && !is_handle<Target>()) {
            for (std::uintptr_t& word : slot_) word = reinterpret_cast<std::uintptr_t>(scratch_.any());
          } else {
            slot_[0] = is_handle<Target>() ? handle(typeid(Target)) : random_() % 65;
            slot_[1] = 0;
          }
          if (random_() % 8 != 0) return reinterpret_cast<T>(slot_);
          if (!is_handle<Target>()) return nullptr;
        }
      }
      return static_cast<T>(pointer());
    } else {  // a structure by value
      T value{};
      return value;
    }
  }

  void* pointer() {
    switch (random_() % 8) {
      case 0: return nullptr;
      case 1: return scratch_.zero();
      default: return scratch_.any();
    }
  }

  // A known value of this kind; at times of another, or of none.
  std::uintptr_t handle(std::type_index kind) {
    if (random_() % 16 == 0) kind = kinds_.empty() ? kind : kinds_[random_() % kinds_.size()];
    const auto& known = known_[kind];
    if (known.empty() || random_() % 8 == 0) return random_() % 2 == 0 ? 0 : random_() % 3;
    return known[random_() % known.size()];
  }

  // What a call may have put into an output is a handle of that kind from now on.
  template <class T>
  void keep(T argument) {
    if constexpr (std::is_pointer_v<T>) {
      using Target = std::remove_pointer_t<T>;
      if constexpr (!std::is_const_v<Target> && !std::is_void_v<Target>) {
        if constexpr (is_complete<Target>(0)) {
          if constexpr (is_handle<Target>() || std::is_same_v<Target, CUdeviceptr>) {
            if (reinterpret_cast<std::uintptr_t*>(argument) != slot_ || slot_[0] <= 2) return;
            auto& known = known_[typeid(Target)];
            if (known.empty()) kinds_.push_back(typeid(Target));
            if (known.size() < 24) {
              known.push_back(slot_[0]);
            } else {
              known[random_() % known.size()] = slot_[0];
            }
          }
        }
      }
    }
  }

  std::mt19937_64 random_;
  Scratch scratch_;
  const std::string image_;
  std::uintptr_t slot_[512] = {};  // a call may write an array here
  std::map<std::type_index, std::vector<std::uintptr_t>> known_;
  std::vector<std::type_index> kinds_;
};

// A folder of its own to work in, which goes again: some calls write files (cuGraphDebugDotPrint).
struct Elsewhere {
  std::filesystem::path before = std::filesystem::current_path();
  std::string folder = std::filesystem::temp_directory_path() / "every-call-XXXXXX";

  Elsewhere() { std::filesystem::current_path(mkdtemp(folder.data())); }
  ~Elsewhere() {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(folder);
  }
};

}  // namespace

FRESH_CASE("Every function returns for arguments of the right types without meaning", "[abuse]") {
  conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("a GPU's driver (580) does not come back from some of these calls");
  const char* count = std::getenv("CONFORMANCE_CALLS");
  const char* seed = std::getenv("CONFORMANCE_SEED");
  EveryCall every(seed != nullptr ? std::strtoul(seed, nullptr, 10) : 20261121);
  if (!every.can()) SKIP_TEST("no memory where it would have to be");
  const Elsewhere elsewhere;
  const bool told = std::getenv("CONFORMANCE_TELL") != nullptr;
  for (long call = count != nullptr ? std::atol(count) : 20000; call > 0; --call) {
    every.make_call();
    if (told) std::fprintf(stderr, "%s\n", every.last);
    // What captures a stream, or has no context any more, would leave little to see.
    CUcontext current = nullptr;
    if (call % 256 == 0 && (cuCtxGetCurrent(&current) != CUDA_SUCCESS || cuCtxSynchronize() != CUDA_SUCCESS)) {
      CUcontext fresh = nullptr;
      if (cuCtxCreate(&fresh, nullptr, 0, 0) != CUDA_SUCCESS) break;
    }
  }
  for (const auto& [answer, times] : every.answers)
    conformance::record(std::string(cu::name(answer)) + " " + std::to_string(times));
  CHECK(every.answers[CUDA_SUCCESS] > 0);
}
#endif
