// Devices, their attributes, flags and limits.
#pragma once
#include "common.cuh"
#include "scenario.hpp"

#include <thread>

SCENARIO(devices_with_invalid_arguments) {
  SAY(cudaGetDeviceCount(nullptr));
  SAY(cudaGetDevice(nullptr));
  SAY(cudaSetDevice(99));
  SAY(cudaSetDevice(-1));
  SAY(cudaGetDeviceProperties(nullptr, 0));
  cudaDeviceProp properties;
  SAY(cudaGetDeviceProperties(&properties, 99));
  SAY(cudaGetDeviceProperties(&properties, -1));
  int value = 0;
  SAY(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
  SAY(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  SAY(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0));
  SAY(cudaChooseDevice(nullptr, nullptr));
  SAY(cudaDeviceGetPCIBusId(nullptr, 1, 0));
  char name[64];
  SAY(cudaDeviceGetPCIBusId(name, 64, 99));
  SAY(cudaDeviceGetPCIBusId(name, 4, 0));
  SAY(cudaDeviceGetByPCIBusId(&value, "nonsense"));
  SAY(cudaDeviceGetByPCIBusId(nullptr, "0000:00:00.0"));
  SAY(cudaDeviceCanAccessPeer(&value, 0, 0));
  SHOW(value);
  SAY(cudaDeviceCanAccessPeer(&value, 0, 99));
  SAY(cudaDeviceCanAccessPeer(nullptr, 0, 0));
  SAY(cudaDeviceEnablePeerAccess(0, 0));
  SAY(cudaDeviceEnablePeerAccess(99, 0));
  SAY(cudaDeviceDisablePeerAccess(0));
  SAY(cudaDeviceDisablePeerAccess(99));
  SAY(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  SAY(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 99));
  SAY(cudaInitDevice(99, 0, 0));
  SAY(cudaInitDevice(0, 0, 0));
  SAY(cudaSetValidDevices(nullptr, 0));
}

SCENARIO(properties_are_attributes) {
  cudaDeviceProp p;
  SAY(cudaGetDeviceProperties(&p, 0));
  const auto is = [](cudaDeviceAttr attribute) {
    int value = -1;
    NEED(cudaDeviceGetAttribute(&value, attribute, 0));
    return static_cast<long long>(value);
  };
#define EQUAL(member, attribute) SHOW(static_cast<long long>(p.member) == is(attribute))
  EQUAL(warpSize, cudaDevAttrWarpSize);
  EQUAL(maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock);
  EQUAL(maxThreadsDim[2], cudaDevAttrMaxBlockDimZ);
  EQUAL(maxGridSize[0], cudaDevAttrMaxGridDimX);
  EQUAL(maxGridSize[2], cudaDevAttrMaxGridDimZ);
  EQUAL(sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
  EQUAL(sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  EQUAL(sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  EQUAL(reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
  EQUAL(regsPerBlock, cudaDevAttrMaxRegistersPerBlock);
  EQUAL(regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor);
  EQUAL(totalConstMem, cudaDevAttrTotalConstantMemory);
  EQUAL(memPitch, cudaDevAttrMaxPitch);
  EQUAL(multiProcessorCount, cudaDevAttrMultiProcessorCount);
  EQUAL(maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor);
  EQUAL(maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor);
  EQUAL(l2CacheSize, cudaDevAttrL2CacheSize);
  EQUAL(memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth);
  EQUAL(major, cudaDevAttrComputeCapabilityMajor);
  EQUAL(minor, cudaDevAttrComputeCapabilityMinor);
  EQUAL(textureAlignment, cudaDevAttrTextureAlignment);
  EQUAL(surfaceAlignment, cudaDevAttrSurfaceAlignment);
  EQUAL(asyncEngineCount, cudaDevAttrAsyncEngineCount);
  EQUAL(concurrentKernels, cudaDevAttrConcurrentKernels);
  EQUAL(unifiedAddressing, cudaDevAttrUnifiedAddressing);
  EQUAL(managedMemory, cudaDevAttrManagedMemory);
  EQUAL(cooperativeLaunch, cudaDevAttrCooperativeLaunch);
  EQUAL(clusterLaunch, cudaDevAttrClusterLaunch);
  EQUAL(memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported);
  EQUAL(hostRegisterSupported, cudaDevAttrHostRegisterSupported);
  EQUAL(maxTexture1D, cudaDevAttrMaxTexture1DWidth);
  EQUAL(maxTexture2D[1], cudaDevAttrMaxTexture2DHeight);
  EQUAL(maxTexture3D[2], cudaDevAttrMaxTexture3DDepth);
  EQUAL(maxSurface2D[0], cudaDevAttrMaxSurface2DWidth);
  EQUAL(persistingL2CacheMaxSize, cudaDevAttrMaxPersistingL2CacheSize);
  EQUAL(accessPolicyMaxWindowSize, cudaDevAttrMaxAccessPolicyWindowSize);
  SHOW(std::strlen(p.name) > 0);
  SHOW(p.totalGlobalMem > 1000000000);
}

SCENARIO(a_chosen_device) {
  cudaDeviceProp wanted{};
  int device = -1;
  SAY(cudaChooseDevice(&device, &wanted));
  SHOW(device);
  char name[64] = "";
  SAY(cudaDeviceGetPCIBusId(name, 64, 0));
  SHOW(std::strlen(name));
  int found = -1;
  SAY(cudaDeviceGetByPCIBusId(&found, name));
  SHOW(found);
}

SCENARIO(flags_of_a_device) {
  unsigned flags = 99;
  SAY(cudaGetDeviceFlags(&flags));
  SHOW(flags);
  SAY(cudaGetDeviceFlags(nullptr));
  SAY(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  SAY(cudaGetDeviceFlags(&flags));
  SHOW(flags);
  SAY(cudaSetDeviceFlags(0xff00));
  SAY(cudaSetDeviceFlags(3));
  NEED(cudaFree(nullptr));
  SAY(cudaGetDeviceFlags(&flags));
  SHOW(flags);
  SAY(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
  SAY(cudaGetDeviceFlags(&flags));
  SHOW(flags);
  SAY(cudaSetDeviceFlags(cudaDeviceMapHost));
  SAY(cudaGetDeviceFlags(&flags));
  SHOW(flags);
}

SCENARIO(limits) {
  std::size_t value = 0;
  SAY(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  SHOW(value);
  SAY(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize));
  SHOW(value >= 1 << 20);
  SAY(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
  SHOW(value);
  SAY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  SAY(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
  SHOW(value);
  SAY(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  SAY(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  SHOW(value);
  SAY(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  SAY(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(77)));
  SAY(cudaDeviceSetLimit(static_cast<cudaLimit>(77), 1));
  int least = 7, greatest = 7;
  SAY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  SHOW(least);
  SHOW(greatest);
  SAY(cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
  cudaFuncCache config;
  SAY(cudaDeviceGetCacheConfig(&config));
  SHOW(config);
  SAY(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  SAY(cudaDeviceGetCacheConfig(nullptr));
}

SCENARIO(versions) {
  int driver = 0, runtime = 0;
  SAY(cudaDriverGetVersion(&driver));
  SHOW(driver >= 13000);
  SAY(cudaDriverGetVersion(nullptr));
  SAY(cudaRuntimeGetVersion(&runtime));
  SHOW(runtime / 1000);
  SAY(cudaRuntimeGetVersion(nullptr));
}

SCENARIO(each_thread_has_an_error_and_a_device) {
  SAY(cudaSetDevice(99));
  std::thread([] {
    SAY(cudaGetLastError());
    int device = 9;
    SAY(cudaGetDevice(&device));
    SHOW(device);
    int* p = on_device<int>(1);
    add_one<<<1, 32>>>(p);
    SAY(cudaDeviceSynchronize());
    SHOW(first(p));
    SAY(cudaFree(reinterpret_cast<void*>(1)));
  }).join();
  SAY(cudaGetLastError());
  SAY(cudaGetLastError());
}
