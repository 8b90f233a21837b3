from references import declare

KERNELS = declare("sound.cu")
