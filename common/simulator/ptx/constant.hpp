// Constant expressions: what may stand wherever PTX wants a number. Source: PTX ISA, "Constants", "Constant
// expressions", "Summary of constant expression evaluation rules".
#pragma once
#include "common/simulator/ptx/cursor.hpp"

namespace cudasim::ptx {

// Takes one literal: s64, u64 (suffix U, or too large for s64), f32 (0f…) or f64.
Immediate literal(Cursor& cursor);
// Takes a whole expression. Throws Failure.
Immediate constant_expression(Cursor& cursor);
// The same, but leaves a top-level | alone where a vertical bar separates operands.
Immediate operand_expression(Cursor& cursor);
// The n of %r<n>: comparisons and shifts need parentheses there.
Immediate angle_expression(Cursor& cursor);
// An expression that must be an integer.
i64 integer_expression(Cursor& cursor);
// Whether a constant expression can start here.
bool starts_expression(const Cursor& cursor);

}  // namespace cudasim::ptx
