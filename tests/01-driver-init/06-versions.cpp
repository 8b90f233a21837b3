// Checks the exercise of 01-driver-init/06-versions. Needs no driver.
#include "01-driver-init/06-versions/fate.hpp"
#include "common/toolkits.hpp"
#include "tests/catch.hpp"

#include <string>

Fate fate(int built, int served);

CATCH_REGISTER_ENUM(Fate, Fate::runs, Fate::runs_without_ptx, Fate::does_not_start)

namespace {

int version(const cu::Toolkit& toolkit) { return 1000 * toolkit.major + 10 * toolkit.minor; }

}  // namespace

TEST_CASE("a program runs on the driver of its own version") {
  CHECK(fate(13000, 13000) == Fate::runs);
  CHECK(fate(10020, 10020) == Fate::runs);
}

TEST_CASE("a newer driver runs every older program") {
  CHECK(fate(12080, 13000) == Fate::runs);
  CHECK(fate(12040, 13000) == Fate::runs);
  CHECK(fate(8000, 13000) == Fate::runs);
  for (const cu::Toolkit& built : cu::toolkits) {
    for (const cu::Toolkit& served : cu::toolkits) {
      if (version(built) > version(served)) continue;
      CAPTURE(version(built), version(served));
      REQUIRE(fate(version(built), version(served)) == Fate::runs);
    }
  }
}

TEST_CASE("an older driver of the same major version starts a program, without its PTX") {
  CHECK(fate(12080, 12040) == Fate::runs_without_ptx);
  CHECK(fate(13010, 13000) == Fate::runs_without_ptx);
  CHECK(fate(11080, 11000) == Fate::runs_without_ptx);
}

TEST_CASE("two toolkits that write the same version of PTX make no difference to the driver") {
  CHECK(fate(12060, 12050) == Fate::runs);
  CHECK(fate(12050, 12040) == Fate::runs_without_ptx);
  CHECK(fate(12080, 12060) == Fate::runs_without_ptx);
}

TEST_CASE("within a major version since 11, the version of PTX decides") {
  for (const cu::Toolkit& built : cu::toolkits) {
    for (const cu::Toolkit& served : cu::toolkits) {
      if (built.major < 11 || built.major != served.major || version(built) <= version(served)) continue;
      CAPTURE(version(built), version(served));
      const bool same_ptx = std::string(built.ptx) == served.ptx;
      REQUIRE(fate(version(built), version(served)) == (same_ptx ? Fate::runs : Fate::runs_without_ptx));
    }
  }
}

TEST_CASE("a driver of an older major version does not start the program") {
  CHECK(fate(13000, 12090) == Fate::does_not_start);
  CHECK(fate(12000, 11080) == Fate::does_not_start);
}

TEST_CASE("before CUDA 11, an older driver did not start a program of the same major version") {
  CHECK(fate(10020, 10010) == Fate::does_not_start);
  CHECK(fate(9020, 9000) == Fate::does_not_start);
}
