#!/usr/bin/env bash
# loader.sh SECONDS: runs the loader's fuzzer (make fuzz). What reaches something new is kept in build/fuzz/corpus; what
# makes it fail is in build/fuzz/found, and the exit status is then not 0.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p build/fuzz/corpus build/fuzz/found
# What nvcc and clang++ made of the lessons and tests, as far as it is built, is good to begin with.
find build -name '*.ptx' -size -24k -not -path 'build/fuzz/*' | while read -r ptx; do
  cp "$ptx" "build/fuzz/corpus/$(echo "$ptx" | tr / _)"
done
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0
build/fuzz/loader -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -dict=tests/fuzz/loader.dict \
  -artifact_prefix=build/fuzz/found/ -jobs="${FUZZ_JOBS:-0}" -print_final_stats=1 build/fuzz/corpus tests/fuzz/seeds 2>&1 |
  grep -v -E '^#[0-9]+\s+(NEW|REDUCE|pulse|RELOAD)|NEW_FUNC' | cut -c1-200
exit "${PIPESTATUS[0]}"
