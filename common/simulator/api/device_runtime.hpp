// The parts of libcudadevrt that programs link (cuda_device_runtime_api.h), in PTX of our own: grids that synchronise
// (cudaCG…), and grids that launch grids. A cooperative launch gives its grid a few words of memory; the last one
// counts the blocks that came to the barrier.
#pragma once

namespace cudasim {

constexpr const char* kDeviceRuntime = R"(
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

// What the compiler writes for kernel<<<…>>> in a kernel: a place for the arguments is asked for, filled, and launched.
// The table holds ChildLaunch (children.hpp): 2048 of 4160 bytes. NAME stands for what the functions' names begin with.
// Streams need no more than a number each: children run one after the other.
constexpr const char* kLaunchTable = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 cudasim_child_error;
.visible .global .align 4 .u32 cudasim_child_order;
.visible .global .align 16 .b8 cudasim_children[8519680];
)";
constexpr const char* kLaunchFunctions = R"(
.visible .func (.param .b64 buffer) NAMEGetParameterBufferV2(.param .b64 function, .param .align 4 .b8 grid[12],
                                                             .param .align 4 .b8 block[12], .param .b32 shared)
{
  .reg .b64 %child, %end, %wide;
  .reg .b32 %state, %word;
  .reg .pred %here, %more;
  mov.u64 %child, cudasim_children;
  cvta.global.u64 %child, %child;
  add.u64 %end, %child, 8519680;
LOOK:
  atom.cas.b32 %state, [%child], 0, 1;
  setp.eq.u32 %here, %state, 0;
  @%here bra FOUND;
  add.u64 %child, %child, 4160;
  setp.lt.u64 %more, %child, %end;
  @%more bra LOOK;
  mov.u64 %wide, 0;  // too many at a time
  st.param.b64 [buffer], %wide;
  ret;
FOUND:
  mov.u64 %wide, %gridid;
  st.u64 [%child+8], %wide;
  ld.param.b64 %wide, [function];
  st.u64 [%child+16], %wide;
  ld.param.b32 %word, [grid];
  st.u32 [%child+32], %word;
  ld.param.b32 %word, [grid+4];
  st.u32 [%child+36], %word;
  ld.param.b32 %word, [grid+8];
  st.u32 [%child+40], %word;
  ld.param.b32 %word, [block];
  st.u32 [%child+44], %word;
  ld.param.b32 %word, [block+4];
  st.u32 [%child+48], %word;
  ld.param.b32 %word, [block+8];
  st.u32 [%child+52], %word;
  ld.param.b32 %word, [shared];
  st.u32 [%child+56], %word;
  add.u64 %wide, %child, 64;
  st.param.b64 [buffer], %wide;
  ret;
}

.visible .func (.param .b32 status) NAMELaunchDeviceV2(.param .b64 buffer, .param .b64 stream)
{
  .reg .b64 %child, %wide;
  .reg .b32 %word;
  .reg .pred %none;
  ld.param.b64 %child, [buffer];
  mov.u32 %word, 211;  // cudaErrorLaunchPendingCountExceeded
  st.param.b32 [status], %word;
  setp.eq.u64 %none, %child, 0;
  @%none st.global.u32 [cudasim_child_error], %word;
  @%none ret;
  sub.u64 %child, %child, 64;
  ld.param.b64 %wide, [stream];
  st.u64 [%child+24], %wide;
  atom.global.add.u32 %word, [cudasim_child_order], 1;
  st.u32 [%child+4], %word;
  membar.gl;
  mov.u32 %word, 2;
  st.volatile.u32 [%child], %word;
  mov.u32 %word, 0;
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEGetLastError()
{
  .reg .b32 %word;
  atom.global.exch.b32 %word, [cudasim_child_error], 0;
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEPeekAtLastError()
{
  .reg .b32 %word;
  ld.volatile.global.u32 %word, [cudasim_child_error];
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEStreamCreateWithFlags(.param .b64 stream, .param .b32 flags)
{
  .reg .b64 %at, %handle;
  .reg .b32 %word;
  ld.param.b64 %at, [stream];
  atom.global.add.u32 %word, [cudasim_child_order], 1;
  cvt.u64.u32 %handle, %word;
  add.u64 %handle, %handle, 65536;
  st.u64 [%at], %handle;
  mov.u32 %word, 0;
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEStreamDestroy(.param .b64 stream)
{
  .reg .b32 %word;
  mov.u32 %word, 0;
  st.param.b32 [status], %word;
  ret;
}
)";

}  // namespace cudasim
