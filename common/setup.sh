#!/usr/bin/env bash
# Sees to what the build needs and this machine may lack. The Makefile runs it first, every time; when nothing has changed it is
# done in a few milliseconds.
#
#   common/setup.sh                 a C++ compiler (which a person has to install) and the CUDA toolkit
#   common/setup.sh catch2          … and Catch2
#   common/setup.sh torch pytest    … and PyTorch, and pytest
#   common/setup.sh matplotlib      … and matplotlib, for the lessons that plot
#
# What is here already comes first. What is not is fetched once per user, into ${XDG_CACHE_HOME:-~/.cache}/cuda-from-the-driver-up, without root
# and without touching the system; where that cannot be written, into build/downloads. What was found stands in build/setup.mk,
# which the Makefile includes. What could not be had is empty there, and its WITHOUT_ line says in a sentence why and what to type.
set -u
unset CDPATH # cd would go by it, and say where it went
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

TOOLKIT_VERSION=${TOOLKIT_VERSION:-} # the private one; empty: as new as the driver can load, and no newer than this:
NEWEST_TOOLKIT=13.0
OLDEST_TOOLKIT=12000
TORCH_VERSION=2.13.0
TORCH_PYTHON=3.10 # the oldest that it is made for
TORCH_INDEX=${TORCH_INDEX:-} # another package index for PyTorch; its own CPU one saves 4 GB

UNREACHABLE= # the servers that a fetch of this run did not reach: wheels, packages; not tried again for the next part
say() { printf '%s\n' "$*" >&2; }

# ---- where downloads are kept --------------------------------------------------------------------------------------------

free_mb() { df -Pm "$1" 2>/dev/null | awk 'NR == 2 { print $4 }'; }

# Sets STORE to a folder that can be written and has room for $1 MB; WHY_NO_STORE says why there is none.
find_store() {
  local folder home_cache=
  WHY_NO_STORE=
  [ -n "${XDG_CACHE_HOME:-${HOME:-}}" ] && home_cache=${XDG_CACHE_HOME:-$HOME/.cache}/cuda-from-the-driver-up
  for folder in ${home_cache:+"$home_cache"} "$PWD/build/downloads"; do
    if ! { mkdir -p "$folder" && : >>"$folder/lock"; } 2>/dev/null; then
      WHY_NO_STORE+="$folder cannot be written; "
    elif [ "$(free_mb "$folder")" -lt "$1" ]; then
      WHY_NO_STORE+="$folder has room for $(free_mb "$folder") MB and needs $1; "
    else
      STORE=$folder
      return 0
    fi
  done
  WHY_NO_STORE+="make … XDG_CACHE_HOME=/another/folder names another place"
  return 1
}

# Where something fetched earlier is kept, if it is: $1 is its folder's name.
kept() {
  local folder
  for folder in "${XDG_CACHE_HOME:-${HOME:-}/.cache}/cuda-from-the-driver-up/$1" "$PWD/build/downloads/$1"; do
    [ -d "$folder" ] && printf '%s' "$folder" && return
  done
  return 1
}

megabytes_in() { du -scm "$@" 2>/dev/null | awk 'END { print $1 + 0 }'; }

