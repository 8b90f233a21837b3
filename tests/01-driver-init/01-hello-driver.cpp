// Self-check of 01-driver-init/01-hello-driver: judges the learner's driver_at_least().
#include "common/cu.hpp"
#include "tests/catch.hpp"

bool driver_at_least(int major, int minor);

namespace {

// What the driver of this machine says of itself.
struct Driver {
  int major, minor;
  Driver() {
    int version = 0;
    CU_CHECK(cuDriverGetVersion(&version));
    major = version / 1000;
    minor = version % 1000 / 10;
  }
};

}  // namespace

TEST_CASE_METHOD(Driver, "the driver's own version is new enough") {
  CAPTURE(major, minor);
  CHECK(driver_at_least(major, minor));
}

TEST_CASE_METHOD(Driver, "the next minor version is too new") {
  CAPTURE(major, minor);
  CHECK_FALSE(driver_at_least(major, minor + 1));
}

TEST_CASE_METHOD(Driver, "the next major version is too new") {
  CAPTURE(major, minor);
  CHECK_FALSE(driver_at_least(major + 1, 0));
}

TEST_CASE_METHOD(Driver, "an earlier major version is old enough, whatever its minor version") {
  CAPTURE(major, minor);
  CHECK(driver_at_least(major - 1, 0));
  CHECK(driver_at_least(major - 1, minor + 1));
}
