#include "common/simulator/profile/ncu.hpp"

#include "common/simulator/profile/counters.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace cudasim {
namespace {

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// 1,234,567
std::string with_commas(u64 number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string in_parentheses(Dim3 d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

struct Metric {
  std::string name, unit;
  u64 value;
};

std::vector<Metric> metrics(const KernelCount& count) {
  std::vector<Metric> all = {{"smsp__inst_executed.sum", "inst", count.warps},
                             {"smsp__thread_inst_executed.sum", "inst", count.lanes}};
  const auto global = [&](const char* space, const char* access, const GlobalCount& c) {
    const std::string path = std::string("_pipe_lsu_mem_") + space + "_op_" + access + ".sum";
    all.push_back({"l1tex__t_requests" + path, "request", c.requests});
    all.push_back({"l1tex__t_sectors" + path, "sector", c.sectors});
  };
  global("global", "ld", count.loads);
  global("global", "st", count.stores);
  global("global", "atom", count.atomics);
  global("global", "red", count.reductions);
  global("local", "ld", count.local_loads);
  global("local", "st", count.local_stores);
  const auto shared = [&](const char* access, const SharedCount& c) {
    const std::string path = std::string("_pipe_lsu_mem_shared_op_") + access + ".sum";
    all.push_back({"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + std::string(access) + ".sum", "", c.wavefronts});
    all.push_back({"l1tex__data_bank_conflicts" + path, "", c.conflicts()});
  };
  shared("ld", count.shared_loads);
  shared("st", count.shared_stores);
  shared("atom", count.shared_atomics);
  std::sort(all.begin(), all.end(), [](const Metric& a, const Metric& b) { return a.name < b.name; });
  return all;
}

}  // namespace

std::string ncu_heading() {
  return "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","
         "\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
}

std::string ncu_rows(const NcuLaunch& launch, const KernelCount& count) {
  const std::string process =
      in_quotes(std::to_string(getpid())) + "," + in_quotes(program_invocation_short_name) + ",\"127.0.0.1\",";
  const std::string before = in_quotes(std::to_string(launch.id)) + "," + process + in_quotes(launch.kernel) +
                             ",\"1\",\"7\"," + in_quotes(in_parentheses(launch.block)) + "," +
                             in_quotes(in_parentheses(launch.grid)) +
                             ",\"0\",\"9.0\",\"Command line profiler metrics\",";
  std::string rows;
  for (const Metric& metric : metrics(count)) {
    rows += before + in_quotes(metric.name) + "," + in_quotes(metric.unit) + "," +
            in_quotes(with_commas(metric.value)) + "\n";
  }
  return rows;
}

}  // namespace cudasim
