// Fixed-width integers and the width of a warp, without a header of the C++ library: the code that compile/ generates
// begins with this file.
#pragma once

namespace cudasim {

using u8 = __UINT8_TYPE__;
using u16 = __UINT16_TYPE__;
using u32 = __UINT32_TYPE__;
using u64 = __UINT64_TYPE__;
using i8 = __INT8_TYPE__;
using i16 = __INT16_TYPE__;
using i32 = __INT32_TYPE__;
using i64 = __INT64_TYPE__;
using u128 = unsigned __int128;

constexpr u32 kWarpSize = 32;
constexpr u32 kAllLanes = ~0u;

}  // namespace cudasim
