// The last kernel. Its instruction griddepcontrol needs compute capability 9.0, so it has an image of its own.
#include "product.hpp"

FOUR_BIT(overlapped, Overlapped)
FOUR_BIT(only_loads_overlapped, OnlyLoadsOverlapped)
