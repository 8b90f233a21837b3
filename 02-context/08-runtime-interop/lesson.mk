# The runtime library and CUPTI are loaded by name while the program runs, if they are there: where a toolkit has them.
LIBS.02-context/08-runtime-interop = -ldl \
  -Wl,-rpath,$(call quoted,$(CUDA_ROOT)/lib64:$(CUDA_ROOT)/lib:$(CUDA_ROOT)/targets/x86_64-linux/lib:$(CUDA_ROOT)/extras/CUPTI/lib64)
