// A library in two versions, which differ only in this function's result. It plays the part of cuDNN.
extern "C" const char* dnn_version() { return DNN_VERSION; }
