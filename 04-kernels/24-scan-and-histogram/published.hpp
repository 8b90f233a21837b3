// What each tile publishes in the exercise. The flag and the sums are separate words, as they must be if a sum is too
// large to share a word with its flag. Everything is 0 at first.
#pragma once

constexpr unsigned kOwn = 1;   // a flag: `own` is valid
constexpr unsigned kUpTo = 2;  // a flag: `up_to` is valid, too

struct Published {
  unsigned flag;
  unsigned own;    // the sum of the tile's elements
  unsigned up_to;  // the sum of all elements up to the end of the tile
};
