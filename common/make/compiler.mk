# What depends on the C++ compiler: warnings, and headers that are parsed only once.
#
# Half the time of a build goes into headers. g++ takes build/parsed/common/cu.hpp.gch where common/cu.hpp is the first file
# that a source includes; build/parsed comes first among the include folders. clang++ would need other flags for that.

CLANG := $(findstring clang,$(COMPILER))
# g++ 12's -Wrestrict fires on std::string's own operator+ (GCC bug 105651); clang++ does not know the warning.
WARNINGS := -Wall -Wextra $(if $(CLANG),,-Wno-restrict)
PARSED := $(if $(CLANG),,build/parsed/common/cu.hpp.gch)
PARSED_QUICK := $(if $(CLANG),,build/parsed/common/make/often.hpp.gch)
PARSED_TESTS := $(if $(CLANG),,build/parsed/tests/catch.hpp.gch)
PARSED_TORCH := $(if $(CLANG),,build/parsed/common/torch.hpp.gch)

hash := \#
# $1: flags. This command is only shown with V=1: it is no lesson. -w: g++ would warn that a header is not a main file. The result gets its name when it is complete, since another make may
# be running. g++ falls back to the header's text, in the same folder, if the parsed one does not serve.
parse_header = $(if $(V),,@)echo '$(hash)include "$(subst $() ,/,$(patsubst %,..,$(subst /, ,$(@D))))/$<"' > $(@:.gch=) && \
  $(CXX) $1 $(CXXFLAGS) -w -MF $(@:.gch=.d) -MT $@ -x c++-header $< -o $@.$$$$ && mv $@.$$$$ $@

build/parsed/common/cu.hpp.gch: common/cu.hpp build/flags.lessons
	@mkdir -p $(@D) && printf '  %-9s %s\n' parse '$<'
	$(call parse_header,$(LESSON_FLAGS))

build/parsed/common/make/often.hpp.gch: common/make/often.hpp build/flags.lessons
	@mkdir -p $(@D) && printf '  %-9s %s\n' parse '$<'
	$(call parse_header,$(QUICK_FLAGS))

build/parsed/tests/catch.hpp.gch: tests/catch.hpp build/flags.tests
	$(call step,parse)
	$(call parse_header,$(TEST_FLAGS))

build/parsed/common/torch.hpp.gch: common/torch.hpp build/flags.torch
	$(call step_begins,parse)
	$(call parse_header,$(TORCH_FLAGS))
