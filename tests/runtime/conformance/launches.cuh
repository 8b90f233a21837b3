// Launches, attributes of kernels, occupancy, textures, and the libraries that a program loads itself.
#pragma once
#include "common.cuh"
#include "scenario.hpp"

static __global__ void sum_shared(int* to) {
  extern __shared__ int numbers[];
  numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) sum += numbers[i];
    *to = sum;
  }
}
static __global__ void fixed_shared(int* to) {
  __shared__ int numbers[256];
  numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  *to = numbers[(threadIdx.x + 1) % blockDim.x];
}

SCENARIO(attributes_of_kernels) {
  cudaFuncAttributes a;
  SAY(cudaFuncGetAttributes(&a, fixed_shared));
  SHOW(a.sharedSizeBytes);
  SHOW(a.localSizeBytes);
  SHOW(a.maxThreadsPerBlock);
  SHOW(a.numRegs > 0);
  SHOW(a.ptxVersion >= 75);
  SHOW(a.maxDynamicSharedSizeBytes);
  SHOW(a.preferredShmemCarveout);
  SHOW(a.cacheModeCA);
  SAY(cudaFuncSetAttribute(sum_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  SAY(cudaFuncGetAttributes(&a, sum_shared));
  SHOW(a.maxDynamicSharedSizeBytes);
  int* p = on_device<int>(1);
  sum_shared<<<1, 64, 100000>>>(p);
  SAY(cudaGetLastError());
  SHOW(first(p));
  SAY(cudaFuncSetAttribute(sum_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  SAY(cudaFuncSetAttribute(sum_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  SAY(cudaFuncSetAttribute(sum_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  SAY(cudaFuncSetAttribute(sum_shared, static_cast<cudaFuncAttribute>(99), 1));
  SAY(cudaFuncSetAttribute(sum_shared, static_cast<cudaFuncAttribute>(0), 1));
  SAY(cudaFuncSetCacheConfig(sum_shared, cudaFuncCachePreferShared));
  SAY(cudaFuncSetCacheConfig(sum_shared, static_cast<cudaFuncCache>(9)));
  const char* name = nullptr;
  SAY(cudaFuncGetName(&name, reinterpret_cast<const void*>(sum_shared)));
  SHOW(name != nullptr && std::strstr(name, "sum_shared") != nullptr);
  std::size_t offset = 9, bytes = 9;
  SAY(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store), 1, &offset, &bytes));
  SHOW(offset);
  SHOW(bytes);
  SAY(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store), 2, &offset, &bytes));
}

SCENARIO(occupancy) {
  int blocks = 0, grid = 0, block = 0;
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0));
  SHOW(blocks);
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 128, 0));
  SHOW(blocks);
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 64, 40000));
  SHOW(blocks);
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 2000, 0));
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0));
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, -1, 0));
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, nothing, 32, 0));
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 1024, 0,
                                                             cudaOccupancyDisableCachingOverride));
  SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 1024, 0, 99));
  SAY(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing));
  SHOW(block);
  SHOW(grid > 0);
  SAY(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 192));
  SHOW(block);
  std::size_t bytes = 0;
  SAY(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 2, 128));
  SHOW(bytes > 0);
}

SCENARIO(launches_with_attributes) {
  int* p = on_device<int>(1024);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  SAY(cudaLaunchKernelEx(&config, add_one, p));
  SHOW(first(p));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  SAY(cudaLaunchKernelEx(&config, add_one, p));
  SHOW(first(p));
  attribute.id = static_cast<cudaLaunchAttributeID>(99);
  SAY(cudaLaunchKernelEx(&config, add_one, p));
  attribute.id = cudaLaunchAttributeCooperative;
  config.gridDim = dim3(1 << 20);
  SAY(cudaLaunchKernelEx(&config, add_one, p));
  config.numAttrs = 0;
  config.gridDim = dim3(0);
  SAY(cudaLaunchKernelEx(&config, add_one, p));
  config.gridDim = dim3(1);
  config.blockDim = dim3(2048);
  SAY(cudaLaunchKernelEx(&config, add_one, p));
  void* arguments[] = {&p};
  SAY(cudaLaunchCooperativeKernel(add_one, dim3(4), dim3(32), arguments, 0, nullptr));
  SAY(cudaLaunchCooperativeKernel(add_one, dim3(1 << 20), dim3(32), arguments, 0, nullptr));
  SAY(cudaLaunchCooperativeKernel(add_one, dim3(1), dim3(2000), arguments, 0, nullptr));
  SAY(cudaLaunchKernel(add_one, dim3(1), dim3(32), arguments, 0, nullptr));
  SHOW(first(p));
  SAY(cudaGetLastError());
}

