// What calls have answered other than success, as text for the program (CUDA Driver API manual, "Error Log Management
// Functions").
#pragma once
#include <cuda.h>

#include <string>

namespace cudasim {

// Notes an answer, and why if there is more to say, and tells it to those who asked for that. Never throws.
void log_answer(const char* function, CUresult result, const std::string& why) noexcept;

}  // namespace cudasim
