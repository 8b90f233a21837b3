# What a lesson builds besides its program and its kernels.ptx is in its lesson.mk: rules, and two variables that it may set.
#
#   EXTRA.05-extension/02-plugin = build/05-extension/02-plugin/libop.so   built before the program is linked
#   LIBS.05-extension/02-plugin = -ldl                                     linked into the program and its checks
#
# A lesson whose host code nvcc compiles adds its name to HOST_CODE: without a whole nvcc, it is skipped (see course/possible.py).
# A lesson.env sets what its programs need besides the device (NAME=value), two simulated devices for example.

# Before a command that takes long: its line is shown when it begins, since it begins with a +. Otherwise make shows what a step prints when
# the step has ended.
define step_begins
@mkdir -p $(@D)
$(if $(QUIET),$(if $(DRY_RUN),,+)@printf '  %-9s %s (it takes a while)\n' '$1' '$<')
endef

# Where the loader is to look for libraries, as a program in build/<chapter>/<lesson>, or a check or an edited copy two folders below, sees it.
in_build = '$$ORIGIN/../../$1:$$ORIGIN/../../../../$1'

# In a .d file of nvcc for host code: the object's name, for the default would be that of the PTX.
nvcc_depends = -MF $(@:.o=.d) -MT $@

LIBS :=
.SECONDEXPANSION:
LESSONS_WITH_RULES := $(patsubst %/lesson.mk,%,$(wildcard [0-9][0-9]-*/[0-9][0-9]-*/lesson.mk))
include $(LESSONS_WITH_RULES:=/lesson.mk)

define use_extras
build/$1/main build/$1/ready: $(EXTRA.$1)
build/$1/% build/texts/$1/% build/tests/$1/%: LIBS = $$(LIBS.$1)
endef
$(foreach lesson,$(LESSONS_WITH_RULES),$(eval $(call use_extras,$(lesson))))

# ---- Edited copies ---------------------------------------------------------------------------------------------------------
#
# For each "Break it" edit that a lesson's text suggests, `make test` writes a copy, build/texts/<chapter>/<lesson>/<n>/main.cpp.

# For edited copies and wrong solutions, which nobody debugs or measures: they compile in half the time.
QUICK_FLAGS = $(filter-out -g -O2,$(LESSON_FLAGS)) -O0
compile_quickly = $(CXX) $(QUICK_FLAGS) $(PARSED_QUICK:%.gch=-include %)
# This linker needs a third of the other's time. An exercise gets the usual one, because a learner reads its messages.
QUICK_LINK := $(if $(shell command -v ld.gold),-fuse-ld=gold)

build/texts/%.o: build/texts/%.cpp build/flags.lessons $(PARSED_QUICK)
	$(Q)$(compile_quickly) $(SHORT_NAMES) $(CXXFLAGS) -c $< -o $@

# NVRTC's assert ignores NDEBUG, and a few kernels call what only nvcc declares.
build/texts/%.ptx: build/texts/%.cu build/flags.lessons
	$(Q){ ! grep -q cassert $< && $(QUICK_NVCC) -ptx $(NVCC_FLAGS) $< -o $@ 2>/dev/null; } || $(NVCC) -ptx $(NVCC_FLAGS) $< -o $@

# These are explicit rules, made from what is wanted: of two patterns that match, make would now and then choose the other.
EDITED := $(filter build/texts/%/main,$(WANTED) $(MAKECMDGOALS))
EDITED_HERE := $(filter $(patsubst %.cpp,%,$(wildcard $(EDITED:=.cpp))),$(EDITED))
edited_lesson = $(patsubst texts/%/,%,$(dir $1))

$(EDITED_HERE): build/%/main: build/%/main.o $$(EXTRA.$$(call edited_lesson,$$*)) | build/simulator/libcuda.so
	$(Q)$(CXX) -pthread $< $(QUICK_LINK) $(DRIVER) $(LIBS) -o $@

# What is not edited is the lesson's.
$(filter-out $(EDITED_HERE),$(EDITED)): build/%/main: build/$$(call edited_lesson,$$*)/main $$(EXTRA.$$(call edited_lesson,$$*))
	@cp $< $@

EDITED_KERNELS := $(filter build/texts/%/kernels.ptx,$(WANTED) $(MAKECMDGOALS))
$(filter-out $(patsubst %.cu,%.ptx,$(wildcard $(EDITED_KERNELS:.ptx=.cu))),$(EDITED_KERNELS)): build/%/kernels.ptx: build/$$(call edited_lesson,$$*)/kernels.ptx
	@cp $< $@
