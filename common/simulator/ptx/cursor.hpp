// The parser's position in the tokens, and its errors about an unexpected one.
#pragma once
#include "common/simulator/ptx/lex.hpp"
#include "common/simulator/ptx/module.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudasim::ptx {

// Thrown inside the parser only; becomes a Diagnostic.
struct Failure {
  Position at;
  std::string message;
};

// Whether it ends the compilation, as ptxas has it: of what follows nothing is looked at.
bool is_fatal(const Diagnostic& error);

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text), tokens_(lex(text)) {}

  // There is always a token to look at: the last one is the end.
  const Token& peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : tokens_.back();
  }
  const Token& take() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  std::string_view text(const Token& token) const { return text_.substr(token.offset, token.length); }
  std::string_view next_text() const { return text(peek()); }
  Position where() const { return {peek().line, peek().column}; }
  bool at_end() const { return peek().kind == Token::end; }

  bool is(u16 code, std::size_t ahead = 0) const { return peek(ahead).code == code; }
  bool is_name() const { return peek().kind == Token::name; }
  bool is_dotted() const { return peek().kind == Token::dotted; }
  bool is_dotted(std::string_view word) const { return is_dotted() && next_text() == word; }
  bool accept(u16 code) {
    if (!is(code)) return false;
    take();
    return true;
  }
  bool accept_dotted(std::string_view word) {
    if (!is_dotted(word)) return false;
    take();
    return true;
  }
  bool accept_name(std::string_view word) {
    if (!is_name() || next_text() != word) return false;
    take();
    return true;
  }
  void expect(u16 code) {
    if (!accept(code)) unexpected();
  }
  std::string_view expect_name() {
    if (!is_name()) unexpected();
    return text(take());
  }

  // In ptxas's words.
  [[noreturn]] void unexpected() const {
    const Token& token = peek();
    const std::string_view found = text(token);
    if (token.kind == Token::end || (token.kind == Token::bad && found.substr(0, 2) == "/*")) {
      const char* reason = token.kind == Token::end ? "syntax error" : "unexpected EOF while scanning";
      fail(where(), std::string("Parsing error near '': ") + reason);
    }
    fail(where(), "Parsing error near '" + shown(found) + "': syntax error");
  }
  [[noreturn]] static void fail(Position at, std::string message) { throw Failure{at, std::move(message)}; }

  // What an error message can show of a text: not too long, no control characters.
  static std::string shown(std::string_view text) {
    std::string out;
    for (char c : text.substr(0, 80)) {
      const u8 byte = static_cast<u8>(c);
      constexpr char digits[] = "0123456789abcdef";
      if (byte >= 0x20 && byte < 0x7f) {
        out += c;
      } else {
        out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      }
    }
    return text.size() > 80 ? out + "..." : out;
  }

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace cudasim::ptx
