// Every name of the driver API that is not implemented elsewhere: it exists, says once that it is not simulated, and
// answers CUDA_ERROR_NOT_SUPPORTED. The definitions here are weak, so that implementing a function means writing it:
// the strong one takes its place, here and in the table of names.
//
// cuda.h is left out on purpose: the names are declared without their parameters, so that the same table serves every
// toolkit, older ones included that do not know all of them.
#include "common/simulator/api/entry_points.hpp"

#define REFUSE(symbol) \
  extern "C" __attribute__((weak, visibility("default"))) int symbol() { return cudasim::refused_call(#symbol); }
#define ENTRY(name, since, symbol) REFUSE(symbol)
#define ENTRY_PER_THREAD(name, since, symbol, per_thread_since, per_thread_symbol) \
  REFUSE(symbol)                                                                   \
  REFUSE(per_thread_symbol)
#include "common/simulator/api/entry_points.inc"
#undef ENTRY
#undef ENTRY_PER_THREAD

namespace cudasim {

#define ENTRY(name, since, symbol) {#name, since, #symbol, reinterpret_cast<void*>(&symbol), 0, nullptr},
#define ENTRY_PER_THREAD(name, since, symbol, per_thread_since, per_thread_symbol) \
  {#name,                                                                          \
   since,                                                                          \
   #symbol,                                                                        \
   reinterpret_cast<void*>(&symbol),                                               \
   per_thread_since,                                                               \
   reinterpret_cast<void*>(&per_thread_symbol)},
std::span<const EntryPoint> entry_points() {
  static const EntryPoint table[] = {
#include "common/simulator/api/entry_points.inc"
  };
  return table;
}

}  // namespace cudasim
