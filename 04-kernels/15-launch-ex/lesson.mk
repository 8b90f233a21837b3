# Clusters need compute capability 9.0, so the kernels that use them are compiled to a separate image, for that architecture.
CLUSTERS := build/04-kernels/15-launch-ex
EXTRA.04-kernels/15-launch-ex = build/$(or $(filter texts/%,$*),04-kernels/15-launch-ex)/clusters.ptx

$(CLUSTERS)/clusters.ptx: 04-kernels/15-launch-ex/clusters.cu build/flags.lessons
	$(call step,nvcc)
	$(Q)$(NVCC) -ptx $(filter-out -arch=%,$(NVCC_FLAGS)) -arch=compute_90 $< -o $@

build/texts/04-kernels/15-launch-ex/%/clusters.ptx: $(CLUSTERS)/clusters.ptx
	$(Q)mkdir -p $(@D) && cp $< $@
