// The functions of libcudadevrt that synchronize a grid (cudaCG…), in PTX of our own. A cooperative launch gives its
// grid a few words of memory; the last one counts the blocks that have reached the barrier. device_runtime.hpp has the
// other functions.
#pragma once

namespace cudasim {

constexpr const char* kGridSynchronisation = R"(
.version 7.0
.target sm_70
.address_size 64

// cudaCGScopeGrid is 1; of other scopes, and in a launch that is not cooperative, there is no handle.
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %scope, %high, %low;
  .reg .b64 %handle;
  .reg .pred %other;
  ld.param.u32 %scope, [scope];
  mov.u32 %high, %envreg1;
  mov.u32 %low, %envreg2;
  mov.b64 %handle, {%low, %high};
  setp.ne.u32 %other, %scope, 1;
  @%other mov.u64 %handle, 0;
  st.param.b64 [handle], %handle;
  ret;
}

.visible .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .b64 %handle, %count;
  .reg .b32 %x, %y, %z, %blocks, %before, %round, %goal, %now;
  .reg .pred %none, %other, %waits;
  ld.param.u64 %handle, [handle];
  mov.u32 %x, 1;  // cudaErrorInvalidValue
  st.param.b32 [status], %x;
  setp.eq.u64 %none, %handle, 0;
  @%none ret;
  st.param.b32 [status], 0;
  barrier.sync 0;
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %other, %x, 0;
  @%other bra ALL;
  mov.u32 %x, %nctaid.x;
  mov.u32 %y, %nctaid.y;
  mov.u32 %z, %nctaid.z;
  mul.lo.u32 %blocks, %x, %y;
  mul.lo.u32 %blocks, %blocks, %z;
  add.u64 %count, %handle, 48;
  fence.acq_rel.gpu;
  atom.add.acq_rel.gpu.u32 %before, [%count], 1;
  div.u32 %round, %before, %blocks;
  add.u32 %round, %round, 1;
  mul.lo.u32 %goal, %round, %blocks;
WAIT:
  ld.acquire.gpu.u32 %now, [%count];
  setp.lt.u32 %waits, %now, %goal;
  @%waits bra WAIT;
  fence.acq_rel.gpu;
ALL:
  barrier.sync 0;
  ret;
}

.visible .func (.param .b32 status) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
  .reg .b64 %handle;
  .reg .b32 %flags, %status;
  ld.param.u64 %handle, [handle];
  ld.param.u32 %flags, [flags];
  {
    .param .b64 h;
    .param .b32 f;
    .param .b32 s;
    st.param.b64 [h], %handle;
    st.param.b32 [f], %flags;
    call.uni (s), cudaCGSynchronize, (h, f);
    ld.param.b32 %status, [s];
  }
  st.param.b32 [status], %status;
  ret;
}

.visible .func (.param .b32 status) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{
  .reg .b64 %threads, %grids;
  .reg .b32 %n, %m;
  .reg .pred %none;
  mov.u32 %n, %nctaid.x;
  mov.u32 %m, %nctaid.y;
  mul.lo.u32 %n, %n, %m;
  mov.u32 %m, %nctaid.z;
  mul.lo.u32 %n, %n, %m;
  mov.u32 %m, %ntid.x;
  mul.lo.u32 %n, %n, %m;
  mov.u32 %m, %ntid.y;
  mul.lo.u32 %n, %n, %m;
  mov.u32 %m, %ntid.z;
  mul.lo.u32 %n, %n, %m;
  ld.param.u64 %threads, [threads];
  ld.param.u64 %grids, [grids];
  setp.eq.u64 %none, %threads, 0;
  @!%none st.u32 [%threads], %n;
  setp.eq.u64 %none, %grids, 0;
  @!%none st.u32 [%grids], 1;
  st.param.b32 [status], 0;
  ret;
}

.visible .func (.param .b32 status) cudaCGGetRank(.param .b64 rank, .param .b64 grid, .param .b64 handle)
{
  .reg .b64 %rank, %grid;
  .reg .b32 %n, %m, %size;
  .reg .pred %none;
  mov.u32 %n, %ctaid.z;
  mov.u32 %size, %nctaid.y;
  mov.u32 %m, %ctaid.y;
  mad.lo.u32 %n, %n, %size, %m;
  mov.u32 %size, %nctaid.x;
  mov.u32 %m, %ctaid.x;
  mad.lo.u32 %n, %n, %size, %m;
  mov.u32 %size, %ntid.z;
  mov.u32 %m, %tid.z;
  mad.lo.u32 %n, %n, %size, %m;
  mov.u32 %size, %ntid.y;
  mov.u32 %m, %tid.y;
  mad.lo.u32 %n, %n, %size, %m;
  mov.u32 %size, %ntid.x;
  mov.u32 %m, %tid.x;
  mad.lo.u32 %n, %n, %size, %m;
  ld.param.u64 %rank, [rank];
  ld.param.u64 %grid, [grid];
  setp.eq.u64 %none, %rank, 0;
  @!%none st.u32 [%rank], %n;
  setp.eq.u64 %none, %grid, 0;
  @!%none st.u32 [%grid], 0;
  st.param.b32 [status], 0;
  ret;
}
)";

}  // namespace cudasim
