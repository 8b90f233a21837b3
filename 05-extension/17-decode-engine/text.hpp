// Text as tokens, and what PyTorch has written.
#pragma once
#include "model.hpp"

#include <filesystem>
#include <optional>

namespace engine {

class Characters {
 public:
  explicit Characters(const std::vector<int>& codes) : codes_(codes) {}

  std::string text(int token) const {
    const unsigned code = codes_[token];
    if (code == 0) return "?";
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    const auto last = [](unsigned bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
    if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), last(code)};
    return {static_cast<char>(0xe0 | code >> 12), last(code >> 6), last(code)};  // the model has no larger codes
  }
  // The tokens of a text. A character that the model does not have is a mistake.
  std::vector<int> tokens(const std::string& text) const {
    std::vector<int> found;
    for (std::size_t at = 0; at < text.size();) {
      int token = 0;
      while (token < static_cast<int>(codes_.size()) && text.compare(at, size(token), this->text(token)) != 0) ++token;
      if (token == static_cast<int>(codes_.size())) {
        throw Problem("the model has no character like the one at byte " + std::to_string(at + 1) + " of \"" + text +
                      "\". Use the letters, digits and signs of English text");
      }
      found.push_back(token), at += size(token);
    }
    return found;
  }
  int newline() const { return tokens("\n")[0]; }

 private:
  std::size_t size(int token) const { return text(token).size(); }
  std::vector<int> codes_;
};

// What PyTorch has written: in train.py, for each way, the prompt, the reply, and by how much numbers would have to
// change for another token.
struct Expected {
  bool four_bit;
  Request request;
  std::vector<int> prompt, tokens;
  std::vector<float> margins;
};
inline std::vector<Expected> read_expected(const std::string& path) {
  std::ifstream in(path);
  std::vector<Expected> all;
  int four_bit, prompt, tokens;
  Request r{};
  while (in >> four_bit >> r.temperature >> r.top_k >> r.seed >> prompt >> tokens) {
    r.limit = prompt + tokens, r.end = -1;
    Expected e{four_bit != 0, r, std::vector<int>(prompt), std::vector<int>(tokens), std::vector<float>(tokens)};
    for (int& token : e.prompt) in >> token;
    for (int& token : e.tokens) in >> token;
    for (float& margin : e.margins) in >> margin;
    if (in) all.push_back(e);
  }
  return all;
}

// The model next to the program: of several, the one that was trained with the most steps.
inline std::string model_path() {
  const std::filesystem::path folder = std::filesystem::path(cu::image("")).parent_path();
  std::string best;
  int most = -1;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("model.", 0) != 0 || name.find_first_not_of("0123456789", 6) != std::string::npos) continue;
    if (const int steps = std::atoi(name.c_str() + 6); steps > most) most = steps, best = entry.path().string();
  }
  return best.empty() ? (folder / "model.1000").string() : best;
}

}  // namespace engine
