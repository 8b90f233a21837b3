# The package is built as its users build it, like that of 05-05, whose lesson.mk defines the commands.
NMS := 05-extension/10-nms
EXTRA.$(NMS) = build/$(NMS)/installed/built build/$(NMS)/nms.ptx build/$(NMS)/scan_by_box.ptx build/tests/$(OP)/standin.so
HOST_CODE += $(NMS)

build/$(NMS)/installed/built: $(NMS)/lesson.mk $(wildcard $(NMS)/package/*.* $(NMS)/package/*/*.*) build/flags.torch
	$(call step_begins,setuptools)
	$(call build_package,$(NMS)/package,BOX_NMS_CUDA)
	$(Q)touch $@

# The kernels alone, for the driver API.
build/$(NMS)/nms.ptx: $(NMS)/package/csrc/kernels.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(NVCC_FLAGS) $< -o $@

# ---- Edited copies: of the package, only the Python files and the kernels alone. The library is the lesson's. ---------------------

EDITED_NMS := $(filter build/texts/$(NMS)/%/ready,$(WANTED) $(MAKECMDGOALS))
$(EDITED_NMS): build/texts/$(NMS)/%/ready: $(EXTRA.$(NMS)) \
    $$(if $$(wildcard build/texts/$(NMS)/$$*/package),$$(addprefix build/texts/$(NMS)/$$*/,installed/built nms.ptx)) | build/simulator/libcuda.so
	$(Q)touch $@

$(EDITED_NMS:ready=installed/built): build/texts/$(NMS)/%/installed/built: build/$(NMS)/installed/built \
    $$(wildcard build/texts/$(NMS)/$$*/package/*/*.py)
	$(Q)rm -rf $(@D) && cp -r build/$(NMS)/installed $(@D) && cp build/texts/$(NMS)/$*/package/box_nms/*.py $(@D)/box_nms && touch $@

$(EDITED_NMS:ready=nms.ptx): build/texts/$(NMS)/%/nms.ptx: build/texts/$(NMS)/%/package/csrc/kernels.cu build/flags.lessons
	$(Q)$(NVCC) -ptx $(NVCC_FLAGS) $< -o $@
