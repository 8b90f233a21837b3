// The PyTorch headers that an op in C++ includes. g++ parses them once, which takes half a minute (see PARSED.torch in
// the Makefile). After that, each op is built in a few seconds. The lessons' files include the headers as well, because
// in a project of your own no other file does so.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>
