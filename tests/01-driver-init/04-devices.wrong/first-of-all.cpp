// Rejected with: "a UUID that differs in its first byte belongs to no device"
// Assumes that there is only one GPU. The program fails on a machine with two, or with a different one.
#include "common/cu.hpp"

int ordinal_of(const CUuuid&) { return 0; }
