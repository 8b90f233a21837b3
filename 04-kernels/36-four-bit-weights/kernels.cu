// Products with weights of four bits, for few rows of x, and the kernels that verify them.
#include "check.hpp"
#include "product.hpp"

FOUR_BIT(convert, Convert)
FOUR_BIT(lop3, Lop3)
FOUR_BIT(late_scale, LateScale)
FOUR_BIT(shuffled, Shuffled)
FOUR_BIT(folded, Folded)
FOUR_BIT(ahead, Ahead)
