// What host and kernels agree on.
#pragma once

namespace engine {

constexpr int kSlots = 8;        // requests that one step computes together: the columns of an mma
constexpr int kTileRows = 16;    // of the weights: the rows of an mma
constexpr int kMostWarps = 8;    // of a block that multiplies
constexpr int kPageTokens = 16;  // of a page of the cache
constexpr int kBlocksOfProduct = 2;  // that multiply, on each multiprocessor
constexpr int kStripBf16 = 128, kStripInt4 = 256;  // columns that a warp multiplies at a time

constexpr int pages_for(int tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

// One product of a step: y = x × the transpose of the weights, for up to kSlots rows of x.
//
// If `squares` is not null, the product is one of the RMSNorm of x. The factor of a row of x is the same for all its
// products, so it is applied to the sums. It is computed from the sums of squares of each kTileRows elements, which the
// kernel that stored x has stored, too.
struct Product {
  const void *weights, *scales;  // as `pack` or `quantize` stores them
  const void* x;  // bfloat16, like y, except for logits
  const float* squares;
  void* y;
  float* squares_of_y;
  int m, rows, columns;  // of x; of the weights
  int segment;  // see source_row()
  float epsilon;
};

// Where the keys and values of one layer are. `pages` pages have kPageTokens tokens for each head.
struct Cache {
  void *k, *v;  // bfloat16
  const int* table;  // a row of `pitch` page numbers for each slot
  const int* lengths;  // tokens of each slot, with the one of this step; 0 if the slot is free
  const float* turns;  // for each position, `head` / 2 pairs of a cosine and a sine
  int pitch, heads, kv_heads, head;
};

// What a request wants. With a temperature of 0, the most likely token is next.
struct Request {
  int prompt, limit;  // tokens of the prompt; of the prompt and the reply
  int end;  // the token that ends the reply, or -1
  float temperature;
  int top_k;  // how many of the most likely tokens may be next, or 0 for all
  unsigned seed;
};

// What the last kernel of a step needs.
struct Sampling {
  const float* logits;
  int vocabulary, width;
  int* lengths;
  const Request* requests;
  const int* prompts;  // a row of `most` tokens for each slot
  int* replies;  // in memory of the host, a row of `most` tokens for each slot
  int* counts;  // in memory of the host: tokens of each reply, and kEnded in addition after the last one
  const void* embeddings;  // bfloat16, a row for each token
  void* x;
  float* squares;
  int most;
};
constexpr int kEnded = 1 << 30;

}  // namespace engine
