// What an op in C++ for PyTorch includes. g++ parses these headers once, in half a minute (see PARSED.torch in the Makefile): what is built with them then takes
// a few seconds. The lessons' files name the headers themselves, for elsewhere nobody does that for them.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>
