# Five more images: attention and RMSNorm of chapter 04, the end of the loop, and what starts early on compute capability
# 9.0. For the program alone, the model, which is trained once. Without PyTorch, its file is empty, until PyTorch is found.
ENGINE := 05-extension/17-decode-engine
DECODE_STEPS ?= 1000
ENGINE_MODEL := build/$(ENGINE)/model.$(DECODE_STEPS)
ENGINE_IMAGES := kernels90.ptx attention.ptx attention90.ptx norm.ptx loop.ptx
EXTRA.$(ENGINE) = $(addprefix build/$(or $(filter texts/%,$*),$(ENGINE))/,$(ENGINE_IMAGES))
build/$(ENGINE)/main: $(ENGINE_MODEL)

# The mma instruction for bfloat16, cp.async.
ENGINE_FLAGS := $(patsubst -arch=%,-arch=compute_80,$(NVCC_FLAGS))
build/$(ENGINE)/%.ptx: NVCC_FLAGS := $(ENGINE_FLAGS)
build/texts/$(ENGINE)/%.ptx: NVCC_FLAGS := $(ENGINE_FLAGS)
engine_newer = $(NVCC) -ptx $(patsubst -arch=%,-arch=compute_90,$(NVCC_FLAGS)) $< -o $@

$(patsubst %,build/$(ENGINE)/%90.ptx,kernels attention): build/$(ENGINE)/%90.ptx: $(ENGINE)/%.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(engine_newer)

$(ENGINE_MODEL): $(ENGINE)/train.py $(ENGINE)/model.py $(if $(TORCH_ROOT),$(shell [ -s $(ENGINE_MODEL) ] || echo always))
	$(call step_begins,train)
	$(Q)$(if $(TORCH_ROOT),PYTHONDONTWRITEBYTECODE=1 "$(PYTHON)" $< $(DECODE_STEPS) $@.part && mv $@.part.tokens $@.tokens && mv $@.part $@,: >$@)

# An edited copy may have kernels of its own. Everything else is the lesson's.
ENGINE_COPIED := $(filter-out kernels90.ptx,$(ENGINE_IMAGES))
$(addprefix build/texts/$(ENGINE)/%/,$(ENGINE_COPIED)): $(addprefix build/$(ENGINE)/,$(ENGINE_COPIED)) $(ENGINE_MODEL)
	$(Q)mkdir -p $(@D) && cp $^ $(@D) && { [ ! -e $(ENGINE_MODEL).tokens ] || cp $(ENGINE_MODEL).tokens $(@D); }
build/texts/$(ENGINE)/%/kernels90.ptx: $$(or $$(wildcard build/texts/$(ENGINE)/$$*/kernels.cu),build/$(ENGINE)/kernels90.ptx)
	$(Q)mkdir -p $(@D) && $(if $(filter %.cu,$<),$(engine_newer),cp $< $@)
