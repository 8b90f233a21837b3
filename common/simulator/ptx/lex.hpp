// From PTX text to tokens. Source: PTX ISA, "Syntax": "Comments", "Identifiers", "Constants".
#pragma once
#include "common/simulator/types.hpp"

#include <string_view>
#include <vector>

namespace cudasim::ptx {

struct Token {
  enum Kind : u8 {
    end,
    name,        // add, %r1, $L__BB0_2, _Z3fooPf
    dotted,      // .reg, .shared::cta, .m16n8k8, .2d: what follows an opcode, or starts a directive
    integer,     // 42, 0x2A, 052, 0b101, 42U
    real,        // 1.5, 0f3F800000, 0d3FF0000000000000
    string,      // "…" with its quotes
    punctuator,  // Token::code
    bad,         // a character that has no place in PTX, or a string or comment without an end
  };
  Kind kind = end;
  u16 code = 0;  // of a punctuator: its character, or both characters of <<, >>, ==, !=, <=, >=, &&, ||: see pair()
  u32 offset = 0, length = 0;
  u32 line = 0, column = 0;
};

constexpr u16 pair(char first, char second) {
  return static_cast<u16>((static_cast<u8>(first) << 8) | static_cast<u8>(second));
}

// The whole text, in one pass; the last token is `end`. Texts of 4 GiB and more are cut short.
std::vector<Token> lex(std::string_view text);

}  // namespace cudasim::ptx
