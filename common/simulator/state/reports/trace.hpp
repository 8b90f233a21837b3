// CUDASIM_TRACE=api: each driver call on stderr. trace.cpp
#pragma once
#include "common/simulator/names.hpp"
#include "common/simulator/state/reports/argument.hpp"

#include <string>

namespace cudasim {

// `why` explains a failure.
void trace_call(const Call& call, CUresult result, const std::string& why);

}  // namespace cudasim
