// The codes' names and sentences.
#pragma once
#include "common/simulator/names.hpp"
#include "common/simulator/state/errors/error_table.hpp"

namespace cudasim {

// Null for an unknown code.
const ErrorText* error_text(CUresult code);

// For reports: of everything.
const char* error_name(CUresult code);

}  // namespace cudasim
