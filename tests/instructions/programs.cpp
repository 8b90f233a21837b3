// Runs the programs on the device at hand, some to a module, since a driver takes its time for each module.
#include "tests/catch.hpp"
#include "tests/instructions/apart.hpp"
#include "tests/instructions/bulk.hpp"
#include "tests/instructions/device.hpp"

#include <map>

namespace {

using namespace instructions;

constexpr std::size_t kProgramsInModule = 25;

std::string hexadecimal(u64 x) { return (std::ostringstream() << "0x" << std::hex << x).str(); }

std::string run(const Program& p, CUfunction function) {
  const u32 threads = p.threads * p.cluster;
  std::vector<Words> words;
  for (u32 t = 0; t < threads; ++t) words.push_back(p.in(t));
  Words given;
  for (u32 i = 0; i < 8; ++i) given[i] = word(kGiven, i);
  std::vector<Results> got(threads);
  CUdeviceptr in = 0, scratch = 0, out = 0;
  CU_CHECK(cuMemAlloc(&in, threads * sizeof(Words)));
  CU_CHECK(cuMemAlloc(&scratch, threads * sizeof(Words)));
  CU_CHECK(cuMemAlloc(&out, threads * sizeof(Results)));
  CU_CHECK(cuMemcpyHtoD(in, words.data(), threads * sizeof(Words)));
  CU_CHECK(cuMemsetD8(out, 0xee, threads * sizeof(Results)));
  void* parameters[] = {&in, &scratch, &out, &given};
  CU_CHECK(cuLaunchKernel(function, p.cluster, 1, 1, p.threads, 1, 1, 0, nullptr, parameters, nullptr));
  CU_CHECK(cuMemcpyDtoH(got.data(), out, threads * sizeof(Results)));
  for (const CUdeviceptr memory : {in, scratch, out}) CU_CHECK(cuMemFree(memory));
  for (u32 t = 0; t < threads; ++t) {
    const Results want = p.want(t);
    for (u32 k = 0; k < 4; ++k) {
      if (got[t][k] != want[k])
        return "thread " + std::to_string(t) + ": %d" + std::to_string(k) + " = " + hexadecimal(got[t][k]) + ", not " +
               hexadecimal(want[k]);
    }
  }
  return "";
}

// False if they do not load; then the log says why.
bool run(const std::vector<const Program*>& programs, const std::string& head, std::string& log) {
  std::string text = head + constants();
  for (std::size_t k = 0; k < programs.size(); ++k) text += kernel(*programs[k], "k" + std::to_string(k));
  const CUmodule module = load(text, log);
  if (module == nullptr) return false;
  for (std::size_t k = 0; k < programs.size(); ++k) {
    CAPTURE(programs[k]->body);
    CUfunction function = nullptr;
    CU_CHECK(cuModuleGetFunction(&function, module, ("k" + std::to_string(k)).c_str()));
    CHECK(run(*programs[k], function) == "");
  }
  CU_CHECK(cuModuleUnload(module));
  return true;
}

void check(const Programs& programs) {
  const Device device;
  const int architecture = device.architecture();
  std::map<std::string, std::vector<const Program*>> waiting;  // by what the module begins with
  const auto run_those = [&](const std::string& head, const std::vector<const Program*>& some) {
    std::string log;
    if (some.empty() || run(some, head, log)) return;
    // One of them does not load; an older device has not all of them, nor has an older driver.
    for (const Program* p : some) {
      if (run({p}, head, log) || architecture < 90 || too_new(log)) continue;
      CAPTURE(p->body);
      CHECK(log == "");
    }
  };
  for (const Program& p : programs) {
    if (int(p.target) > architecture || (p.only_simulated && !device.simulated())) continue;
    const int version = Device::ptx_version(p.ptx);
    if (p.ptx > kPtx && version < p.ptx) continue;
    const bool old = p.target < 70;  // what ended with PTX ISA 6.3
    const std::string head = header(old ? 83 : version, old ? int(p.target) : architecture);
    if (!p.before.empty()) {  // functions, whose names are the same in each
      run_those(head, {&p});
      continue;
    }
    auto& some = waiting[head];
    some.push_back(&p);
    if (some.size() < kProgramsInModule) continue;
    run_those(head, some);
    some.clear();
  }
  for (const auto& [head, some] : waiting) run_those(head, some);
}

}  // namespace

TEST_CASE("loads read what is stored, in each space, width and order") { check(load_cases()); }
TEST_CASE("stores change what they name, in each space, width and order") { check(store_cases()); }
TEST_CASE("hints to caches change nothing") { check(hint_cases()); }
TEST_CASE("addresses of one space become those of another") { check(address_cases()); }
TEST_CASE("atomic operations change memory and tell what was there") { check(atomic_cases()); }
TEST_CASE("lanes exchange, vote and reduce") { check(warp_cases()); }
TEST_CASE("lanes at different places exchange, vote and reduce") { check(apart_cases()); }
TEST_CASE("barriers and fences make known what was written before") { check(barrier_cases()); }
TEST_CASE("an mbarrier counts arrivals and bytes") { check(mbarrier_cases()); }
TEST_CASE("asynchronous copies have arrived when they are awaited") { check(copy_cases()); }
TEST_CASE("bulk reductions and asynchronous stores tell their mbarrier or group") { check(bulk_cases()); }
TEST_CASE("asynchronous reductions change the other block's words") { check(remote_reduction_cases()); }
TEST_CASE("exits, sleeps and memory of the frame") { check(control_cases()); }
