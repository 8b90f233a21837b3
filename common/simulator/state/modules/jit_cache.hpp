// The cache of compiled PTX on disk (CUDA C++ Programming Guide, "CUDA Environment Variables": CUDA_CACHE_PATH,
// CUDA_CACHE_DISABLE, CUDA_CACHE_MAXSIZE). An entry of ours is a text that has been translated without an error.
// Without CUDA_CACHE_PATH, nothing is cached: the simulator leaves the user's home folder alone.
#pragma once
#include <string_view>

namespace cudasim {

// CUDA_DISABLE_PTX_JIT: what would have to be compiled fails to load.
bool jit_disabled();
// Whether this text has been compiled before, and is still in the cache. The text includes the options that matter.
bool in_jit_cache(std::string_view text);
// Does nothing if the folder cannot be written, or if the text is larger than the cache.
void add_to_jit_cache(std::string_view text);

}  // namespace cudasim
