# CUDA from the Driver Up. `make run` and `make test` are all that has to be typed; `make help` lists the rest.
#
# One Makefile for everything: chapters, lessons, kernels, tests and simulator sources are found by wildcard, so a new lesson
# needs no line here. A lesson that builds something special says so in its own lesson.mk (see "Lessons" below).
# Paths are relative to this folder, so that the repository may lie in a path with spaces.

##@ Variables
#: DEVICE=auto|gpu|simulator  where the lessons run: a GPU if one answers, else the simulator (default: auto)
#: IN=02-context/03-stack     only this chapter or lesson, for run, check, test, walk and bench (test: or a suite of tests/)
#: V=1                        show every command
#: CXX=clang++                another compiler
#: CUDA_HOME=/path            another CUDA toolkit
#: TOOLKIT_VERSION=13.5       the version of the private one, where it is fetched
#: TORCH_INDEX=https://…      the package index that PyTorch is fetched from
#: SIM_ARCH=-march=native     what the simulator is compiled for; AVX2 by default, where the CPU has it
#: SANITIZE=address,undefined  with test: simulator and suites built with these sanitizers (or: thread), in a folder of their own;
#:                            with IN=02-context: its lessons on the host's side; SANITIZE=valgrind: lessons;
#:                            SANITIZE=checks (simulator), compute-sanitizer (GPU): what the lessons' kernels do
DEVICE ?= auto
IN ?=
V ?=
SIM_ARCH ?= -march=native
export DEVICE V STRICT
unexport CDPATH

ifneq ($(filter 3.% 4.0% 4.1%,$(MAKE_VERSION)),)
$(error GNU make $(MAKE_VERSION) is too old: the course needs 4.2 or newer)
endif

# make -R forgets what it calls g++; and CXX= means no other one.
ifeq ($(CXX),)
override CXX := g++
endif

SHELL := /bin/bash
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifndef INSIDE  # the tools call make again: what follows has been seen to by then
MAKEFLAGS += -j$(shell nproc) --output-sync=target
endif
.DEFAULT_GOAL := help
Q := $(if $(V),,@)
# `make -n` fetches and writes nothing.
DRY_RUN := $(if $(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),echo)
say = $(if $(V),,@printf '  %-9s %s\n' '$1' $(call quoted,$2))
# The same as a step begins that takes more than 20 seconds: what it prints would be shown when it has ended, but for a line that begins with +.
say_first = $(if $(V),,$(if $(DRY_RUN),,+)@printf '  %-9s %s\n' '$1' $(call quoted,$2))

# ---- What is asked for: refused in a sentence before anything is fetched or built ------------------------------------------

# $1 as one word of a shell's command, whatever is in it.
quoted = '$(subst ','\'',$1)'
# GNU make 4.2 takes it for the beginning of a comment, wherever it stands.
hash := \#
GOALS := $(or $(MAKECMDGOALS),help)
# These do a part of the course where one is named, by IN= or beside them: make walk 02-context.
PARTLY := $(filter run check walk test bench,$(GOALS))

