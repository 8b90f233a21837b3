// Small programs that the child of profile.cpp runs: more than a launch of one kernel.
#pragma once
#include "tests/profile/cases.hpp"

#include "tests/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace profile {

inline void out_of_bounds() {
  profile::Stage stage;
  profile::Case c = profile::lessons()[0];
  c.kernel = "add_unguarded";
  c.arguments = {{profile::kIn}, {profile::kIn2}, {profile::kU64, 64}, {profile::kU32, 5}};
  CHECK(stage.run(c) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

inline void in_two_streams() {
  profile::Stage stage;
  CUstream one, two;
  CUevent event;
  CUdeviceptr memory;
  std::vector<char> host(1 << 20);
  CU_CHECK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuEventCreate(&event, 0));
  CU_CHECK(cuMemAlloc(&memory, host.size()));
  CU_CHECK(cuMemcpyHtoDAsync(memory, host.data(), host.size(), one));
  CU_CHECK(cuEventRecord(event, one));
  CU_CHECK(cuStreamWaitEvent(two, event, 0));
  CU_CHECK(cuMemsetD8Async(memory, 7, host.size(), two));
  CU_CHECK(cuLaunchHostFunc(two, [](void*) {}, nullptr));
  CU_CHECK(cuStreamSynchronize(two));
  CU_CHECK(stage.run(profile::lessons()[0]));
}

// Two processes launch kernels at the same time; one of them uses a green context, too.
inline void in_two_processes() {
  const pid_t other = fork();
  {
    profile::Stage stage;
    for (int i = 0; i < 100; ++i) CU_CHECK(stage.run(profile::lessons()[0]));
#if CUDA_VERSION >= 13000
    if (other != 0) {
      CUdevResource all, part;
      CUdevResourceDesc description;
      CUgreenCtx green;
      CUstream stream;
      CUdeviceptr memory;
      unsigned count = 1;
      CU_CHECK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
      CU_CHECK(cuDevSmResourceSplitByCount(&part, &count, &all, nullptr, 0, 16));
      CU_CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
      CU_CHECK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
      CU_CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
      CU_CHECK(cuMemAlloc(&memory, 4));
      CU_CHECK(cuMemsetD8Async(memory, 7, 4, stream));
      CU_CHECK(cuStreamSynchronize(stream));
    }
#endif
  }
  if (other == 0) std::exit(0);
  int status = -1;
  waitpid(other, &status, 0);
  CHECK(status == 0);
}

// A warpgroup copies 1024 bytes in bulk, from an address that is not at the beginning of a sector, and multiplies once.
inline void multiply_and_copy() {
  profile::Stage stage;
  cu::Module module;
  cu::Memory from(4096);
  CU_CHECK(cuModuleLoadData(&module.handle, R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry multiply(.param .u64 from) {
  .shared .align 1024 .b8 to[2048];
  .shared .align 8 .b64 full;
  .reg .b64 %from, %m; .reg .b32 %to, %full, %t; .reg .f32 %d<4>; .reg .pred %p, %done;
  ld.param.u64 %from, [from]; mov.u32 %to, to; mov.u32 %full, full; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;
  @%p mbarrier.init.shared.b64 [%full], 1;
  bar.sync 0;
  @%p mbarrier.arrive.expect_tx.shared.b64 _, [%full], 1024;
  @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%from+16], 1024, [%full];
AGAIN:
  mbarrier.try_wait.parity.shared.b64 %done, [%full], 0;
  @!%done bra AGAIN;
  shr.u32 %to, %to, 4; cvt.u64.u32 %m, %to; or.b64 %m, %m, 0x1000080000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %m, %m, 0, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  ret;
})"));
  void* arguments[] = {&from.address};
  CU_CHECK(cuLaunchKernel(module.function("multiply"), 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuCtxSynchronize());
}

}  // namespace profile