# Says every now and then that the fetch into $1 is still going on, of which $2 is kept; $3: when it began. What was downloaded and what was unpacked of it are told apart, for
# both lie on the disk until all is unpacked.
report_progress() {
  local every=15 end='\n' second=0 downloaded=0 now
  [ -t 2 ] && every=1 end='\r'
  while sleep 1; do
    [ $((++second % every)) = 0 ] || continue
    now=$(megabytes_in "$1"/tmp/pip-unpack-* "$1"/tmp/*.deb)
    [ "$now" -gt "$downloaded" ] && downloaded=$now # pip removes it at the end
    printf "  still fetching: %d s, %s MB downloaded, %s MB unpacked$end" $((SECONDS - $3)) "$downloaded" "$(megabytes_in "$1"/tmp/pip-target-* "$1/$2")"
  done
}

# Is this machine connected to nothing? Then no fetch is tried: pip and apt-get would look for a network for half a minute each.
offline() {
  [ -z "${http_proxy:-}${https_proxy:-}${HTTP_PROXY:-}${HTTPS_PROXY:-}${all_proxy:-}${ALL_PROXY:-}" ] && [ -r /proc/net/route ] &&
    ! awk '$2 == "00000000" { found = 1 } END { exit !found }' /proc/net/route &&
    ! grep -s '^0\{32\} 00 ' /proc/net/ipv6_route | grep -qv ' lo$'
}

# fetch NAME MB COMMAND…: runs COMMAND in an empty folder, with the folder as last argument, and keeps the folder as $STORE/NAME if it succeeds.
# One at a time; whatever happens, nothing half-made is left. WHY_NOT says why it failed.
fetch() {
  local name=$1 megabytes=$2 servers=wheels
  shift 2
  [ "$1" = catch2_deb ] && servers=packages
  if ! find_store "$megabytes"; then
    WHY_NOT=$WHY_NO_STORE
    return 1
  fi
  if [[ $UNREACHABLE == *$servers* ]] || offline; then
    WHY_NOT="the package servers cannot be reached"
    return 1
  fi
  (
    exec 9>>"$STORE/lock"
    flock -n 9 || { say "Another make is fetching something; waiting for it."; flock 9; }
    [ -d "$STORE/$name" ] && exit 0
    rm -rf "$STORE"/part.* # of a run that was killed
    part=$(mktemp -d "$STORE/part.XXXXXX") || exit 1
    report_progress "$part" "$name" $SECONDS >&2 9>&- &
    progress=$!
    trap 'kill $progress; rm -rf "$part"' EXIT
    trap 'exit 130' INT TERM HUP
    mkdir "$part/tmp" "$part/$name"
    # 9>&-: a grandchild that outlives us must not hold the lock.
    TMPDIR=$part/tmp "$@" "$part/$name" >"$part/log" 2>&1 9>&- </dev/null && mv "$part/$name" "$STORE/$name" && exit 0
    cp "$part/log" "$STORE/failed.log" 2>/dev/null
    exit 1
  )
  case $? in
    0) return 0 ;;
    130) say "Interrupted: nothing was kept."; exit 130 ;;
  esac
  if grep -qiE 'resolv|resolution|unreachable|connection|timed out|could not connect' "$STORE/failed.log" 2>/dev/null; then
    UNREACHABLE+=" $servers" WHY_NOT="the package servers cannot be reached"
  else
    WHY_NOT=$(grep -v '^ *$' "$STORE/failed.log" 2>/dev/null | tail -n 1)
  fi
  rm -f "$STORE/failed.log"
  return 1
}

# obtain NAME MB WHAT ANNOUNCEMENT ADVICE COMMAND…: sets FOUND to the folder of what an earlier run has fetched, or else announces that, and fetches it (see
# above). If it is not to be had, says so with the advice, and sets WITHOUT. Without an announcement nothing is said.
obtain() {
  local name=$1 megabytes=$2 what=$3 announcement=$4 advice=$5
  shift 5
  WITHOUT=
  FOUND=$(kept "$name") && return
  [ -z "$announcement" ] || say "$announcement"
  if fetch "$name" "$megabytes" "$@"; then
    FOUND=$STORE/$name
    [ -z "$announcement" ] || say "It is in $FOUND."
    return 0
  fi
  FOUND= WITHOUT="there is no $what"
  [ -z "$announcement" ] || say "Note: $WITHOUT, and it could not be fetched: $WHY_NOT. $advice"
  return 1
}

# ---- ways to fetch -------------------------------------------------------------------------------------------------------

# Debian packages without root: their files unpacked under folder $1. The rest of the arguments are package names.
unpack_debs() {
  local folder=$1 here=$TMPDIR
  shift
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || { echo "there is no apt-get on this machine"; return 1; }
  (
    cd "$here" || exit 1
    if ! apt-get -q download "$@"; then
      # The machine's lists of packages are missing or old (a bare container): lists of our own.
      mkdir -p lists/partial cache/archives/partial
      own=(-o "Dir::State::lists=$here/lists" -o "Dir::Cache=$here/cache" -o Debug::NoLocking=true -o APT::Sandbox::User=)
      apt-get -q "${own[@]}" update && apt-get -q "${own[@]}" download "$@"
    fi
  ) || return 1
  for package in "$here"/*.deb; do dpkg -x "$package" "$folder" || return 1; done
}

# Runs pip, whether this machine has it or not: Debian's Python comes without it.
pip() {
  export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 # what a person wishes for packages of their own
  if python3 -m pip --version >/dev/null 2>&1; then
    python3 -m pip "$@"
  elif python3 -m venv "$TMPDIR/venv" >/dev/null 2>&1; then
    "$TMPDIR/venv/bin/python3" -m pip "$@"
  else
    unpack_debs "$TMPDIR/pip" python3-pip-whl && PYTHONPATH=$(echo "$TMPDIR"/pip/usr/share/python-wheels/pip-*.whl) python3 -m pip "$@"
  fi
}

# What a person types for package $1: Debian's Python comes without pip, and has it in an environment only.
pip_advice() {
  if python3 -m pip --version >/dev/null 2>&1; then
    echo "Type: python3 -m pip install $1"
  else
    echo "Type: sudo apt-get install python3-venv; python3 -m venv env; . env/bin/activate; python3 -m pip install $1"
  fi
}

# wheels PACKAGES FOLDER: pip packages (one word each, in one argument) into a folder.
wheels() { pip install --no-deps --only-binary=:all: --no-cache-dir --no-compile --retries 1 --target "$2" $1; }

catch2_deb() { unpack_debs "$1" catch2; }

# numpy: PyTorch warns where it is missing.
torch_wheels() { pip install --only-binary=:all: --no-cache-dir --retries 2 ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} --target "$1" "torch==$TORCH_VERSION" numpy; }

python_headers_deb() { unpack_debs "$2" "libpython$1-dev"; }

ninja_wheel() { wheels ninja "$1"; }

pip_wheels() { wheels "pip setuptools" "$1"; }

pytest_wheels() { pip install --only-binary=:all: --no-cache-dir --retries 1 --target "$1" pytest; }

# numpy: the one that is here, or that PyTorch's folder brings, comes first.
matplotlib_wheels() {
  pip install --only-binary=:all: --no-cache-dir --retries 1 --target "$1" matplotlib || return 1
  PYTHONPATH=${TORCH_PATH:-} python3 -c 'import numpy' 2>/dev/null && rm -rf "$1"/numpy "$1"/numpy.libs "$1"/numpy-*
  return 0
}

# ---- the compiler --------------------------------------------------------------------------------------------------------

# A compiler without a shared libstdc++ puts a copy of its own into every library that it makes; two copies in one process, PyTorch's and ours, crash.
shares_library() { [[ $($1 -print-file-name=libstdc++.so 2>/dev/null) = /* ]]; }

find_compiler() {
  local why other
  COMPILER=$($CXX --version 2>/dev/null | head -n 1)
  if [ -z "$COMPILER" ]; then
    other=$(command -v g++ || command -v clang++)
    if [ -n "$other" ]; then
      say "There is no C++ compiler called ${CXX%% *}. Type: make CXX=${other##*/} …, which is here; or install ${CXX%% *}."
    else
      say "There is no C++ compiler called ${CXX%% *}. Type: sudo apt-get install g++   (or name the one you have: make CXX=clang++ …)"
    fi
    exit 1
  fi
  if ! why=$(printf '#include <concepts>\n#include <string>\nstd::integral auto one(std::string) { return 1; }\nint main() { return one(""); }\n' |
    $CXX -std=c++20 -x c++ - -o /dev/null 2>&1); then
    say "$CXX does not compile a small C++20 program: $(grep -m 1 -i error <<<"$why" || echo 'it does not say why'). Type: sudo apt-get install g++   (11 or newer)"
    exit 1
  fi
  CXX_INSTEAD=
  shares_library "$CXX" && return
  for other in $(type -ap g++ clang++); do
    shares_library "$other" || continue
    say "Note: $CXX has no shared libstdc++, which a library for PyTorch needs: $other is used instead."
    CXX=$other CXX_INSTEAD=$other COMPILER=$("$other" --version | head -n 1)
    break
  done
}

