#!/usr/bin/env bash
# Sees to what the build needs and this machine may lack: a C++ compiler, the CUDA toolkit, Catch2. The Makefile runs it first, every time;
# when nothing has changed since, it is done in a few milliseconds.
#
#   common/setup.sh           the compiler and the toolkit
#   common/setup.sh catch2    and Catch2
#
# What it found is in build/setup.mk, which the Makefile includes. What could not be had is empty there, and one sentence on stderr says why.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

say() { printf '%s\n' "$*" >&2; }

# ---- the compiler --------------------------------------------------------------------------------------------------------

find_compiler() {
  COMPILER_PATH=$(command -v "${CXX%% *}") && return
  say "There is no C++ compiler called ${CXX%% *}. Type: sudo apt-get install g++   (or name another: make CXX=clang++ …)"
  exit 1
}

# ---- the toolkit ---------------------------------------------------------------------------------------------------------

# The folder of the headers that belong to the toolkit whose root is $1.
headers_of() {
  local folder
  for folder in "$1/include" "$1/targets/x86_64-linux/include" "$1/targets/sbsa-linux/include"; do
    [ -e "$folder/cuda.h" ] && printf '%s' "$folder" && return
  done
}

use_toolkit() { # $1: its root
  CUDA_ROOT=$1
  CUDA_INCLUDE=$(headers_of "$1")
  [ -n "$CUDA_INCLUDE" ] || return 1
  NVCC=
  [ -x "$1/bin/nvcc" ] && NVCC=$1/bin/nvcc
  return 0
}

find_toolkit() {
  local nvcc
  if [ -n "${CUDA_HOME:-}" ]; then
    use_toolkit "$CUDA_HOME" && return
    say "CUDA_HOME is $CUDA_HOME, but there is no include/cuda.h in it. Correct it, or unset it to have a toolkit looked for."
    exit 1
  fi
  if nvcc=$(command -v nvcc); then
    use_toolkit "$(dirname "$(dirname "$(readlink -f "$nvcc")")")" && return
    use_toolkit "$(dirname "$(dirname "$nvcc")")" && return
  fi
  use_toolkit /usr/local/cuda && return
  CUDA_ROOT= CUDA_INCLUDE= NVCC=
}

describe_toolkit() {
  CUDA_VERSION= PTX_ARCH=
  [ -n "$CUDA_INCLUDE" ] && CUDA_VERSION=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$CUDA_INCLUDE/cuda.h")
  # The lowest architecture that the toolkit knows: PTX for it runs on every GPU that the toolkit serves.
  [ -n "$NVCC" ] && PTX_ARCH=$("$NVCC" --list-gpu-arch | sort -t_ -k2n | head -n 1)
}

# ---- Catch2 --------------------------------------------------------------------------------------------------------------

compiles() { # $1: a header; $2…: flags
  local header=$1
  shift
  printf '#include <%s>\n' "$header" | $CXX "$@" -std=c++17 -E -x c++ - -o /dev/null 2>/dev/null
}

find_catch2() {
  CATCH_FLAGS= CATCH_LIBS= CATCH_VERSION=
  if compiles catch2/catch_test_macros.hpp; then
    CATCH_VERSION=3 CATCH_LIBS='-lCatch2'
  elif compiles catch2/catch.hpp; then
    CATCH_VERSION=2
  fi
}

# ---- the result ----------------------------------------------------------------------------------------------------------

[ -n "${CXX:-}" ] || CXX=g++
find_compiler
key="$COMPILER_PATH $(stat -Lc %Y "$COMPILER_PATH") CUDA_HOME=${CUDA_HOME:-} $(command -v nvcc) $*"
if [ -e build/setup.mk ] && read -r first <build/setup.mk && [ "$first" = "# $key" ]; then exit 0; fi

WITHOUT_TOOLKIT= WITHOUT_CATCH2=
find_toolkit
describe_toolkit
CATCH_FLAGS= CATCH_LIBS= CATCH_VERSION=
find_catch2

mkdir -p build || { say "Cannot write to $PWD/build."; exit 1; }
cat >build/setup.mk.new <<MK
# $key
CUDA_ROOT := $CUDA_ROOT
CUDA_INCLUDE := $CUDA_INCLUDE
NVCC := $NVCC
CUDA_VERSION := $CUDA_VERSION
PTX_ARCH := $PTX_ARCH
CATCH_VERSION := $CATCH_VERSION
CATCH_FLAGS := $CATCH_FLAGS
CATCH_LIBS := $CATCH_LIBS
WITHOUT_TOOLKIT := $WITHOUT_TOOLKIT
WITHOUT_CATCH2 := $WITHOUT_CATCH2
COMPILER := $($CXX --version | head -n 1)
MK
mv build/setup.mk.new build/setup.mk
