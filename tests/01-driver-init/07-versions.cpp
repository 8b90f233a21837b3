// Self-check of 01-driver-init/07-versions: judges the learner's fate(). Needs no driver.
#include "01-driver-init/07-versions/fate.hpp"
#include "tests/catch.hpp"

Fate fate(int built, int served);

CATCH_REGISTER_ENUM(Fate, Fate::runs, Fate::runs_without_ptx, Fate::does_not_start)

TEST_CASE("a program runs on the driver of its own version") {
  CHECK(fate(13000, 13000) == Fate::runs);
  CHECK(fate(10020, 10020) == Fate::runs);
}

TEST_CASE("a newer driver serves every older program") {
  CHECK(fate(12040, 13000) == Fate::runs);
  CHECK(fate(8000, 13000) == Fate::runs);
  CHECK(fate(12090, 13000) == Fate::runs);
}

TEST_CASE("an older driver of the same major version starts a program, without its PTX") {
  CHECK(fate(12080, 12040) == Fate::runs_without_ptx);
  CHECK(fate(13010, 13000) == Fate::runs_without_ptx);
  CHECK(fate(11080, 11000) == Fate::runs_without_ptx);
}

TEST_CASE("an older major version does not start it") {
  CHECK(fate(13000, 12090) == Fate::does_not_start);
  CHECK(fate(12000, 11080) == Fate::does_not_start);
}

TEST_CASE("before CUDA 11 there was no such rule") {
  CHECK(fate(10020, 10010) == Fate::does_not_start);
  CHECK(fate(9020, 9000) == Fate::does_not_start);
}