# ---- the toolkit ---------------------------------------------------------------------------------------------------------

use_toolkit() { # $1: its root
  local include
  CUDA_ROOT=$1 CUDA_INCLUDE= NVCC= CUDA_VERSION= PTX_ARCH= WITHOUT_HOST_NVCC=
  for include in "$1/include" "$1"/targets/*-linux/include; do
    [ -e "$include/cuda.h" ] && CUDA_INCLUDE=$include && break
  done
  [ -n "$CUDA_INCLUDE" ] || return 1
  CUDA_VERSION=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$CUDA_INCLUDE/cuda.h")
  # Its lowest architecture that has what the kernels use: PTX for that runs on every newer GPU.
  [ -x "$1/bin/nvcc" ] && PTX_ARCH=$("$1/bin/nvcc" --list-gpu-arch 2>/dev/null | sort -t_ -k2n | awk -F_ '$2 >= 75' | head -n 1)
  [ -n "$PTX_ARCH" ] && NVCC=$1/bin/nvcc
  [ -n "$NVCC" ] && "$NVCC" --version 2>/dev/null | grep -q '^NVRTC in the place' &&
    WITHOUT_HOST_NVCC="nvcc compiles its host side, too, and the wheels of CUDA 12 have no nvcc. Type: make run TOOLKIT_VERSION=$NEWEST_TOOLKIT DEVICE=simulator   (or install the toolkit of CUDA $(as_text "$CUDA_VERSION"))"
  return 0
}

# The toolkit that is here already, whatever its version.
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
  use_toolkit /usr/local/cuda
}

as_text() { printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 10)); }

# What the driver here can load, 13000 for CUDA 13.0; 0 without a driver.
ask_driver() {
  local answer count version name
  read -r answer count version name < <(python3 common/course.py probe 2>/dev/null)
  [ "${answer:-none}" = 0 ] && [ "${version:-0}" -gt 0 ] && [ "${name#Simulated}" = "$name" ] && echo "$version" || echo 0
}

# The private toolkit's version for a driver that loads up to $1 (0: no driver).
version_for() {
  if [ -n "$TOOLKIT_VERSION" ]; then
    echo "$TOOLKIT_VERSION"
  elif [ "$1" = 0 ] || [ "$1" -ge 13000 ]; then
    echo $NEWEST_TOOLKIT
  else
    as_text "$1"
  fi
}

# wheels_of_toolkit VERSION FOLDER. The wheels of CUDA 12 have no nvcc: NVRTC takes its place. What is called nvcc there has only headers that the others
# include, and nvcc's parts.
wheels_of_toolkit() {
  local version=$1 folder=$2
  case $version in
    12.*)
      wheels "nvidia-cuda-runtime-cu12==$version.* nvidia-cuda-nvrtc-cu12==$version.* nvidia-cuda-cccl-cu12==$version.* nvidia-cuda-nvcc-cu12==$version.*" "$folder" &&
        ln -s ../../cuda_nvcc/include/crt "$folder/nvidia/cuda_runtime/include/crt" && mkdir -p "$folder/nvidia/cuda_runtime/bin" && install -m 755 common/nvcc12.py "$folder/nvidia/cuda_runtime/bin/nvcc"
      ;;
    *)
      wheels "nvidia-cuda-nvcc==$version.* nvidia-nvvm==$version.* nvidia-cuda-crt==$version.* nvidia-cuda-runtime==$version.* \
        nvidia-cuda-cccl<=$version.999 nvidia-cuda-nvrtc==$version.*" "$folder"
      ;;
  esac
}

private_toolkit() { # $1: what the driver loads
  local version
  version=$(version_for "$1")
  if [ "$1" != 0 ] && [ "$1" -lt $OLDEST_TOOLKIT ]; then
    WITHOUT_TOOLKIT="there is no CUDA toolkit for this driver"
    say "Note: the driver here is one for CUDA $(as_text "$1"), and the course needs $(as_text $OLDEST_TOOLKIT). Update the driver."
    return 1
  fi
  if ! obtain "cuda-$version" 1200 "CUDA toolkit" "There is no CUDA toolkit to use here. Fetching a private one, CUDA $version, from NVIDIA's Python wheels: it compiles the kernels and has cuda.h.
(about 200 MB to download, 500 MB on disk, once; no root needed; an installed one is used if CUDA_HOME names it)" \
    "Try again later, or install CUDA 12 or 13 from https://developer.nvidia.com/cuda-downloads" wheels_of_toolkit "$version"; then
    WITHOUT_TOOLKIT=$WITHOUT
    return 1
  fi
  use_toolkit "$FOUND/nvidia/cu${version%%.*}" || use_toolkit "$FOUND/nvidia/cuda_runtime"
}

# What is wrong with the toolkit that was found, for a driver that loads up to $1 (0: no driver); nothing if it will do.
unfit() {
  if [ "$CUDA_VERSION" -lt $OLDEST_TOOLKIT ]; then
    echo "the course needs $(as_text $OLDEST_TOOLKIT) or newer"
  elif [ "$1" != 0 ] && [ "$CUDA_VERSION" -gt "$1" ]; then
    echo "the driver here loads kernels up to CUDA $(as_text "$1")"
  fi
}

# Uses the toolkit that is here, unless it will not do; one that CUDA_HOME names is used in any case.
see_to_toolkit() {
  local driver why
  WITHOUT_TOOLKIT=
  driver=$(ask_driver)
  if find_toolkit; then
    why=$(unfit "$driver")
    [ -n "$why" ] && say "Note: the toolkit in $CUDA_ROOT is CUDA $(as_text "$CUDA_VERSION"), and $why."
    if [ -z "$why" ] || [ -n "${CUDA_HOME:-}" ]; then
      [ -z "$TOOLKIT_VERSION" ] || [ "$TOOLKIT_VERSION" = "$(as_text "$CUDA_VERSION")" ] ||
        say "Note: the toolkit in $CUDA_ROOT, CUDA $(as_text "$CUDA_VERSION"), is used: TOOLKIT_VERSION is for a private one, fetched where there is none."
      return
    fi
  fi
  private_toolkit "$driver" || CUDA_ROOT= CUDA_INCLUDE= NVCC= CUDA_VERSION= PTX_ARCH= WITHOUT_HOST_NVCC=
}

# ---- Catch2 --------------------------------------------------------------------------------------------------------------

# A path as a word of the Makefile's commands.
quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# Is there a Catch2 with these flags? Sets CATCH_VERSION, CATCH_FLAGS, CATCH_LIBS.
use_catch2() { # $1: include folder or nothing; $2: library folder or nothing
  local include=${1:+-isystem $1} library=${2:+-L$2}
  CATCH_VERSION= CATCH_FLAGS=${1:+"-isystem $(quoted "$1")"} CATCH_LIBS=
  if echo '#include <catch2/catch_session.hpp>
int main() { return Catch::Session().run(); }' | $CXX ${1:+-isystem "$1"} -std=c++17 -x c++ - ${2:+-L"$2"} -lCatch2 -o /dev/null 2>/dev/null; then
    CATCH_VERSION=3 CATCH_LIBS="${2:+-L$(quoted "$2") }-lCatch2"
  elif echo '#include <catch2/catch.hpp>' | $CXX ${1:+-isystem "$1"} -std=c++17 -E -x c++ - -o /dev/null 2>/dev/null; then
    CATCH_VERSION=2
  fi
  [ -n "$CATCH_VERSION" ]
}

see_to_catch2() {
  WITHOUT_CATCH2=
  use_catch2 "" "" && return
  if echo '#include <catch2/catch_session.hpp>' | $CXX -std=c++17 -E -x c++ - -o /dev/null 2>/dev/null; then
    WITHOUT_CATCH2="Catch2 does not link with $CXX"
    say "Note: $WITHOUT_CATCH2: its library here was built with another compiler. Use that one: make test CXX=g++"
    return
  fi
  if ! obtain catch2 20 "Catch2" "Catch2, which the tests are written with, is not here. Fetching the distribution's package, unpacked for us only (under 1 MB; 5 MB on disk)." \
    "Type: sudo apt-get install catch2" catch2_deb; then
    WITHOUT_CATCH2=$WITHOUT
    return
  fi
  use_catch2 "$FOUND/usr/include" "$(dirname "$(find "$FOUND" -name 'libCatch2.a' | head -n 1)")" && return
  WITHOUT_CATCH2="Catch2 does not compile"
  say "Note: the Catch2 in $FOUND does not compile here. Remove that folder and try again, or type: sudo apt-get install catch2"
}

# ---- PyTorch and pytest --------------------------------------------------------------------------------------------------

# What is fetched for one Python does not serve another.
python_tag() { python3 -c 'import sys; print("py%d%d" % sys.version_info[:2])'; }

# Sets TORCH_PATH to what PYTHONPATH needs so that `import torch` works (empty: nothing), TORCH to its version, TORCH_ROOT to its folder.
see_to_torch() {
  TORCH_PATH= WITHOUT_TORCH=
  look_at_torch && return
  if ! python3 -c "import sys; sys.exit(sys.version_info < (${TORCH_PYTHON/./, }))"; then
    WITHOUT_TORCH="there is no PyTorch $TORCH_VERSION for $(python3 --version)"
    say "Note: $WITHOUT_TORCH, which is older than $TORCH_PYTHON: the lessons that need PyTorch are skipped. Put a newer python3 first on the PATH."
    return
  fi
  if ! obtain "torch-$TORCH_VERSION-$(python_tag)" 8000 "PyTorch" "PyTorch is not here. Fetching a private one, $TORCH_VERSION (with CUDA's libraries: 2.8 GB to download, 4.7 GB on disk, once; the build for the CPU saves 4 GB: make … TORCH_INDEX=https://download.pytorch.org/whl/cpu)." \
    "$(pip_advice torch)" torch_wheels; then
    WITHOUT_TORCH=$WITHOUT
    return
  fi
  TORCH_PATH=$FOUND
  look_at_torch && return
  WITHOUT_TORCH="the PyTorch in $TORCH_PATH does not start"
  say "Note: $WITHOUT_TORCH: $(PYTHONPATH=$TORCH_PATH python3 -W ignore -c 'import torch' 2>&1 | tail -n 1). Remove that folder and try again."
  TORCH_PATH=
}

look_at_torch() {
  TORCH= TORCH_OLD_STRING= TORCH_ROOT=
  read -r TORCH TORCH_OLD_STRING TORCH_ROOT < <(PYTHONPATH=$TORCH_PATH python3 -W ignore -c 'import os, torch
print(torch.__version__, "no" if torch.compiled_with_cxx11_abi() else "yes", os.path.dirname(torch.__file__))' 2>/dev/null)
  [ -n "$TORCH" ]
}

# What PyTorch builds with just in time: a program, which any Python's wheel brings. The lessons do without it, but for that.
see_to_ninja() {
  NINJA=$(command -v ninja) && return
  NINJA=none
  obtain ninja 5 ninja "" "" ninja_wheel && NINJA=$FOUND/bin/ninja
}

# The folder of Python.h, for modules of Python in C++; which a distribution's Python comes without.
see_to_python_headers() {
  local version
  read -r version PYTHON_HEADERS < <(python3 -c 'import sys, sysconfig; print("%d.%d" % sys.version_info[:2], sysconfig.get_path("include"))')
  [ -e "$PYTHON_HEADERS/Python.h" ] && return
  PYTHON_HEADERS=none
  obtain "python-headers-$version" 60 Python.h "" "" python_headers_deb "$version" && PYTHON_HEADERS=$FOUND/usr/include/python$version
}

# pip, and a setuptools that makes wheels (by itself since 70.1, before with the package wheel): a lesson builds some. Debian's Python comes without.
see_to_pip() {
  PIP_PATH=none
  makes_wheels "${TORCH_PATH:-}" && return
  obtain "pip-$(python_tag)" 40 pip "" "" pip_wheels && PIP_PATH=$FOUND
}

makes_wheels() { # $1: what PYTHONPATH needs
  PYTHONPATH=$1 python3 -c 'import pip, setuptools.command.bdist_wheel' 2>/dev/null || PYTHONPATH=$1 python3 -c 'import pip, setuptools, wheel.bdist_wheel' 2>/dev/null
}

see_to_pytest() {
  PYTEST=yes PYTEST_PATH= WITHOUT_PYTEST=
  python3 -c 'import pytest' 2>/dev/null && return
  if obtain "pytest-$(python_tag)" 20 "pytest" "pytest, which the lessons in Python are checked with, is not here. Fetching a private one (2 MB)." \
    "Type: sudo apt-get install python3-pytest" pytest_wheels; then
    PYTEST_PATH=$FOUND
  else
    PYTEST= WITHOUT_PYTEST=$WITHOUT
  fi
}

# Sets MATPLOTLIB to its version, MATPLOTLIB_PATH to what PYTHONPATH needs for it (empty: nothing).
see_to_matplotlib() {
  MATPLOTLIB_PATH= WITHOUT_MATPLOTLIB=
  look_at_matplotlib && return
  if ! obtain "matplotlib-$(python_tag)" 200 "matplotlib" "matplotlib, which a lesson draws its plots with, is not here. Fetching a private one (40 MB to download, up to 170 MB on disk)." \
    "The lesson runs without its plots. $(pip_advice matplotlib)" matplotlib_wheels; then
    WITHOUT_MATPLOTLIB=$WITHOUT
    return
  fi
  MATPLOTLIB_PATH=$FOUND
  look_at_matplotlib && return
  WITHOUT_MATPLOTLIB="the matplotlib in $MATPLOTLIB_PATH does not start" MATPLOTLIB_PATH=
  say "Note: $WITHOUT_MATPLOTLIB. Remove that folder and try again."
}

look_at_matplotlib() {
  MATPLOTLIB=$(PYTHONPATH=${TORCH_PATH:+$TORCH_PATH:}$MATPLOTLIB_PATH python3 -W ignore -c 'import matplotlib; print(matplotlib.__version__)' 2>/dev/null)
  [ -n "$MATPLOTLIB" ]
}

# ---- the result ----------------------------------------------------------------------------------------------------------

[ -n "${CXX:-}" ] || CXX=g++
compiler_path=$(type -P "${CXX%% *}")
driver_module=none
[ -r /sys/module/nvidia/version ] && read -r driver_module </sys/module/nvidia/version
python=$(command -v python3)
# What pyenv and its like put on the PATH starts one Python in this folder and another in that.
[[ $python = */shims/* ]] && python=$(python3 -c 'import sys; print(sys.executable)')
KEY="$python $CXX $compiler_path $([ -n "$compiler_path" ] && stat -Lc %Y "$compiler_path") CUDA_HOME=${CUDA_HOME:-} TOOLKIT_VERSION=$TOOLKIT_VERSION $(command -v nvcc) $driver_module"

declare -A had=() # what an earlier run wrote
if [ -r build/setup.mk ]; then
  while read -r name is value; do
    value=${value//\\#/#}
    [ "$is" = ":=" ] && had[$name]=${value//\$\$/\$}
  done <build/setup.mk
fi
keeps() { [ "${had[KEY]:-}" = "$KEY" ]; }
# PyTorch and the like are the Python's, whatever compiler or toolkit another terminal has.
keeps_python() { [[ "${had[KEY]:-}" == "$python "* ]]; }
needs_catch2= needs_torch= needs_pytest= needs_matplotlib=
for need in "$@"; do declare "needs_$need=yes"; done

# What the compilers say of a folder for temporary files that takes nothing names neither the folder nor the reason.
temporary=${TMPDIR:-/tmp}
if ! { probe=$(mktemp "$temporary/cuda-from-the-driver-up.XXXXXX") && head -c 65536 /dev/zero >"$probe"; } 2>/dev/null; then
  rm -f "${probe:-}"
  say "The compilers cannot write their temporary files to $temporary: $([ -d "$temporary" ] && echo "$(free_mb "$temporary") MB are free there" || echo "there is no such folder"). make … TMPDIR=/another/folder names another."
  exit 1
fi
rm -f "$probe"

if keeps && [ -e "${had[CUDA_INCLUDE]:-}/cuda.h" ] && { [ -z "$needs_catch2" ] || [ -n "${had[CATCH_VERSION]:-}" ]; } &&
  { [ -z "$needs_torch" ] || { [ -e "${had[TORCH_ROOT]:-}/__init__.py" ] && [ -n "${had[NINJA]:-}" ] && [ -n "${had[PYTHON_HEADERS]:-}" ] && [ -n "${had[PIP_PATH]:-}" ]; }; } && { [ -z "$needs_pytest" ] || [ -n "${had[PYTEST]:-}" ]; } &&
  { [ -z "$needs_matplotlib" ] || [ -n "${had[MATPLOTLIB]:-}" ]; }; then exit 0; fi

# Before anything is fetched: can what is built be kept here, and started?
new=build/setup.mk.$$
if ! { mkdir -p build && : >"$new" && chmod +x "$new"; } 2>/dev/null; then
  say "The folder build/ cannot be written here: $PWD/build$([ ! -e build ] || [ -O build ] || echo ", which is $(stat -c %U build)'s")"
  exit 1
fi
runs=$([ -x "$new" ] && echo yes)
rm -f "$new"
if [ -z "$runs" ]; then
  say "No program can be started in $PWD/build: the file system there is mounted without the right to (noexec). Put the course's folder elsewhere."
  exit 1
fi

find_compiler
see_to_toolkit
# What nobody needs now, but was found earlier, stays found: the flags must not change from one command to the next.
keep_or_see_to() { # $1: needed, or empty; $2: what sees to it; the rest: the variables that it sets
  local name
  for name in "${@:3}"; do declare -g "$name="; done
  if [ -n "$1" ]; then
    "$2"
  elif keeps || { [ "$2" != see_to_catch2 ] && keeps_python; }; then
    for name in "${@:3}"; do declare -g "$name=${had[$name]:-}"; done
  fi
}
keep_or_see_to "$needs_catch2" see_to_catch2 CATCH_VERSION CATCH_FLAGS CATCH_LIBS WITHOUT_CATCH2
keep_or_see_to "$needs_torch" see_to_torch TORCH TORCH_PATH TORCH_OLD_STRING TORCH_ROOT WITHOUT_TORCH
keep_or_see_to "$needs_torch" see_to_ninja NINJA
keep_or_see_to "$needs_torch" see_to_python_headers PYTHON_HEADERS
keep_or_see_to "$needs_torch" see_to_pip PIP_PATH
keep_or_see_to "$needs_pytest" see_to_pytest PYTEST PYTEST_PATH WITHOUT_PYTEST
keep_or_see_to "$needs_matplotlib" see_to_matplotlib MATPLOTLIB MATPLOTLIB_PATH WITHOUT_MATPLOTLIB

{
  echo "# Written by common/setup.sh: what this machine has."
  for name in KEY COMPILER CXX_INSTEAD CUDA_ROOT CUDA_INCLUDE CUDA_VERSION NVCC PTX_ARCH WITHOUT_TOOLKIT WITHOUT_HOST_NVCC \
    CATCH_VERSION CATCH_FLAGS CATCH_LIBS WITHOUT_CATCH2 TORCH TORCH_PATH TORCH_OLD_STRING TORCH_ROOT WITHOUT_TORCH NINJA PYTHON_HEADERS PIP_PATH PYTEST PYTEST_PATH WITHOUT_PYTEST \
    MATPLOTLIB MATPLOTLIB_PATH WITHOUT_MATPLOTLIB; do
    value=${!name//\$/\$\$} # as make reads it, and common/course.py
    echo "$name := ${value//#/\\#}"
  done
} >"$new" 2>/dev/null && mv "$new" build/setup.mk && exit 0
rm -f "$new"
say "build/setup.mk could not be written: is the disk full? $(df -Ph build | awk 'NR == 2 { print $4 " free" }')"
exit 1
