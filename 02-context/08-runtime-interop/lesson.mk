# The runtime library and CUPTI are loaded by name while the program runs, if they are there: where a toolkit has them.
LIBS.02-context/08-runtime-interop = -ldl \
  -Wl,-rpath,$(call in_build,toolkit/lib64):$(call in_build,toolkit/lib):$(call in_build,toolkit/targets/x86_64-linux/lib) \
  -Wl,-rpath,$(call in_build,toolkit/extras/CUPTI/lib64)
