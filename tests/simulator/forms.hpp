// An instruction's full form, "add.rn.ftz.f32", as tests of the table ask for it.
#pragma once
#include "common/simulator/isa/row.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace cudasim {

inline std::vector<std::string> modifiers(const std::string& form) {
  std::vector<std::string> result;
  std::stringstream stream(form);
  for (std::string word; std::getline(stream, word, '.');) result.push_back(word);
  result.erase(result.begin());
  return result;
}

inline Match find(const std::string& form) { return match(form.substr(0, form.find('.')), modifiers(form)); }

}  // namespace cudasim