# A lesson's program is main.cpp, or main.py where PyTorch is its subject.
PYTHON_LESSONS := $(patsubst %/main.py,%,$(wildcard [0-9][0-9]-*/[0-9][0-9]-*/main.py))
LESSONS := $(sort $(PYTHON_LESSONS) $(patsubst %/main.cpp,%,$(wildcard [0-9][0-9]-*/[0-9][0-9]-*/main.cpp)))
# A folder without a lesson is no chapter.
CHAPTERS := $(sort $(foreach lesson,$(LESSONS),$(firstword $(subst /, ,$(lesson)))))
# Those with kernels need nvcc; without it the others still run.
KERNEL_LESSONS := $(patsubst %/,%,$(sort $(dir $(wildcard $(LESSONS:=/*.cu)))))

# What a name may be typed as besides, each as short=name: 03 is 03-memory; 02-03, 02-context/03 and 03-stack are 02-context/03-stack.
number = $(firstword $(subst -, ,$1))
SHORT := $(foreach chapter,$(CHAPTERS),$(call number,$(chapter))=$(chapter)) $(foreach lesson,$(LESSONS),$(addsuffix =$(lesson),\
  $(call number,$(lesson))-$(call number,$(notdir $(lesson))) $(dir $(lesson))$(call number,$(notdir $(lesson))) $(notdir $(lesson))))
meant_by = $(or $(filter $1,$(CHAPTERS) $(LESSONS)),$(patsubst $1=%,%,$(filter $1=%,$(SHORT))),$1)

TYPED := $(filter 0% 1% 2% 3% 4% 5% 6% 7% 8% 9%,$(GOALS))
NAMED := $(foreach name,$(patsubst %/,%,$(TYPED)),$(call meant_by,$(name)))
PART := $(foreach name,$(patsubst %/,%,$(IN)),$(call meant_by,$(name))) $(if $(PARTLY),$(NAMED))
PART := $(strip $(PART))
# The lessons of that part: everything, or chapters and lessons.
CHOSEN := $(if $(PART),$(filter $(PART) $(PART:=/%),$(LESSONS)),$(LESSONS))

is_suite = $(and $(filter test,$(GOALS)),$(wildcard tests/$1/*.cpp))
chapter_of = $(filter $(firstword $(subst /, ,$1)),$(CHAPTERS))
lessons_in = $(patsubst $1/%,%,$(filter $1/%,$(LESSONS)))
# The only lesson whose name has what was typed in it.
alike = $(foreach lesson,$(LESSONS),$(if $(findstring $(notdir $1),$(notdir $(lesson))),$(lesson)))
did_you_mean = $(if $(word 2,$(alike)),,$(alike:%= Did you mean %?))
refuse = $(error There is no $(if $(chapter_of),lesson called $1.$(did_you_mean) The lessons of $(chapter_of) are: $(call lessons_in,$(chapter_of)),chapter or lesson called $1.$(did_you_mean) The chapters are: $(CHAPTERS)))
ifndef INSIDE
ifneq ($(findstring :,$(CURDIR))$(findstring ;,$(CURDIR)),)
$(error For the loader a path ends at a : or a ;, so it would not find the simulated GPU in $(CURDIR). Give the folder another name)
endif
ifneq ($(and $(filter clean,$(GOALS)),$(filter-out clean,$(GOALS))),)
$(error clean goes alone, for the others would be building what it removes: make clean, then make $(filter-out clean,$(GOALS)))
endif
# make itself takes any variable, and one in other letters would be of no effect: `make check in=02-context` would check everything.
VARIABLES := $(shell sed -n 's/^$(hash): \([A-Z_]*\)=.*/\1/p' Makefile)
GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
in_capitals = $(shell printf %s $(call quoted,$1) | tr '[:lower:]' '[:upper:]')
$(foreach name,$(filter-out $(VARIABLES),$(GIVEN)),$(foreach known,$(filter $(VARIABLES),$(call in_capitals,$(name))),\
  $(error There is no variable called $(name), only $(known): make $(MAKECMDGOALS) $(known)=$(value $(name)))))
TARGETS := $(shell sed -n 's/^$(hash): \([a-z-]*\)  .*/\1/p' Makefile)
$(foreach goal,$(filter-out $(TARGETS) $(TYPED) build/%,$(GOALS)),$(error There is no target called $(goal).$(call did_you_mean,$(goal)) `make help` lists them))
$(foreach name,$(sort $(PART) $(NAMED)),$(if $(filter $(name),$(CHAPTERS) $(LESSONS))$(call is_suite,$(name)),,$(call refuse,$(name))))
ifneq ($(filter-out help clean,$(GOALS)),)
PYTHON := $(shell python3 -BI -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
ifeq ($(PYTHON),)
$(error There is no python3 here that starts, and it runs the lessons. Type: sudo apt-get install python3)
endif
ifneq ($(filter 2.% $(addprefix 3.,0 1 2 3 4 5 6 7 8),$(PYTHON)),)
$(error The python3 here is Python $(PYTHON), and the course needs 3.9 or newer. Put a newer one first on the PATH)
endif
endif
ifneq ($(filter-out auto simulator,$(DEVICE)),)
ifneq ($(filter-out help clean doctor,$(GOALS)),)
ifneq ($(shell DEVICE=$(call quoted,$(DEVICE)) PYTHONUTF8=1 python3 common/course.py device && echo ready),ready)
$(error Nothing was built: see the sentence above)
endif
endif
endif
endif

# ---- Set-up: the toolkit, the compiler and Catch2 as found on this machine (or fetched) -----------------------------------

ifeq ($(if $(DRY_RUN),,$(filter-out help clean doctor,$(GOALS))),)
else ifndef INSIDE
ASKED := $(if $(PARTLY),$(CHOSEN),$(filter $(NAMED) $(NAMED:=/%),$(LESSONS)))
JUDGING := $(filter test check build/tests/%,$(GOALS))
ifneq ($(and $(findstring $$,$(CURDIR)),$(filter $(PYTHON_LESSONS),$(ASKED))),)
$(error PyTorch's builder takes a $$ in a path for the beginning of a variable, so chapter 05 cannot be built in $(CURDIR). Give the folder another name)
endif
# The lessons that plot have a plot.py.
SETUP_NEEDS := $(if $(JUDGING),catch2) $(if $(filter $(PYTHON_LESSONS),$(ASKED)),torch $(if $(JUDGING),pytest)) $(if $(wildcard $(ASKED:=/plot.py)),matplotlib)
SETUP_RESULT := $(shell $(foreach name,TMPDIR XDG_CACHE_HOME TORCH_INDEX,$(if $($(name)),$(name)=$(call quoted,$(value $(name))))) CXX=$(call quoted,$(CXX)) CUDA_HOME=$(call quoted,$(value CUDA_HOME)) TOOLKIT_VERSION=$(call quoted,$(TOOLKIT_VERSION)) bash common/setup.sh $(SETUP_NEEDS) && echo ready)
ifneq ($(SETUP_RESULT),ready)
$(error Nothing was built: see the sentence above)
endif
endif
# Sets CUDA_INCLUDE NVCC WITHOUT_HOST_NVCC CUDA_VERSION PTX_ARCH CATCH_FLAGS CATCH_LIBS COMPILER; each may be empty: not to be had.
-include build/setup.mk
ifneq ($(CXX_INSTEAD),)
override CXX := $(CXX_INSTEAD)
export CXX
endif

export INSIDE := 1

# ---- Flags: in variables of our own, so that CXXFLAGS= and LDFLAGS= of the user add to them and never wipe them -----------

INCLUDES := -I. $(if $(CUDA_INCLUDE),-isystem $(call quoted,$(CUDA_INCLUDE)))
DEPENDS = -MMD -MP -MF $(@:.o=.d)
# g++ 12's -Wrestrict fires on std::string's own operator+ (GCC bug 105651); clang++ does not know the warning.
WARNINGS := -Wall -Wextra $(if $(findstring clang,$(COMPILER)),,-Wno-restrict)
# g++ parses the header that most files begin with once; it takes build/parsed/common/cu.hpp.gch where common/cu.hpp is the first that a file includes.
# The lessons' checks and the suites begin with Catch2 in the same way. Half the time of a build goes into headers otherwise.
PARSED := $(if $(findstring clang,$(COMPILER)),,yes)
# In a report, a file is called as the learner calls it: main.cpp, not 02-context/03-stack/main.cpp.
SHORT_NAMES = -fmacro-prefix-map=$(<D)/=
# HOST_FLAGS: what tests/host_side.py adds to lessons and checks, a sanitizer; compiling and linking.
LESSON_FLAGS := -std=c++17 -O2 -g $(WARNINGS) -Wpedantic -pthread $(if $(PARSED),-Ibuild/parsed) $(INCLUDES) $(HOST_FLAGS)
TEST_FLAGS := -std=c++17 -O1 $(WARNINGS) -pthread $(INCLUDES) $(CATCH_FLAGS) $(HOST_FLAGS)
# The driver's library: linked by name only. Which one is loaded is decided when a program starts.
DRIVER := -Lbuild/simulator -lcuda
# -lineinfo: the simulator's reports name the kernel's line.
NVCC_FLAGS := -ptx -std=c++17 -lineinfo -arch=$(PTX_ARCH) -ccbin $(or $(firstword $(filter-out -% %ccache,$(CXX))),g++) -allow-unsupported-compiler -Wno-deprecated-gpu-targets -I.

# Without -g: PyTorch's headers parsed with it are half a gigabyte.
# g++ 13 and later suspect PyTorch's own headers, once they are parsed, of using what nobody has set.
# Wheels of PyTorch 2.6 and before have the std::string of before C++11 (see 05-10), and so must all that calls them.
TORCH_FLAGS := $(filter-out -g,$(LESSON_FLAGS)) $(if $(filter yes,$(TORCH_OLD_STRING)),-D_GLIBCXX_USE_CXX11_ABI=0) $(if $(PARSED),-Wno-maybe-uninitialized) -fPIC -isystem $(call quoted,$(TORCH_ROOT)/include) -isystem $(call quoted,$(TORCH_ROOT)/include/torch/csrc/api/include)

# What was built with other flags, another compiler or another toolkit is built again. Several stamps: getting Catch2 later must not
# build the simulator again.
TOOLCHAIN := $(COMPILER) $(CXX) $(CUDA_INCLUDE) $(CUDA_VERSION) $(CXXFLAGS) $(LDFLAGS)
BUILT_WITH.lessons := $(TOOLCHAIN) $(LESSON_FLAGS) $(DRIVER) $(NVCC) $(NVCC_FLAGS)
BUILT_WITH.torch := $(TOOLCHAIN) $(TORCH_FLAGS) $(TORCH)
BUILT_WITH.tests := $(TOOLCHAIN) $(TEST_FLAGS) $(SIM_ARCH) $(CATCH_LIBS)
# strip: for some lengths of a text, GNU make 4.3 forgets to take off a file's last newline, and all would be built again, each time.
kept_text = $(strip $(file <$1))
define stamp
ifneq ($$(call kept_text,build/flags.$1),$$(strip $$(BUILT_WITH.$1)))
$(if $(DRY_RUN),.PHONY: build/flags.$1,$$(file >build/flags.$1,$$(BUILT_WITH.$1)))
endif
build/flags.$1: ;
endef
ifneq ($(wildcard build/setup.mk),)
$(foreach part,lessons tests torch,$(eval $(call stamp,$(part))))
endif

##@ Running and learning

#: run                  every lesson, in order
run: $$(call programs,$$(CHOSEN))
	@+$(TOOLS) python3 common/run.py $(CHOSEN)

#: 02-context           one chapter
#: 02-context/03-stack  one lesson, also by its number, 02-03; beside run, walk, check or test, a chapter or lesson says which part
ifeq ($(PARTLY),)
$(CHAPTERS): $$(call programs,$$(filter $$@/%,$$(LESSONS)))
	@+$(TOOLS) python3 common/run.py $(filter $@/%,$(LESSONS))

$(LESSONS): $$(call programs,$$@)
	@+$(TOOLS) python3 common/run.py $@
else
$(CHAPTERS) $(LESSONS): $(PARTLY) ; @:
endif
# As the Tab key completes a folder's name.
$(addsuffix /,$(CHAPTERS) $(LESSONS)): %/: % ; @:
# By number, or by its name alone.
BY_SHORT := $(filter-out $(foreach name,$(CHAPTERS) $(LESSONS),$(name) $(name)/),$(TYPED))
$(foreach name,$(BY_SHORT),$(eval $(name): $(call meant_by,$(name:/=)) ; @:))

#: walk                 the classroom: question, prediction, run, what happened, lesson by lesson
walk: $$(call programs,$$(CHOSEN))
	@+$(TOOLS) python3 common/walk.py $(CHOSEN)

#: check                judges your exercises
check:
	@+$(TOOLS) python3 tests/check.py $(CHOSEN)

##@ Proving and maintaining

#: test                 everything: lessons, exercises, texts, simulator; ends with the counts
test:
	@+$(if $(SANITIZE),$(TOOLS) python3 tests/sanitize.py '$(SANITIZE)' $(PART),$(TOOLS) python3 tests/run.py $(PART))

#: doctor               what this machine has, and what follows from it
doctor:
	@+$(TOOLS) python3 common/doctor.py || [ $$? -le 2 ]  # 1 and 2 are verdicts, which the text has given; not make's errors

#: simulator            only the simulated GPU, build/simulator/libcuda.so.1
simulator: build/simulator/libcuda.so

#: bench                the measured lessons on the device at hand; keeps their figures in build/bench/
bench: $$(call programs,$$(CHOSEN))
	@+$(TOOLS) python3 common/bench.py $(CHOSEN)

#: bench-simulator      the simulator's speed on four kernels, beside that of PoCL, a compiler for the same CPU
bench-simulator: build/bench/driver build/bench/opencl build/bench/kernels.ptx
	$(Q)LD_LIBRARY_PATH=build/simulator python3 common/bench/compare.py build/bench/driver build/bench/opencl common/bench/kernels.cl

#: clean                removes everything that was built (what was downloaded stays)
clean:
	$(Q)[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name downloads -exec rm -rf {} + 2>/dev/null || \
	  { echo "Not all of build/ could be removed: some of it is $$(find build ! -user $$(id -u) -printf '%u' -quit)'s." >&2; exit 1; }
	@echo 'removed build/; your answers and what was downloaded stay'

#: help                 this list
help:
	@sed -n -e 's/^##@ /\n/p' -e 's/^#: /  /p' Makefile

.PHONY: run walk check test doctor simulator bench bench-simulator fuzz clean help $(BY_SHORT) $(foreach name,$(CHAPTERS) $(LESSONS),$(name) $(name)/)

# What the tools in Python have to know. Their lines begin with + (they call make again, and their output is not to be held back), which
# `make -n` would run, too. PYTHONSAFEPATH would hide the tools from each other, PYTHONOPTIMIZE leaves out what they assert.
TOOLS = $(DRY_RUN) PYTHONSAFEPATH= PYTHONOPTIMIZE= MAKE_COMMAND=$(call quoted,$(MAKE)) CXX=$(call quoted,$(CXX)) PYTHONUTF8=1 PYTHONPATH=common PYTHONPYCACHEPREFIX=build/pycache

# $1: flags. -w: a header is no main file, g++ would say. Written elsewhere first, for half of one would be taken, too, and another make may be at it. Where g++ finds a parsed
# header that does not serve (it is not the first), it wants the header's text in the same place.
parse_header = $(Q)mkdir -p $(@D) && echo '\#include "$(subst $() ,/,$(patsubst %,..,$(subst /, ,$(@D))))/$<"' > $(@:.gch=) && \
  $(CXX) $1 $(CXXFLAGS) -w -MMD -MP -MF $(@:.gch=.d) -MT $@ -x c++-header $< -o $@.$$$$ && mv $@.$$$$ $@

# ---- The simulated GPU ---------------------------------------------------------------------------------------------------

# It has its own Makefile, which knows its sources and its flags.
SIMULATOR = +$(Q)$(MAKE) -f common/simulator/Makefile SANITIZE= CXX=$(call quoted,$(CXX)) CUDA_INCLUDE=$(call quoted,$(CUDA_INCLUDE)) \
  CATCH_FLAGS=$(call quoted,$(CATCH_FLAGS)) CATCH_LIBS=$(call quoted,$(CATCH_LIBS))

build/simulator/libcuda.so: always
	$(SIMULATOR) library
always: ;
.PHONY: always

# ---- The simulator's benchmark: the same four kernels through the driver API and through OpenCL ---------------------------

build/bench/driver: common/bench/driver.cpp build/flags.lessons | build/simulator/libcuda.so
	$(Q)mkdir -p $(@D) && $(CXX) $(LESSON_FLAGS) $(CXXFLAGS) $(DEPENDS) $(LDFLAGS) $< $(DRIVER) -o $@

build/bench/opencl: common/bench/opencl.cpp build/flags.lessons
	$(Q)mkdir -p $(@D) && $(CXX) $(LESSON_FLAGS) $(CXXFLAGS) $(DEPENDS) $(LDFLAGS) $< -lOpenCL -o $@ || \
	  { echo 'OpenCL was not found. On Debian and Ubuntu: apt-get install pocl-opencl-icd ocl-icd-opencl-dev'; exit 1; }

build/bench/kernels.ptx: common/bench/kernels.cu build/flags.lessons
	$(call compile_ptx)

# ---- Lessons: build/<chapter>/<lesson>/main and, beside it, kernels.ptx --------------------------------------------------
#
# A lesson.mk adds rules for what else its lesson builds, and names it:
#   EXTRA.05-extension/02-plugin = build/05-extension/02-plugin/libsquare.so   built before the program is linked
#   LIBS.05-extension/02-plugin = -ldl                                         linked into program and checks
#   HOST_CODE += 05-extension/09-mini-runtime      nvcc compiles more of it than kernels; without a whole nvcc it is skipped
# A lesson.env sets what its programs need besides the device (NAME=value): two simulated devices, say. The tools read it.

PARSED.lessons := $(if $(PARSED),build/parsed/common/cu.hpp.gch)
build/parsed/common/cu.hpp.gch: common/cu.hpp build/flags.lessons
	$(call parse_header,$(LESSON_FLAGS))

programs = $(if $(CUDA_INCLUDE),$(foreach l,$(filter-out $(if $(NVCC),,$(KERNEL_LESSONS) $(HOST_CODE)) $(if $(WITHOUT_HOST_NVCC),$(HOST_CODE)),$1),$(call program,$l)))
program = $(if $(filter $(PYTHON_LESSONS),$1),$(if $(and $(TORCH),$(if $(filter $1,$(CUDA_OPS)),$(TORCH_CUDA_HERE),yes)),build/$1/ready),build/$1/main)
# Some ops include what only a PyTorch with CUDA has.
CUDA_OPS := $(patsubst %/op.cpp,%,$(shell grep -ls '<c10/cuda/' $(PYTHON_LESSONS:=/op.cpp) /dev/null))
TORCH_CUDA_HERE := $(shell [ ! -e $(call quoted,$(TORCH_ROOT)/include/c10/cuda/CUDAGuard.h) ] || echo yes)
built_kernels = $(if $(wildcard $1/kernels.cu $2/kernels.cu),$2/kernels.ptx)
built_op = $(if $(wildcard $1/op.cpp $2/op.cpp),$2/op.so)
# texts/05-extension/02-plugin/1, an edited copy, belongs to 05-extension/02-plugin.
lesson_of = $(if $(filter texts/%,$1),$(patsubst texts/%/,%,$(dir $1)),$1)

-include $(wildcard $(LESSONS:=/lesson.mk))

build/%/main.o: %/main.cpp build/flags.lessons $(PARSED.lessons)
	$(call say,compile,$<)
	$(Q)mkdir -p $(@D) && $(CXX) $(LESSON_FLAGS) $(SHORT_NAMES) $(CXXFLAGS) $(DEPENDS) -c $< -o $@

# One rule for a lesson's program and its edited copies: with two, make chose the wrong one now and then in a parallel build.
build/%/main: build/%/main.o $$(EXTRA.$$(call lesson_of,$$*)) $$(call built_kernels,$$*,build/$$*) | build/simulator/libcuda.so
	$(Q)$(CXX) $(HOST_FLAGS) $(LDFLAGS) -pthread $< $(DRIVER) $(LIBS.$(call lesson_of,$*)) -o $@

build/%/kernels.ptx: %/kernels.cu build/flags.lessons
	$(call say,nvcc,$<)
	$(call compile_ptx)

# nvcc may be a path with spaces. -MMD makes it list what the kernels include; the toolkit's own headers are struck out again (build/flags.lessons
# stands for them), so that another toolkit in another place is no riddle to make.
compile_ptx = $(Q)mkdir -p $(@D) && $(call quoted,$(NVCC)) $(NVCC_FLAGS) -MMD -MF $@.d -MT $@ $< -o $@ && sed -i '/^ *\//d' $@.d

# A text's "break it" edit, applied to a copy by tests/run.py: build/texts/<chapter>/<lesson>/<n>/main.cpp (and kernels.cu).
build/texts/%/main.o: build/texts/%/main.cpp build/flags.lessons $(PARSED.lessons)
	$(Q)$(CXX) $(LESSON_FLAGS) $(SHORT_NAMES) $(CXXFLAGS) $(DEPENDS) -c $< -o $@

build/texts/%/kernels.ptx: build/texts/%/kernels.cu build/flags.lessons
	$(call compile_ptx)

# ---- Checks: one for each answer: the learner's exercise, the solution, every kept wrong solution ------------------------
#
# build/tests/<chapter>/<lesson>/<variant>/check is linked from the lesson's check, Catch2's main and the answer. An answer in
# CUDA becomes exercise.ptx beside the check; the lesson's own kernels.ptx and a tests/<chapter>/<lesson>.cu (check.ptx) lie there too.

build/tests/catch_main.o: tests/catch_main.cpp build/flags.tests
	$(call say,compile,$< (Catch2: once))
	$(Q)mkdir -p $(@D) && $(CXX) $(TEST_FLAGS) $(CXXFLAGS) $(DEPENDS) -c $< -o $@

PARSED.tests := $(if $(PARSED),build/parsed/tests/catch.hpp.gch)
build/parsed/tests/catch.hpp.gch: tests/catch.hpp build/flags.tests
	$(call parse_header,$(TEST_FLAGS))

build/tests/%.o: tests/%.cpp build/flags.tests $(PARSED.tests)
	$(call say,compile,$<)
	$(Q)mkdir -p $(@D) && $(CXX) $(TEST_FLAGS) $(PARSED.tests:%.gch=-include %) $(CXXFLAGS) $(DEPENDS) -c $< -o $@

build/tests/%.ptx: tests/%.cu build/flags.lessons
	$(call say,nvcc,$<)
	$(call compile_ptx)

# $1 lesson, $2 variant, $3 the answer's source
define check_of
CHECKS += build/tests/$1/$2/check
build/tests/$1/$2/answer.o: $3 build/flags.lessons $(PARSED.lessons)
	$$(Q)mkdir -p $$(@D) && $$(CXX) $$(LESSON_FLAGS) $$(SHORT_NAMES) $$(CXXFLAGS) $$(DEPENDS) -c $$< -o $$@
build/tests/$1/$2/exercise.ptx: $3 build/flags.lessons
	$$(call compile_ptx)
build/tests/$1/$2/kernels.ptx: build/$1/kernels.ptx
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
build/tests/$1/$2/check.ptx: build/tests/$1.ptx
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
build/tests/$1/$2/check: build/tests/$1.o build/tests/catch_main.o $(if $(filter %.cpp,$3),build/tests/$1/$2/answer.o) \
    $(EXTRA.$1) | $(if $(filter %.cu,$3),build/tests/$1/$2/exercise.ptx) $(if $(wildcard $1/kernels.cu),build/tests/$1/$2/kernels.ptx) \
    $(if $(wildcard tests/$1.cu),build/tests/$1/$2/check.ptx) build/simulator/libcuda.so
	$$(Q)mkdir -p $$(@D) && $$(CXX) $$(HOST_FLAGS) $$(LDFLAGS) -pthread $$(filter %.o,$$^) $$(CATCH_LIBS) $$(DRIVER) $$(LIBS.$1) -o $$@
endef

# A lesson in Python needs only what its lesson.mk builds, its kernels, its op in C++ (op.cpp becomes op.so), and the simulator; an edited copy of its texts
# the same. An op or an answer in C++ becomes a library for torch.ops.load_library, an answer in CUDA becomes PTX, as elsewhere. The C++ includes
# <ATen/ATen.h> and <torch/library.h>, which are parsed once, not <torch/extension.h>, which wants Python's own headers and takes a minute.
build/%/ready: $$(EXTRA.$$(call lesson_of,$$*)) $$(call built_kernels,$$*,build/$$*) $$(call built_op,$$*,build/$$*) | build/simulator/libcuda.so
	$(Q)mkdir -p $(@D) && touch $@

PARSED.torch := $(if $(PARSED),build/parsed/common/torch.hpp.gch)
build/parsed/common/torch.hpp.gch: common/torch.hpp build/flags.torch
	$(call say_first,parse,common/torch.hpp (PyTorch's headers: once, and it takes a while))
	$(call parse_header,$(TORCH_FLAGS))

TORCH_LINK := -shared -pthread -L$(call quoted,$(TORCH_ROOT)/lib) -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10 -Wl,--as-needed
# $1: of which lesson
compile_torch = $(Q)mkdir -p $(@D) && $(CXX) $(TORCH_FLAGS) $(PARSED.torch:%.gch=-include %) $(SHORT_NAMES) $(CXXFLAGS) -MMD -MP -MF $(@:.so=.d) $< \
  $(LDFLAGS) $(TORCH_LINK) $(DRIVER) $(LIBS.$1) -o $@

build/%/op.so: %/op.cpp build/flags.torch $(PARSED.torch) | build/simulator/libcuda.so
	$(call say_first,compile,$< (with PyTorch))
	$(call compile_torch,$*)

build/texts/%/op.so: build/texts/%/op.cpp build/flags.torch $(PARSED.torch) | build/simulator/libcuda.so
	$(call compile_torch,$(call lesson_of,texts/$*))

# $1 lesson, $2 variant, $3 the answer's source
define library_of
build/tests/$1/$2/answer.so: $3 build/flags.torch $(PARSED.torch) build/$1/ready
	$$(call say_first,compile,$$<)
	$$(call compile_torch,$1)
build/tests/$1/$2/exercise.ptx: $3 build/flags.lessons build/$1/ready
	$$(call compile_ptx)
endef
$(foreach l,$(PYTHON_LESSONS),$(foreach a,$(wildcard $(addprefix $l/,exercise.cpp exercise.cu solution.cpp solution.cu) $(addprefix tests/$l.wrong/,*.cpp *.cu)),\
  $(eval $(call library_of,$l,$(basename $(notdir $a)),$a))))

CHECKED := $(foreach l,$(LESSONS),$(if $(wildcard tests/$l.cpp),$l))
$(foreach l,$(CHECKED),\
  $(foreach a,$(wildcard $l/exercise.cpp $l/exercise.cu $l/solution.cpp $l/solution.cu $(addprefix tests/$l.wrong/,*.cpp *.cu)),\
    $(eval $(call check_of,$l,$(basename $(notdir $a)),$a))))

# ---- Tests that belong to no lesson --------------------------------------------------------------------------------------
#
# tests/<suite>/*.cpp become one binary, build/tests/<suite>/check, with the suite's kernels (*.cu) as .ptx beside it. All but
# the simulator's own link the driver's library only, so that the same binary runs on a GPU.

SUITES := $(patsubst tests/%/,%,$(sort $(dir $(wildcard tests/[a-z]*/*.cpp))))
suite_objects = $(patsubst %.cpp,build/%.o,$(wildcard tests/$1/*.cpp))
# NVRTC of CUDA 12 does not take what library.cu includes.
suite_kernels = $(patsubst %.cu,build/%.ptx,$(filter-out $(if $(WITHOUT_HOST_NVCC),%/library.cu),$(wildcard tests/$1/*.cu)))

# isa_rows.cpp runs the instructions' suite. Not beside the library: both are made of the same objects.
build/tests/simulator/check: always | build/tests/instructions/check build/simulator/libcuda.so
	$(SIMULATOR) suite

$(patsubst %,build/tests/%/check,$(filter-out simulator,$(SUITES))): build/tests/%/check: \
    $$(call suite_objects,$$*) build/tests/catch_main.o | $$(call suite_kernels,$$*) build/simulator/libcuda.so
	$(call say,link,$@)
	$(Q)$(CXX) $(LDFLAGS) -pthread $^ $(CATCH_LIBS) $(DRIVER) -o $@

# ---- make fuzz: the loader under libFuzzer. The files that see the text are built by clang++, with sanitizers and counters; the
# rest of the simulator is what it is.

FUZZ_SECONDS ?= 60
build/fuzz/loader: always | build/simulator/libcuda.so
	$(SIMULATOR) fuzz

#: fuzz                 the loader fed with texts that libFuzzer makes up, FUZZ_SECONDS=60 long (clang++)
fuzz:
	@+if clang++ --version >/dev/null 2>&1; then $(MAKE) build/fuzz/loader && $(DRY_RUN) tests/fuzz/loader.sh $(FUZZ_SECONDS); \
	else echo 'skipped: make fuzz needs clang++ and its libFuzzer. On Debian and Ubuntu: apt-get install clang'; fi

# ---- tests/compilers: the same sources by every compiler of PTX that there is, <source>.<compiler>-<variant>.ptx ----------

PTX_OF := build/tests/compilers
FLAGS.nvcc-G := -G -arch=compute_90
FLAGS.nvcc-O0 := -Xcicc -O0 -arch=compute_75
FLAGS.nvcc-75 := -arch=$(PTX_ARCH)
FLAGS.nvcc-80 := -arch=compute_80 -lineinfo
FLAGS.nvcc-90a := -arch=compute_90a -rdc=true
FLAGS.nvcc-fast := -arch=compute_86 --use_fast_math
FLAGS.clang-O0 := --cuda-gpu-arch=sm_60 -O0
FLAGS.clang-O3 := --cuda-gpu-arch=sm_80 -O3
FLAGS.clang-fast := --cuda-gpu-arch=sm_70 -O2 -ffast-math -g
CLANG_PTX := $(if $(wildcard tests/compilers),$(shell clang++ -print-targets 2>/dev/null | grep -qw nvptx64 && echo clang++))
# What nvcc writes with -G names the folder, and breaks at a quotation mark in it.
PTX_WHOLE := $(if $(findstring ",$(CURDIR)),,G)
PTX_VARIANTS := $(if $(WITHOUT_HOST_NVCC),,$(if $(NVCC),$(addprefix language.nvcc-,$(PTX_WHOLE) O0 75 80 90a fast) $(addprefix library.nvcc-,$(PTX_WHOLE) 80 90a))) \
  $(if $(CLANG_PTX),$(addprefix language.clang-,O0 O3 fast))

$(PTX_OF)/%.ptx: tests/compilers/sources/$$(word 1,$$(subst ., ,$$*)).cu tests/compilers/sources/language.h build/flags.lessons Makefile
	$(call say,ptx,$@)
	$(Q)mkdir -p $(@D) && $(call ptx_by.$(firstword $(subst -, ,$(lastword $(subst ., ,$*)))),$(FLAGS.$(lastword $(subst ., ,$*)))) $< -o $@
ptx_by.nvcc = $(call quoted,$(NVCC)) $(filter-out -arch=% -lineinfo,$(NVCC_FLAGS)) $1
ptx_by.clang = $(CLANG_PTX) -x cuda -nocudainc -nocudalib --cuda-device-only -Wno-unknown-cuda-version -std=c++17 -DWITHOUT_CUDA_HEADERS -DWITHOUT_WIDE_DIVISION -S $1

$(PTX_OF)/variants.txt: $(PTX_VARIANTS:%=$(PTX_OF)/%.ptx)
	$(Q)mkdir -p $(@D) && printf '%s\n' $(notdir $^) > $@
# OpenMP target regions by GCC: its assembler asks any ptxas in the path about architectures that new ones do not know.
OFFLOAD_GCC := $(if $(wildcard tests/compilers),$(word 1,$(patsubst %,gcc-%,$(notdir $(patsubst %/accel/nvptx-none/mkoffload,%,$(wildcard /usr/lib/gcc/*/*/accel/nvptx-none/mkoffload))))))
# -no-pie: GCC's table of offloaded variables wants to be written to in one that can be moved, and the linker warns of it.
$(PTX_OF)/openmp: tests/compilers/sources/openmp.c
	$(call say,offload,$<)
	$(Q)mkdir -p $(@D) && PATH=/usr/bin:/bin $(OFFLOAD_GCC) -O2 -fno-pie -no-pie -fopenmp -foffload=nvptx-none -foffload-options=-lm $< -o $@ -lm

# Where NVRTC may be, and what it is to compile.
$(PTX_OF)/nvrtc.txt: tests/compilers/sources/language.cu tests/compilers/sources/language.h build/flags.lessons
	$(Q)mkdir -p $(@D)/sources && cp $(filter tests/%,$^) $(@D)/sources/
	$(Q)printf '%s\n' $(wildcard $(addprefix $(dir $(CUDA_INCLUDE)),lib64/libnvrtc.so* lib/libnvrtc.so* ../cuda_nvrtc/lib/libnvrtc.so*)) libnvrtc.so.13 libnvrtc.so.12 > $@

$(PTX_OF)/check: | $(PTX_OF)/variants.txt $(PTX_OF)/nvrtc.txt $(if $(OFFLOAD_GCC),$(PTX_OF)/openmp)

# Asynchronous copies, and what libcu++ builds upon, begin with compute capability 8.0.
build/tests/checks/%.ptx: NVCC_FLAGS := $(subst -arch=$(PTX_ARCH),-arch=compute_80,$(NVCC_FLAGS))
build/tests/checks/modern.ptx: NVCC_FLAGS := $(subst -arch=$(PTX_ARCH),-arch=compute_90,$(NVCC_FLAGS))

# What the compilers noted about includes in an earlier run.
-include $(shell find build -name '*.d' 2>/dev/null)
# No object is an intermediate file: none is deleted behind our back.
.SECONDARY:
