#include "common/simulator/state/occupancy.hpp"

namespace cudasim {
u32 blocks_per_multiprocessor(const Function& function, u64 threads, u64 dynamic_shared) {
  return blocks_per_multiprocessor(*function.kernel, function.current_settings(), threads, dynamic_shared);
}

u32 blocks_per_multiprocessor(const Kernel& kernel, const FunctionSettings& settings, u64 threads, u64 dynamic_shared) {
  if (threads == 0 || threads > max_threads_per_block(kernel)) return 0;
  if (dynamic_shared > static_cast<u64>(settings.max_dynamic_shared)) return 0;
  return blocks_that_fit(kernel, threads, dynamic_shared);
}

}  // namespace cudasim
