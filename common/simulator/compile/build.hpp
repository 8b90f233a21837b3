// From C++ to machine code: the user's compiler and the user's cache.
#pragma once
#include "common/simulator/exec/compiled.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace cudasim::compile {

struct Source {
  std::string name, text;
};

// The library in the cache that was made of this text before, if it is whole; nothing: there is none.
std::optional<std::filesystem::path> kept(const Source& source);
// The same, compiled if need be. Nothing: there is no compiler, no room, or the compiler has failed.
std::optional<std::filesystem::path> make(const Source& source);
// Whether the end of a library is its mark, which make() has appended.
bool is_whole(const std::filesystem::path& library);
// Null if it is no library of ours.
const Compiled* load(const std::filesystem::path& library);

// The headers that the text includes as cudasim.hpp (headers.cpp).
const std::string& headers();

}  // namespace cudasim::compile
