// From PTX text to tokens.
#include "common/simulator/ptx/lex.hpp"

#include <algorithm>
#include <array>

namespace cudasim::ptx {
namespace {

enum : u8 { kLetter = 1, kDigit = 2, kFollow = 4, kSpace = 8 };

constexpr std::array<u8, 256> classes() {
  std::array<u8, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = kLetter | kFollow;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = kLetter | kFollow;
  for (int c = '0'; c <= '9'; ++c) table[c] = kDigit | kFollow;
  table['_'] = table['$'] = kLetter | kFollow;
  for (char c : {' ', '\t', '\r', '\n', '\f'}) table[static_cast<u8>(c)] = kSpace;
  return table;
}
constexpr std::array<u8, 256> kClass = classes();

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text.substr(0, 0xffff'fff0u)) {}

  std::vector<Token> run() {
    tokens_.reserve(text_.size() / 5 + 16);
    while (skip_space()) next();
    begin();
    finish(Token::end);
    return std::move(tokens_);
  }

 private:
  bool is(u32 at, u8 mask) const { return at < text_.size() && (kClass[static_cast<u8>(text_[at])] & mask) != 0; }
  char peek(u32 ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  // Skips blanks and comments; false at the end of the text.
  bool skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        ++at_, ++line_, line_start_ = at_;
      } else if (is(at_, kSpace)) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        const u32 end = static_cast<u32>(std::min(text_.find('\n', at_), text_.size()));
        refuse_beyond_ascii(end);
        at_ = end;
      } else if (peek() == '/' && peek(1) == '*') {
        skip_comment();
      } else if (marks_line()) {
        at_ = static_cast<u32>(std::min(text_.find('\n', at_), text_.size()));
      } else {
        return true;
      }
    }
    return false;
  }

  // What a C preprocessor leaves behind: # 1 "file.h" on a line of its own.
  bool marks_line() const {
    if (peek() != '#') return false;
    for (u32 before = at_; before > line_start_; --before) {
      if (!is(before - 1, kSpace)) return false;
    }
    u32 at = at_ + 1;
    while (at < text_.size() && text_[at] != '\n' && is(at, kSpace)) ++at;
    return is(at, kDigit);
  }

  // ptxas refuses such bytes even in comments (observed on an H200, driver 580).
  void refuse_beyond_ascii(u32 end) {
    const auto comment = text_.substr(at_, end - at_);
    const auto found = std::find_if(comment.begin(), comment.end(), [](char c) { return (c & 0x80) != 0; });
    if (found == comment.end()) return;
    at_ += static_cast<u32>(found - comment.begin());
    begin();
    ++at_;
    finish(Token::bad);
  }

  void skip_comment() {
    begin();
    const std::size_t close = text_.find("*/", at_ + 2);
    const u32 stop = static_cast<u32>(close == std::string_view::npos ? text_.size() : close + 2);
    if (close != std::string_view::npos) refuse_beyond_ascii(stop);
    for (; at_ < stop; ++at_) {
      if (text_[at_] == '\n') ++line_, line_start_ = at_ + 1;
    }
    if (close == std::string_view::npos) finish(Token::bad);
  }

  void begin() {
    token_ = Token{};
    token_.offset = at_;
    token_.line = line_;
    token_.column = at_ - line_start_ + 1;
  }
  void finish(Token::Kind kind) {
    token_.kind = kind;
    token_.length = at_ - token_.offset;
    tokens_.push_back(token_);
  }

  void next() {
    begin();
    const char c = text_[at_];
    if (is(at_, kLetter) || (c == '%' && starts_name())) return name();
    if (is(at_, kDigit)) return number();
    if (c == '.') {
      // `.5` is a number, but what directly follows a name is a modifier: tex.2d
      if (is(at_ + 1, kDigit) && !follows_name()) return number();
      if (is(at_ + 1, kFollow)) return dotted();
    }
    if (c == '"') return string();
    punctuator();
  }

  // Whether the token before ends where this one starts, and is one that a modifier may follow.
  bool follows_name() const {
    if (tokens_.empty()) return false;
    const Token& before = tokens_.back();
    return (before.kind == Token::name || before.kind == Token::dotted) && before.offset + before.length == at_;
  }
  // After a value, % is the remainder's operator.
  bool starts_name() const {
    if (!is(at_ + 1, kFollow)) return false;
    if (tokens_.empty()) return true;
    const Token& before = tokens_.back();
    return before.kind != Token::integer && before.kind != Token::real && before.code != ')';
  }

  void name() {
    ++at_;
    while (is(at_, kFollow)) ++at_;
    finish(Token::name);
  }

  void dotted() {
    ++at_;
    for (;;) {
      while (is(at_, kFollow)) ++at_;
      if (!(peek() == ':' && peek(1) == ':' && is(at_ + 2, kFollow))) break;
      at_ += 2;
    }
    finish(Token::dotted);
  }

  // Takes all that can belong to a number; whether it makes sense, the parser says.
  void number() {
    const char second = static_cast<char>(peek(1) | 0x20);
    const bool prefixed = peek() == '0' && (second == 'x' || second == 'f' || second == 'd' || second == 'b');
    bool real = peek() == '0' && (second == 'f' || second == 'd');
    if (prefixed) {
      at_ += 2;
      while (is(at_, kFollow)) ++at_;
      return finish(real ? Token::real : Token::integer);
    }
    while (is(at_, kDigit)) ++at_;
    if (peek() == '.') {
      real = true;
      ++at_;
      while (is(at_, kDigit)) ++at_;
    }
    if ((peek() | 0x20) == 'e') {
      const u32 sign = (peek(1) == '+' || peek(1) == '-') ? 1 : 0;
      if (is(at_ + 1 + sign, kDigit)) {
        real = true;
        at_ += 1 + sign;
      }
    }
    while (is(at_, kFollow)) ++at_;
    finish(real ? Token::real : Token::integer);
  }

  void string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
    }
    if (peek() != '"') {  // the quotation mark alone is what is wrong
      at_ = token_.offset + 1;
      finish(Token::bad);
      at_ = static_cast<u32>(std::min(text_.find('\n', at_), text_.size()));
      return;
    }
    ++at_;
    finish(Token::string);
  }

  void punctuator() {
    const char c = text_[at_], d = peek(1);
    const u16 both = pair(c, d);
    if (both == pair('<', '<') || both == pair('>', '>') || both == pair('=', '=') || both == pair('!', '=') ||
        both == pair('<', '=') || both == pair('>', '=') || both == pair('&', '&') || both == pair('|', '|')) {
      token_.code = both;
      at_ += 2;
      return finish(Token::punctuator);
    }
    ++at_;
    constexpr std::string_view known = "{}[](),;:+-*/%<>=!~&|^?@.";
    if (c == '\0' || known.find(c) == std::string_view::npos) return finish(Token::bad);
    token_.code = static_cast<u8>(c);
    finish(Token::punctuator);
  }

  std::string_view text_;
  u32 at_ = 0, line_ = 1, line_start_ = 0;
  Token token_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view text) { return Lexer(text).run(); }

}  // namespace cudasim::ptx
