// Catch2's main function, compiled once and linked into every test binary.
#define TESTS_MAIN
#include "tests/catch.hpp"
