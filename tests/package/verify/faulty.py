from references import declare

KERNELS = declare("faulty.cu")
