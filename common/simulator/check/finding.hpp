// How the checks speak: as the report of a fault does, but the kernel goes on.
#pragma once
#include "common/simulator/check/touch.hpp"

#include <string>
#include <utility>
#include <vector>

namespace cudasim {

struct Grid;

// "kernels.cu:12", "kernels.cu:12 (in header.hpp:340)" if that was inlined there, or "PTX line 93".
std::string where(const Program& program, const Place& place);
std::string thread_name(const Grid& grid, u64 block, u32 thread);  // "thread (3,0,0) of block (0,0,0)"
// What lies at an address of shared memory: "12 bytes into 'tile', at offset 140 of the block's shared memory".
std::string shared_name(const Grid& grid, u64 address);

// "cuMemAlloc" of "cuMemAlloc_v2_ptsz".
std::string plain_name(std::string name);

// Prints a report of title and rows, unless one of the same `key` has been printed; the kernel's name is the first row.
void find(const Grid& grid, const std::string& title, const std::string& key,
          const std::vector<std::pair<const char*, std::string>>& rows);
// The same for what happens on the host's side.
void find(const std::string& title, const std::string& key,
          const std::vector<std::pair<const char*, std::string>>& rows);

}  // namespace cudasim
