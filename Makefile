# How a CUDA program is built in this course. There are three rules:
#
#   device code   kernels.cu -> kernels.ptx   nvcc compiles it to PTX, a portable assembly code.
#                                             The driver compiles PTX further, for the GPU at hand,
#                                             when the program loads it.
#   host code     main.cpp -> main.o          This is ordinary C++: any C++ compiler will do.
#   program       main.o -> main              It is linked with one library, libcuda: the driver.
#
# `make 04-03` prints the commands that these rules run. When many lessons are built, only progress
# is shown. The PTX is not linked in: the program opens it when it runs.
# What you type (`make run`, `make check 02-context`) is interpreted by common/course, a Python
# package. It calls make again with the files to build. `make help` lists what you can type.
# All paths are relative to this folder, which may be called anything.

ifneq ($(filter 3.% 4.0% 4.1%,$(MAKE_VERSION)),)
$(error GNU make $(MAKE_VERSION) is too old: the course needs 4.2 or newer)
endif

SHELL := $(if $(LOGGED),common/make/logged,/bin/bash)
.SHELLFLAGS = $(if $(LOGGED),$@) -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
unexport CDPATH

# What is on this machine: CUDA_INCLUDE, NVCC, PTX_ARCH, … (written by common/course/setup.py).
-include build/setup.mk
# Headers that most files include are parsed once, into build/parsed: WARNINGS, PARSED.
include common/make/compiler.mk

# ---- Flags ---------------------------------------------------------------------------------------

# Kernels compiled for the oldest supported architecture run on every newer GPU.
# -lineinfo: a report about a kernel names the line in its source.
# -MMD -MP: write down which headers were included, so that a change in one of them is noticed.
NVCC_FLAGS := -std=c++17 -lineinfo -arch=$(PTX_ARCH) -I. -MMD -MP
NVCC_FLAGS += -ccbin $(or $(firstword $(filter-out -% %ccache,$(CXX))),g++)
NVCC_FLAGS += -allow-unsupported-compiler -Wno-deprecated-gpu-targets

LESSON_FLAGS := -std=c++17 -O2 -g -pthread $(WARNINGS) -Wpedantic -MMD -MP
LESSON_FLAGS += $(PARSED:%=-Ibuild/parsed) -I. -isystem $(CUDA_INCLUDE) $(HOST_FLAGS)
# A message names a file as the lesson does: main.cpp, without its folder.
SHORT_NAMES = -fmacro-prefix-map=$(<D)/=

# libcuda is linked by its name. The loader decides when the program starts which one it gets:
# that of NVIDIA's driver, or the simulated GPU. (At link time, the simulator's is always there.)
DRIVER := -Lbuild/simulator -lcuda $(HOST_FLAGS) $(LDFLAGS)

# ---- The three rules -----------------------------------------------------------------------------

build/%.ptx: %.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(NVCC_FLAGS) $< -o $@

build/%.o: %.cpp build/flags.lessons $(PARSED)
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) $(SHORT_NAMES) -c $< -o $@ $(CXXFLAGS)

build/%/main: build/%/main.o | build/simulator/libcuda.so
	$(Q)$(CXX) -pthread $< -o $@ $(DRIVER) $(LIBS)

# ---- Everything else -----------------------------------------------------------------------------

# Before a command: makes the file's folder. With QUIET, one line takes the place of the command.
step = @mkdir -p $(@D)$(if $(QUIET), && printf '  %-9s %s\n' '$1' '$<')
Q := $(if $(QUIET),@)

ifdef INSIDE  # common/course calls: make wanted WANTED="build/02-context/03-current/main …"
wanted: $(WANTED) ; @:
.PHONY: wanted always

# The simulated GPU has a Makefile of its own.
build/simulator/libcuda.so: always
	+@$(MAKE) -f common/simulator/Makefile library $(FOR_SIMULATOR)
# So has the CUDA runtime, which no lesson needs.
build/runtime/libcudart.so: always
	+@$(MAKE) -f common/runtime/Makefile libraries $(FOR_SIMULATOR)
FOR_SIMULATOR = SANITIZE= CUDA_INCLUDE=$(CUDA_INCLUDE)

include common/make/lessons.mk   # what some lessons build besides, and edited copies of lessons
include common/make/checks.mk    # the checks of exercises, and the suites of tests/
include common/make/torch.mk     # chapter 05, which extends PyTorch
include common/make/flags.mk     # what was built with other flags is built again

# Which headers each file included when it was compiled.
-include $(shell find build/[0-9]* build/te* build/parsed build/bench -name '*.d' 2>/dev/null)
else
GOALS := $(or $(MAKECMDGOALS),help)
.PHONY: $(GOALS) typed
$(GOALS): typed ; @:
typed: export MAKE_COMMAND := $(MAKE)
typed: export USERS_PYTHONPATH := $(PYTHONPATH)
typed: export PYTHONPATH := common
typed: export PYTHONUTF8 := 1
typed: export PYTHONOPTIMIZE :=
typed: export PYTHONSAFEPATH :=
typed:
	@+python3 -B -m course make $(MAKECMDGOALS:%='%') || { status=$$?; [ $$status != 127 ] || \
	  echo 'No working python3 was found. Type: sudo apt-get install python3' >&2; \
	  exit $$status; }
endif
