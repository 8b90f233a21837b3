// What other files ask about reserved addresses. virtual_memory.cpp
#pragma once
#include "common/simulator/types.hpp"

#include <optional>
#include <utility>

namespace cudasim {

// The address and size of the reservation (cuMemAddressReserve) that holds `address`.
std::optional<std::pair<u64, u64>> reservation_at(u64 address);

}  // namespace cudasim
