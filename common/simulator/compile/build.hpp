// From C++ to machine code: the user's compiler and the user's cache.
#pragma once
#include "common/simulator/exec/compiled.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace cudasim::compile {

constexpr u64 kMostBytes = u64{256} << 20;  // of the cache

struct Source {
  std::string name, text;
};

// The library that was compiled from this text before, if the cache contains it undamaged.
std::optional<std::filesystem::path> kept(const Source& source);
// The same, but compiles the text if necessary. Empty if there is no compiler or no space, or if the compiler fails.
// `politely`: at a low priority, and not while another process of the user compiles.
std::optional<std::filesystem::path> make(const Source& source, bool politely = false);
// Whether a library ends with the mark that make() appends, so that nothing of it is missing.
bool is_whole(const std::filesystem::path& library);
// Removes the entries that have not been used for longest until the others are small enough.
void make_room(const std::filesystem::path& own, u64 most);
// Null if it is no library of ours.
const Compiled* load(const std::filesystem::path& library);

// The headers that the text includes as cudasim.hpp (headers.cpp).
const std::string& headers();

}  // namespace cudasim::compile
