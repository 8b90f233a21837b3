#!/usr/bin/env bash
# make test SANITIZE=address,undefined (or thread): the simulator and the suites with the compiler's sanitizers, built in a
# folder of their own, build/sanitize-…, so that nothing else is built again. Runs the suites and ends with 1 if one
# fails or a sanitizer has something to say.
#
# Where chapters or lessons are named, or valgrind instead of the compiler's, it is tests/host_side.py that works; for checks (the
# simulator's own) and compute-sanitizer, tests/device_side.py.
#
#   tests/sanitize.sh SANITIZERS [build | SUITE… | LESSON…]     build: only builds; SUITE: simulator conformance instructions
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
sanitizers=$1
shift
if [ "$sanitizers" = checks ] || [ "$sanitizers" = compute-sanitizer ]; then
  exec python3 tests/device_side.py "$sanitizers" "$@"
fi
if [ "$sanitizers" = valgrind ] || { [ "${1:-}" != build ] && [ -d "${1:-/nowhere}" ]; }; then
  exec python3 tests/host_side.py "$sanitizers" "$@"
fi
suites=("$@")
[ ${#suites[@]} -eq 0 ] || [ "$1" = build ] && suites=(simulator conformance instructions)

# A folder that looks like the repository: links to everything, and a build/ of its own.
folder=build/sanitize-${sanitizers//,/-}
mkdir -p "$folder/build"
for entry in *; do [ "$entry" = build ] || ln -sfn "$PWD/$entry" "$folder/$entry"; done
# The driver's interface is C: a program may hand over any number where an enumerator is wanted, and the tests do. The
# compilers give every number of the underlying type a meaning (nothing is built with -fstrict-enums).
flags="-fsanitize=$sanitizers -fno-sanitize=enum -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1"
checks=("${suites[@]/#/build/tests/}")
env -u IN -u INSIDE -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$folder" CXX="${CXX:-g++}" CXXFLAGS="$flags" LDFLAGS="$flags" "${checks[@]/%//check}" || exit 1
[ "${1:-}" = build ] && exit 0

export LD_LIBRARY_PATH=build/simulator CUDA_INCLUDE=
# Calls with absurd sizes are part of the tests: an allocation that fails is an answer, not a mistake.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
cd "$folder" || exit 1
result=0
for suite in "${suites[@]}"; do
  echo "tests/$suite with -fsanitize=$sanitizers"
  if "build/tests/$suite/check" >"build/$suite.log" 2>&1; then
    tail -2 "build/$suite.log"
  else
    result=1
    tail -100 "build/$suite.log"
  fi
done
exit $result
