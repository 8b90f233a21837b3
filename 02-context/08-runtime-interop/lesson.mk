# The program loads the runtime library and CUPTI by name while it runs. These are the folders where toolkits install them.
LIBS.02-context/08-runtime-interop = -ldl \
  -Wl,-rpath,$(call quoted,$(CUDA_ROOT)/lib64:$(CUDA_ROOT)/lib:$(CUDA_ROOT)/targets/x86_64-linux/lib:$(CUDA_ROOT)/extras/CUPTI/lib64)
