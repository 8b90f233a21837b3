// How the checks report: like a fault's report, but the kernel goes on.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace cudasim {

struct Grid;

// Prints a report of title and rows, unless one of the same `key` has been printed. The kernel's name is the first row.
void find(const Grid& grid, const std::string& title, const std::string& key,
          const std::vector<std::pair<const char*, std::string>>& rows);
// The same for what happens on the host.
void find(const std::string& title, const std::string& key,
          const std::vector<std::pair<const char*, std::string>>& rows);

}  // namespace cudasim
