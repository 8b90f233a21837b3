# Without a driver, the program uses the course's own runtime library, which works on the simulated GPU.
ifeq ($(wildcard /proc/driver/nvidia),)
build/02-context/07-runtime-interop/main: | build/runtime/libcudart.so
endif

# The program loads the runtime library and CUPTI by name at run time. These are the folders in which toolkits install them.
LIBS.02-context/07-runtime-interop = -ldl \
  -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib):$(call in_build,toolkit/targets/x86_64-linux/lib) \
  -Wl,-rpath,$(call in_build,toolkit/extras/CUPTI/lib64)
