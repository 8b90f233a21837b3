# In a chapter's or a lesson's folder, everything is passed on to the root: `make run`, `make check`, `make walk` and `make test` mean this
# folder's part; a lesson beside or below goes by its own name, `make 03-stack`; the rest (`make help`) means what it means there.
ROOT := $(if $(wildcard ../common/cu.hpp),..,../..)
HERE := $(shell realpath --relative-to=$(ROOT) .)
GOALS := $(or $(MAKECMDGOALS),run)

# A name with a number is a chapter where the root has such a folder, a lesson of any chapter if it is the numbers of both (02-03), else a lesson of
# this chapter (03-stack, or 03); everything else means what it says.
is_numbered = $(filter 0% 1% 2% 3% 4% 5% 6% 7% 8% 9%,$1)
both_numbers = $(if $(findstring -,$1),$(wildcard $(ROOT)/$(firstword $(subst -, ,$1))-*/$(word 2,$(subst -, ,$1))-*))
from_root = $(if $(and $(call is_numbered,$1),$(if $(wildcard $(ROOT)/$1)$(call both_numbers,$1),,own)),$(firstword $(subst /, ,$(HERE)))/$1,$1)
PASSED_ON := $(foreach goal,$(GOALS),$(call from_root,$(goal:/=)))
PART := $(or $(foreach part,$(IN),$(call from_root,$(part:/=))),$(if $(call is_numbered,$(GOALS)),,$(HERE)))

$(GOALS): passed-on ; @:
passed-on: ; @+$(MAKE) --no-print-directory -C $(ROOT) $(PASSED_ON) $(if $(filter run check walk test bench,$(GOALS)),IN='$(PART)')
.PHONY: $(GOALS) passed-on
