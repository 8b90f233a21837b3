# The checks of exercises, and the suites of tests/ that belong to no lesson.

TEST_FLAGS := -std=c++17 -Og -pthread $(WARNINGS) -I. -isystem $(CUDA_INCLUDE) $(CATCH_FLAGS) -MMD -MP $(HOST_FLAGS)

build/tests/catch_main.o: tests/catch_main.cpp build/flags.tests
	$(call step,compile)
	$(Q)$(CXX) $(TEST_FLAGS) $(CXXFLAGS) -c $< -o $@

build/tests/%.o: tests/%.cpp build/flags.tests $(PARSED_TESTS)
	$(call step,compile)
	$(Q)$(CXX) $(TEST_FLAGS) $(PARSED_TESTS:%.gch=-include %) $(CXXFLAGS) -c $< -o $@

# NVRTC needs a fifth of nvcc's time. What a learner runs or measures comes from nvcc, and so do the suites' kernels. Wrong kernels and
# edited copies, which only `make test` compiles, come from NVRTC.
QUICK_NVCC := $(if $(wildcard $(CUDA_ROOT)/lib*/libnvrtc.so.*),$(or $(PYTHON),python3) -IS common/nvcc_by_nvrtc.py --toolkit=$(CUDA_ROOT),$(NVCC))
build/tests/%.ptx: tests/%.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(if $(filter tests/0%,$<),$(QUICK_NVCC),$(NVCC)) -ptx $(NVCC_FLAGS) -MF $@.d $< -o $@

# ---- One check for each source: the learner's exercise, the solution, every wrong solution ------------------------------------
#
# build/tests/<chapter>/<lesson>/<variant>/check is linked from the lesson's check, Catch2's main and that source. A source in CUDA
# becomes exercise.ptx beside it; the lesson's kernels.ptx, and check.ptx from a tests/<chapter>/<lesson>.cu, are copied there.

.SECONDEXPANSION:

# $1: <chapter>/<lesson>/<variant>. Its lesson, and its source; $2: cpp or cu.
lesson_in = $(patsubst %/,%,$(dir $1))
answer = $(firstword $(wildcard $(foreach lesson,$(call lesson_in,$1),$(lesson)/$(notdir $1).$2 tests/$(lesson).wrong/$(notdir $1).$2)))

is_wrong = $(filter tests/%,$(call answer,$1,$2))
build/tests/%/answer.o: $$(call answer,$$*,cpp) build/flags.lessons $$(if $$(call is_wrong,$$*,cpp),$(PARSED_QUICK),$(PARSED))
	@mkdir -p $(@D)
	$(Q)$(if $(call is_wrong,$*,cpp),$(compile_quickly),$(CXX) $(LESSON_FLAGS)) $(SHORT_NAMES) $(CXXFLAGS) -c $< -o $@

build/tests/%/exercise.ptx: $$(call answer,$$*,cu) build/flags.lessons
	@mkdir -p $(@D)
	$(Q)$(if $(call is_wrong,$*,cu),$(QUICK_NVCC),$(NVCC)) -ptx $(NVCC_FLAGS) $< -o $@

build/tests/%/kernels.ptx: build/$$(call lesson_in,$$*)/kernels.ptx
	@mkdir -p $(@D) && cp $< $@

build/tests/%/check.ptx: build/tests/$$(call lesson_in,$$*).ptx
	@mkdir -p $(@D) && cp $< $@

objects_of = build/tests/$2.o build/tests/catch_main.o $(if $(call answer,$1,cpp),build/tests/$1/answer.o) $(EXTRA.$2)
kernels_of = $(if $(call answer,$1,cu),build/tests/$1/exercise.ptx) $(if $(wildcard $2/kernels.cu),build/tests/$1/kernels.ptx) \
  $(if $(wildcard tests/$2.cu),build/tests/$1/check.ptx)

# In one line: make grade reads the command.
quick_link_of = $(if $(filter exercise,$(notdir $1)),,$(QUICK_LINK))

