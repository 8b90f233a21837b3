// Families that have no file yet: no rows. A family's own definition takes the place of the one here; its line goes
// when it lands, and so does this file in the end.
#include "common/simulator/isa/row.hpp"

namespace cudasim {

#define PENDING(rows) \
  __attribute__((weak)) std::span<const Row> rows() { return {}; }

PENDING(texture_rows)

}  // namespace cudasim
