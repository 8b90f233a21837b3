// Text for reports, tables and JSON files.
#pragma once
#include "common/simulator/types.hpp"

#include <string>

namespace cudasim {

// One line of a report; more if the text is long.
std::string row(const char* title, const std::string& text);

// "f(int)" for "_Z1fi"; other names stay as they are.
std::string demangled(const std::string& name);
// The same for reports: of a long name, template arguments and parameters are left out, "sort<…>(…)".
std::string readable(const std::string& name);
std::string coordinates(Dim3 d);  // "(1,0,0)"
// "warps 0 to 3, 5", "lane 7": the bits that are set.
std::string members(const char* one, u32 set);

// "cuMemAlloc" for "cuMemAlloc_v2_ptsz".
std::string plain_name(std::string name);

// In quotation marks.
std::string json_text(const std::string& text);

}  // namespace cudasim