template <class T>
static __global__ void fetch(cudaTextureObject_t texture, T* to, float x, float y) {
  *to = tex2D<T>(texture, x, y);
}
static __global__ void fetch_line(cudaTextureObject_t texture, float* to, int x) {
  *to = tex1Dfetch<float>(texture, x);
}
static __global__ void write_surface(cudaSurfaceObject_t surface) {
  surf2Dwrite(static_cast<float>(10 * threadIdx.y + threadIdx.x), surface, static_cast<int>(threadIdx.x * 4),
              static_cast<int>(threadIdx.y));
}

SCENARIO(textures) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  NEED(cudaMallocArray(&array, &desc, 8, 8, cudaArraySurfaceLoadStore));
  float h[64];
  for (int i = 0; i < 64; ++i) h[i] = static_cast<float>(i);
  NEED(cudaMemcpy2DToArray(array, 0, 0, h, 32, 32, 8, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  float* p = on_device<float>(1);
  fetch<<<1, 1>>>(texture, p, 1.5f, 2.5f);
  SHOW(first(p));
  fetch<<<1, 1>>>(texture, p, 2.0f, 2.5f);
  SHOW(first(p) * 10);
  fetch<<<1, 1>>>(texture, p, 100.0f, 100.0f);
  SHOW(first(p));
  cudaResourceDesc same{};
  SAY(cudaGetTextureObjectResourceDesc(&same, texture));
  SHOW(same.resType);
  SHOW(same.res.array.array == array);
  cudaTextureDesc read{};
  SAY(cudaGetTextureObjectTextureDesc(&read, texture));
  SHOW(read.filterMode);
  SHOW(read.addressMode[0]);
  SHOW(read.readMode);
  SHOW(read.normalizedCoords);
  cudaResourceViewDesc view{};
  SAY(cudaGetTextureObjectResourceViewDesc(&view, texture));
  SAY(cudaDestroyTextureObject(texture));
  SAY(cudaDestroyTextureObject(0));
  SAY(cudaCreateTextureObject(nullptr, &resource, &how, nullptr));
  SAY(cudaCreateTextureObject(&texture, nullptr, &how, nullptr));
  SAY(cudaCreateTextureObject(&texture, &resource, nullptr, nullptr));
  cudaSurfaceObject_t surface = 0;
  SAY(cudaCreateSurfaceObject(&surface, &resource));
  write_surface<<<1, dim3(8, 8)>>>(surface);
  SAY(cudaGetLastError());
  SAY(cudaMemcpy2DFromArray(h, 32, array, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
  SHOW(h[9]);
  SAY(cudaGetSurfaceObjectResourceDesc(&same, surface));
  SAY(cudaDestroySurfaceObject(surface));
  float* line = on_device<float>(64);
  NEED(cudaMemcpy(line, h, sizeof h, cudaMemcpyHostToDevice));
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {line, desc, sizeof h};
  how = {};
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  fetch_line<<<1, 1>>>(texture, p, 9);
  SHOW(first(p));
  fetch_line<<<1, 1>>>(texture, p, 64);
  SHOW(first(p));
  SAY(cudaCreateSurfaceObject(&surface, &resource));
  resource.res.linear.desc = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  resource.resType = static_cast<cudaResourceType>(9);
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  std::size_t width = 0;
  SAY(cudaDeviceGetTexture1DLinearMaxWidth(&width, &desc, 0));
  SHOW(width > 1000);
}

SCENARIO(normalized_texture) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<uchar4>();
  unsigned char* pixels = nullptr;
  std::size_t pitch = 0;
  NEED(cudaMallocPitch(&pixels, &pitch, 16, 4));
  NEED(cudaMemset2D(pixels, pitch, 51, 16, 4));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {pixels, desc, 4, 4, pitch};
  cudaTextureDesc how{};
  how.readMode = cudaReadModeNormalizedFloat;
  how.normalizedCoords = 1;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
  cudaTextureObject_t texture = 0;
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  float4* p = on_device<float4>(1);
  fetch<<<1, 1>>>(texture, p, 0.5f, 2.5f);
  SHOW(first(p).x * 1000);
  SHOW(first(p).w * 1000);
  cudaTextureDesc read{};
  SAY(cudaGetTextureObjectTextureDesc(&read, texture));
  SHOW(read.readMode);
  SHOW(read.normalizedCoords);
  how.readMode = cudaReadModeElementType;
  how.filterMode = cudaFilterModeLinear;
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  how.filterMode = cudaFilterModePoint;
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  cudaArray_t words = nullptr;
  const cudaChannelFormatDesc word = cudaCreateChannelDesc<int>();
  NEED(cudaMallocArray(&words, &word, 4, 4));
  resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = words;
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  how.filterMode = cudaFilterModeLinear;
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  how.readMode = cudaReadModeNormalizedFloat;
  SAY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
}

static const char kText[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry write(.param .u64 to, .param .u32 value)\n{\n.reg .u64 %rd;\n.reg .u32 %r;\n"
    "ld.param.u64 %rd, [to];\nld.param.u32 %r, [value];\ncvta.to.global.u64 %rd, %rd;\n"
    "st.global.u32 [%rd], %r;\nret;\n}\n";

SCENARIO(libraries) {
  cudaLibrary_t library = nullptr;
  SAY(cudaLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  SAY(cudaLibraryGetKernel(&kernel, library, "write"));
  int* p = on_device<int>(1);
  int value = 12;
  void* arguments[] = {&p, &value};
  SAY(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  SHOW(first(p));
  cudaFuncAttributes a;
  SAY(cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(kernel)));
  SAY(cudaLibraryGetKernel(&kernel, library, "read"));
  unsigned count = 0;
  SAY(cudaLibraryGetKernelCount(&count, library));
  SHOW(count);
  SAY(cudaLibraryEnumerateKernels(&kernel, 1, library));
  value = 13;
  SAY(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  SHOW(first(p));
  void* place = nullptr;
  std::size_t bytes = 0;
  SAY(cudaLibraryGetGlobal(&place, &bytes, library, "counter"));
  SHOW(bytes);
  SHOW(first(static_cast<int*>(place)));
  SAY(cudaLibraryGetGlobal(&place, &bytes, library, "missing"));
  SAY(cudaLibraryGetManaged(&place, &bytes, library, "missing"));
  SAY(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 0));
  SAY(cudaLibraryUnload(library));
  SAY(cudaLibraryLoadData(&library, "nonsense", nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cudaLibraryLoadFromFile(&library, "/nonexistent", nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cudaLibraryLoadData(nullptr, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cudaLibraryUnload(nullptr));
  cudaFunction_t function = nullptr;
  SAY(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(store)));
  SHOW(function != nullptr);
  SAY(cudaGetKernel(&kernel, reinterpret_cast<const void*>(store)));
  SAY(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  SHOW(first(p));
  SAY(cudaGetKernel(&kernel, nullptr));
  SAY(cudaGetLastError());
}

static __global__ void speak(int number) { printf("kernel says %d\n", number); }
static __global__ void allocate(int* to) {
  int* p = static_cast<int*>(malloc(16));
  *to = p != nullptr;
  free(p);
}

SCENARIO(printf_and_malloc_in_kernels) {
  int* p = on_device<int>(1);
  speak<<<1, 1>>>(42);
  SAY(cudaDeviceSynchronize());
  allocate<<<1, 1>>>(p);
  SHOW(first(p));
}

// A configuration that waits while computing an argument launches something else.
static int launch_another(int* p) {
  add_one<<<1, 4>>>(p);
  return 9;
}
SCENARIO(nested_configurations) {
  int *p = on_device<int>(1), *q = on_device<int>(1);
  store<<<1, 1>>>(p, launch_another(q));
  SAY(cudaGetLastError());
  SHOW(first(p));
  SHOW(first(q));
}
