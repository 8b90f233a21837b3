// Decides which kernels are compiled and when, and passes them to the executor.
#include "common/simulator/compile/compile.hpp"

#include "common/simulator/compile/build.hpp"
#include "common/simulator/compile/compiler.hpp"
#include "common/simulator/compile/write.hpp"
#include "common/simulator/wanted.hpp"

#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

namespace cudasim {
namespace compile {
namespace {

constexpr i64 kWarm = 1'000'000;  // instructions of a kernel until the cache is asked for it
constexpr i64 kHot = 30'000'000;  // until it is compiled: about half a second of one thread
constexpr u32 kLargest = 1'000;  // instructions of a function that is compiled at all: ten seconds of the compiler

u32 index_of(const Shape& shape) { return !shape.even ? 3 : shape.rows == 1 ? 0 : shape.rows == 2 ? 1 : 2; }

// Registers that a later instruction writes are the interpreter's.
bool can_be_compiled(const Code& code) { return code.instructions.size() <= kLargest && !code.defers_sums; }

const Compiled* library_of(const std::optional<std::filesystem::path>& entry) { return entry ? load(*entry) : nullptr; }

Source source_of(const Code& code, const Shape& shape, bool entry) {
  std::string text = (entry ? "// Kernel " : "// Function ") + code.name +
                     ", by the simulated GPU (common/simulator/compile/README.md).\n";
  text += "constexpr unsigned kRows = " + std::to_string(shape.rows) +
          ";\nconstexpr unsigned long kLocalWindow = " + std::to_string(kLocalWindow) +
          ", kWindowBytes = " + std::to_string(kWindowBytes) +
          ";\n#include \"cudasim.hpp\"\n\nusing namespace cudasim;\n\n";
  return {code.name, text + written(code, shape, entry)};
}

// The functions that a kernel may call, as far as they can be compiled; through a pointer, it may call any.
std::vector<const Code*> callees(const Program& program, const Code& kernel) {
  constexpr std::size_t kMost = 32;
  std::set<const Code*> seen{&kernel};
  for (const auto* each : {&program.kernels, &program.runtime_kernels}) {
    for (const Kernel& entry : *each) seen.insert(program.functions[entry.function].get());
  }
  std::vector<const Code*> found{&kernel};
  const auto add = [&](u32 function) {
    const Code* code = program.functions[function].get();
    if (found.size() <= kMost && seen.insert(code).second && can_be_compiled(*code)) found.push_back(code);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const CallSite& site : found[i]->calls) {
      if (site.callee < program.functions.size()) add(site.callee);
      for (u32 any = 0; site.callee == kNoTarget && any < program.functions.size(); ++any) add(any);
    }
  }
  found.erase(found.begin());
  return found;
}

struct Job {
  std::shared_ptr<const Program> program;
  const Code* code;
  Shape shape;
  bool only_look = false;  // in the cache

  // A kernel that is in the cache has run long before, and so have its functions.
  void run() const {
    if (!run(*code, true, only_look)) return;
    for (const Code* callee : callees(*program, *code)) run(*callee, false, false);
  }

 private:
  bool run(const Code& function, bool entry, bool look) const {
    auto& compiled = function.compiled[index_of(shape)];
    if (compiled.load(std::memory_order_acquire) != nullptr) return true;
    const Source source = source_of(function, shape, entry);
    const Compiled* found = library_of(look ? kept(source) : make(source, true));
    if (found != nullptr) compiled.store(found, std::memory_order_release);
    return found != nullptr;
  }
};

// A thread that compiles one kernel after the other. It is never joined: what it uses is never destroyed.
class Worker {
 public:
  static Worker& instance() {
    static Worker& worker = *new Worker;
    return worker;
  }
  void add(Job job) {
    if (owner_ != getpid()) return;  // a copy of the process that has only been forked has no such thread
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (!started_) start();
    changed_.notify_one();
  }

 private:
  // The program's handlers of signals do not run in it.
  void start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    started_ = true;
  }
  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !jobs_.empty(); });
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      try {
        job.run();
      } catch (const std::exception&) {
        // The interpreter goes on.
      }
    }
  }
  const pid_t owner_ = getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool started_ = false;
};

// The code, compiled now if need be. A launch that comes while its kernel is compiled waits for it.
const Compiled* now(const Program& program, const Code& code, const Shape& shape) {
  const u32 index = index_of(shape);
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  if (const Compiled* made = code.compiled[index].load(std::memory_order_acquire)) return made;
  if (code.refused[index].exchange(true)) return nullptr;
  const auto compile = [&](const Code& function, bool entry) {
    if (function.compiled[index].load(std::memory_order_acquire) == nullptr)
      function.compiled[index].store(library_of(make(source_of(function, shape, entry))), std::memory_order_release);
  };
  for (const Code* callee : callees(program, code)) compile(*callee, false);
  compile(code, true);
  return code.compiled[index].load(std::memory_order_acquire);
}

const Compiled* find(const Launch& launch, CompileWanted::When when) {
  const Code& code = *launch.program->functions[launch.kernel->function];
  const Shape shape = shape_of(launch.block);
  const u32 index = index_of(shape);
  if (const Compiled* made = code.compiled[index].load(std::memory_order_acquire)) return made;
  if (!can_be_compiled(code)) return nullptr;
  if (when == CompileWanted::now) return now(*launch.program, code, shape);
  const i64 spent = code.spent.load(std::memory_order_relaxed);
  if (spent < kWarm || code.refused[index].load(std::memory_order_relaxed)) return nullptr;
  if (!code.looked[index].exchange(true)) Worker::instance().add({launch.program, &code, shape, true});
  if (spent >= kHot && !code.refused[index].exchange(true)) Worker::instance().add({launch.program, &code, shape});
  return nullptr;
}

// Whatever goes wrong, the interpreter runs the kernel.
FoundCompiled find_safely(const Launch& launch, CompileWanted::When when) {
  try {
    return {find(launch, when), index_of(shape_of(launch.block))};
  } catch (const std::exception&) {
    return {};
  }
}

FoundCompiled find_wanted(const Launch& launch) { return find_safely(launch, compile_wanted().when); }

}  // namespace
}  // namespace compile

FindCompiled wanted_compiled() {
  static const FindCompiled wanted = [] {
    if (compile_wanted().when == CompileWanted::off) return FindCompiled{nullptr};
    compile::remember_environment();
    return FindCompiled{compile::find_wanted};
  }();
  return wanted;
}

FoundCompiled compile_now(const Launch& launch) {
  compile::remember_environment();
  return compile::find_safely(launch, CompileWanted::now);
}

}  // namespace cudasim
