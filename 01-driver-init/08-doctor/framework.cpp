// A library that needs libdnn.so.9 and contains a search path for it. It plays the part of PyTorch.
extern "C" const char* dnn_version();

extern "C" const char* version_in_use() { return dnn_version(); }