# The trainer may start one while another make still links it, so it takes its place whole.
link_check = $(CXX) -pthread $(filter %.o,$^) $(CATCH_LIBS) $(call quick_link_of,$*) $(DRIVER) $(LIBS) -o $@.$$$$ && mv -f $@.$$$$ $@
JUDGED := $(filter build/tests/%/check,$(WANTED) $(MAKECMDGOALS))
JUDGED := $(filter-out $(patsubst %,build/tests/%/check,$(notdir $(wildcard tests/[a-z]*))),$(JUDGED))
# The check of a kernel loads it, so all wrong kernels of a lesson have the solution's check.
same_check = $(if $(wildcard tests/$(call lesson_in,$1).wrong/$(notdir $1).cu),build/tests/$(call lesson_in,$1)/solution/check)
JUDGED := $(sort $(JUDGED) $(foreach check,$(JUDGED),$(call same_check,$(check:build/tests/%/check=%))))
$(JUDGED): build/tests/%/check: $$(or $$(call same_check,$$*),$$(call objects_of,$$*,$$(call lesson_in,$$*))) \
    | $$(call kernels_of,$$*,$$(call lesson_in,$$*)) build/simulator/libcuda.so
	@mkdir -p $(@D)
	$(Q)$(if $(call same_check,$*),rm -f $@ && { ln $< $@ 2>/dev/null || cp $< $@; },$(link_check))

# ---- Suites ----------------------------------------------------------------------------------------------------------------
#
# tests/<suite>/*.cpp become one program, build/tests/<suite>/check, with the suite's kernels (*.cu) as .ptx beside it. All except
# the simulator's own, which its Makefile builds, link the driver's library only, so that the same program runs on a GPU.

SUITES := $(patsubst tests/%/,%,$(sort $(dir $(wildcard tests/[a-z]*/*.cpp))))
suite_objects = $(patsubst %.cpp,build/%.o,$(wildcard tests/$1/*.cpp)) build/tests/catch_main.o
# NVRTC of CUDA 12, which takes the place of nvcc there, does not compile what library.cu includes.
suite_kernels = $(patsubst %.cu,build/%.ptx,$(filter-out $(if $(WITHOUT_HOST_NVCC),%/library.cu %/debug.cu),$(wildcard tests/$1/*.cu)))

$(patsubst %,build/tests/%/check,$(filter-out simulator,$(SUITES))): build/tests/%/check: \
    $$(call suite_objects,$$*) | $$(call suite_kernels,$$*) build/simulator/libcuda.so
	$(call step,link)
	$(Q)$(CXX) -pthread $^ $(CATCH_LIBS) $(DRIVER) -o $@

# It runs the instructions' suite, too. After the library: both makes would build the same objects.
build/tests/simulator/check: always | build/tests/instructions/check build/tests/catch_main.o build/simulator/libcuda.so
	+@$(MAKE) -f common/simulator/Makefile suite $(FOR_SIMULATOR) CATCH_FLAGS='$(CATCH_FLAGS)' CATCH_LIBS='$(CATCH_LIBS)' \
	  CATCH_MAIN=build/tests/catch_main.o

# It runs CUDA programs with the runtime, whose Makefile builds both.
build/tests/runtime/check: | build/tests/runtime/programs
build/tests/runtime/programs: always | build/runtime/libcudart.so build/simulator/libcuda.so
	$(if $(WITHOUT_HOST_NVCC),,+@$(MAKE) -f common/runtime/Makefile programs $(FOR_SIMULATOR) NVCC=$(NVCC))

# Asynchronous copies, and what libcu++ uses, need compute capability 8.0; modern.cu needs 9.0.
build/tests/checks/%.ptx: NVCC_FLAGS := $(patsubst -arch=%,-arch=compute_80,$(NVCC_FLAGS))
build/tests/checks/debug.ptx: NVCC_FLAGS := $(patsubst -arch=%,-arch=compute_80,$(filter-out -lineinfo,$(NVCC_FLAGS))) -G
build/tests/checks/modern.ptx: NVCC_FLAGS := $(patsubst -arch=%,-arch=compute_90,$(NVCC_FLAGS))

ifneq ($(findstring build/tests/compilers,$(WANTED) $(MAKECMDGOALS)),)
include common/make/compilers.mk
endif

# ---- The simulator's benchmark: the same kernels through the driver API and through OpenCL --------------------------------------

build/bench/driver: common/bench/driver.cpp build/flags.lessons | build/simulator/libcuda.so
	@mkdir -p $(@D)
	$(Q)$(CXX) $(LESSON_FLAGS) $(CXXFLAGS) -MF $@.d $< $(DRIVER) -o $@

build/bench/opencl: common/bench/opencl.cpp build/flags.lessons
	@mkdir -p $(@D)
	$(Q)$(CXX) $(LESSON_FLAGS) $(CXXFLAGS) -MF $@.d $< -lOpenCL -o $@ || \
	  { echo 'OpenCL was not found. On Debian and Ubuntu: apt-get install pocl-opencl-icd ocl-icd-opencl-dev'; exit 1; }

build/bench/kernels.ptx: common/bench/kernels.cu build/flags.lessons
	@mkdir -p $(@D)
	$(Q)$(NVCC) -ptx $(NVCC_FLAGS) $< -o $@
