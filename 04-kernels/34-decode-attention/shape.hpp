// What host and kernels agree on.
#pragma once

constexpr int kPage = 16;       // keys of a page
constexpr int kMostGroup = 16;  // heads of q that use the same head of k and v
constexpr int kMostRequests = 256;

// One new token for each request. Requests have different numbers of keys. The keys of a request are in pages, which
// may be anywhere in the cache; the cache has `pages` × kv_heads × kPage rows of k, and as many of v.
struct Decode {
  const void *q, *k, *v;
  const int* table;    // row r has the pages of request r, in order
  const int* lengths;  // how many keys a request has
  void* o;             // like q: `group` × kv_heads rows for each request
  float* lse;          // for each row of q, the logarithm of the sum of the exponentials of its scores
  float* parts;        // the blocks' results for pairs of a request and a head that several blocks share
  unsigned* done;      // for each pair, how many blocks have stored their part; 0 before and after a launch
  int requests, kv_heads, group, table_pitch;
  float scale;
};

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kUnit = kWarps * kPage;  // keys that a block uses in each step: a page for each warp
template <int kD>
constexpr int kPageBytes = 2 * kPage * kD;  // of k, and of v
template <int kD, int kStages>
constexpr int kSharedBytes = 2 * kStages * kWarps * kPageBytes<kD>;
// Of the block's two parts: the sums for each row of q, and their maximum and total.
template <int kD>
constexpr int kPartFloats = 2 * kMostGroup * (kD + 2);
