// Catch2 2 (one header) or Catch2 3 (a library): the only file that knows which one this machine has.
// Tests use what both have: TEST_CASE, TEST_CASE_METHOD, SECTION, GENERATE, CAPTURE, CHECK, REQUIRE, CHECK_THAT,
// CHECK_THROWS_AS.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_all.hpp>
#else
#ifdef TESTS_MAIN
#define CATCH_CONFIG_RUNNER  // the one translation unit that holds Catch2's implementation
#endif
#include <catch2/catch.hpp>
#endif

#include <cstdio>
#include <string>

// Ends the current test case as skipped, for a reason that the test run prints: SKIP_TEST("needs two devices");
// Catch2 2 cannot skip, so the reason travels on stderr, in the form that course/judge.py collects.
#define SKIP_TEST(reason)                                                                             \
  do {                                                                                                \
    std::fprintf(stderr, "SKIPPED: %s: %s\n", Catch::getResultCapture().getCurrentTestName().c_str(), \
                 std::string(reason).c_str());                                                        \
    return;                                                                                           \
  } while (false)
