# In a chapter's or a lesson's folder, everything is passed on to the root: `make run`, `make check`, `make walk` and `make test` mean this
# folder's part; a lesson beside or below goes by its own name, `make 03-stack`; the rest (`make help`) means what it means there.
ROOT := $(if $(wildcard ../common/cu.hpp),..,../..)
HERE := $(shell realpath --relative-to=$(ROOT) .)
GOALS := $(or $(MAKECMDGOALS),run)

from_root = $(patsubst ./%,%,$(if $(wildcard $1/main.cpp),$(HERE)/$1,$(if $(wildcard ../$1/main.cpp),$(dir $(HERE))$1,$1)))
PASSED_ON := $(foreach goal,$(GOALS),$(call from_root,$(goal:/=)))
PART := $(or $(foreach part,$(IN),$(call from_root,$(part:/=))),$(if $(filter 0% 1% 2% 3% 4% 5% 6% 7% 8% 9%,$(GOALS)),,$(HERE)))

$(GOALS): passed-on ; @:
passed-on: ; @+$(MAKE) --no-print-directory -C $(ROOT) $(PASSED_ON) $(if $(filter run check walk test,$(GOALS)),IN='$(PART)')
.PHONY: $(GOALS) passed-on
