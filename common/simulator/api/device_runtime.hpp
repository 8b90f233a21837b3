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
// The table holds ChildLaunch (children.hpp): 2048 of 4160 bytes. NAME stands for what the functions' names begin with,
// PTSZ for what those that take a stream may end with. Streams and events need no more than a number each: children run
// one after the other. Copies and fills are children, too, of kernels that no module lists (kRuntimeKernels).
constexpr const char* kLaunchTable = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 cudasim_child_error;
.visible .global .align 4 .u32 cudasim_child_order;
.visible .global .align 16 .b8 cudasim_children[8519680];

.extern .func (.param .b64 place) malloc(.param .b64 bytes);
.extern .func free(.param .b64 place);

.visible .entry cudasim_copy(.param .u64 to, .param .u64 to_pitch, .param .u64 from, .param .u64 from_pitch,
                             .param .u64 width, .param .u64 bytes)
{
  .reg .b64 %to, %to_pitch, %from, %from_pitch, %width, %bytes, %at, %step, %row, %column, %place;
  .reg .b32 %x, %y, %z;
  .reg .b16 %byte;
  .reg .pred %more;
  ld.param.u64 %to, [to];
  ld.param.u64 %to_pitch, [to_pitch];
  ld.param.u64 %from, [from];
  ld.param.u64 %from_pitch, [from_pitch];
  ld.param.u64 %width, [width];
  ld.param.u64 %bytes, [bytes];
  mov.u32 %x, %ntid.x;
  mov.u32 %y, %ctaid.x;
  mov.u32 %z, %tid.x;
  mul.wide.u32 %at, %x, %y;
  cvt.u64.u32 %step, %z;
  add.u64 %at, %at, %step;
  mov.u32 %y, %nctaid.x;
  mul.wide.u32 %step, %x, %y;
LOOP:
  setp.lt.u64 %more, %at, %bytes;
  @!%more ret;
  div.u64 %row, %at, %width;
  rem.u64 %column, %at, %width;
  mad.lo.u64 %place, %row, %from_pitch, %column;
  add.u64 %place, %place, %from;
  ld.u8 %byte, [%place];
  mad.lo.u64 %place, %row, %to_pitch, %column;
  add.u64 %place, %place, %to;
  st.u8 [%place], %byte;
  add.u64 %at, %at, %step;
  bra LOOP;
}

.visible .entry cudasim_fill(.param .u64 to, .param .u64 pitch, .param .u64 value, .param .u64 width, .param .u64 bytes)
{
  .reg .b64 %to, %pitch, %value, %width, %bytes, %at, %step, %row, %column, %place;
  .reg .b32 %x, %y, %z;
  .reg .pred %more;
  ld.param.u64 %to, [to];
  ld.param.u64 %pitch, [pitch];
  ld.param.u64 %value, [value];
  ld.param.u64 %width, [width];
  ld.param.u64 %bytes, [bytes];
  mov.u32 %x, %ntid.x;
  mov.u32 %y, %ctaid.x;
  mov.u32 %z, %tid.x;
  mul.wide.u32 %at, %x, %y;
  cvt.u64.u32 %step, %z;
  add.u64 %at, %at, %step;
  mov.u32 %y, %nctaid.x;
  mul.wide.u32 %step, %x, %y;
LOOP:
  setp.lt.u64 %more, %at, %bytes;
  @!%more ret;
  div.u64 %row, %at, %width;
  rem.u64 %column, %at, %width;
  mad.lo.u64 %place, %row, %pitch, %column;
  add.u64 %place, %place, %to;
  st.u8 [%place], %value;
  add.u64 %at, %at, %step;
  bra LOOP;
}

.visible .func (.param .b64 buffer) cudaGetParameterBufferV2(.param .b64 function, .param .align 4 .b8 grid[12],
                                                             .param .align 4 .b8 block[12], .param .b32 shared);

// A child with as many threads as it needs, 65,536 at most.
.func (.param .b64 buffer) cudasim_child_for(.param .b64 kernel, .param .b64 bytes)
{
  .reg .b64 %kernel, %blocks, %buffer;
  .reg .b32 %count;
  ld.param.u64 %kernel, [kernel];
  ld.param.u64 %blocks, [bytes];
  add.u64 %blocks, %blocks, 255;
  shr.u64 %blocks, %blocks, 8;
  min.u64 %blocks, %blocks, 256;
  cvt.u32.u64 %count, %blocks;
  {
    .param .b64 f;
    .param .align 4 .b8 g[12];
    .param .align 4 .b8 b[12];
    .param .b32 s;
    .param .b64 o;
    st.param.b64 [f], %kernel;
    st.param.b32 [g], %count;
    st.param.b32 [g+4], 1;
    st.param.b32 [g+8], 1;
    st.param.b32 [b], 256;
    st.param.b32 [b+4], 1;
    st.param.b32 [b+8], 1;
    st.param.b32 [s], 0;
    call.uni (o), cudaGetParameterBufferV2, (f, g, b, s);
    ld.param.b64 %buffer, [o];
  }
  st.param.b64 [buffer], %buffer;
  ret;
}
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
  mov.u32 %word, 69;  // cudaErrorLaunchPendingCountExceeded
  st.global.u32 [cudasim_child_error], %word;
  mov.u64 %wide, 0;
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

// The heap is that of malloc, as the programming guide has it.
.visible .func (.param .b32 status) NAMEMalloc(.param .b64 pointer, .param .b64 bytes)
{
  .reg .b64 %pointer, %bytes, %place;
  .reg .b32 %word;
  .reg .pred %none;
  ld.param.b64 %pointer, [pointer];
  ld.param.b64 %bytes, [bytes];
  {
    .param .b64 n;
    .param .b64 p;
    st.param.b64 [n], %bytes;
    call.uni (p), malloc, (n);
    ld.param.b64 %place, [p];
  }
  st.u64 [%pointer], %place;
  setp.eq.u64 %none, %place, 0;
  setp.ne.and.u64 %none, %bytes, 0, %none;
  selp.u32 %word, 2, 0, %none;  // cudaErrorMemoryAllocation
  @%none st.global.u32 [cudasim_child_error], %word;
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEFree(.param .b64 pointer)
{
  .reg .b64 %pointer;
  ld.param.b64 %pointer, [pointer];
  {
    .param .b64 p;
    st.param.b64 [p], %pointer;
    call.uni free, (p);
  }
  st.param.b32 [status], 0;
  ret;
}
)";
// THING: Stream or Event.
constexpr const char* kHandleFunctions = R"(
.visible .func (.param .b32 status) NAMETHINGCreateWithFlags(.param .b64 thing, .param .b32 flags)
{
  .reg .b64 %at, %handle;
  .reg .b32 %word;
  ld.param.b64 %at, [thing];
  atom.global.add.u32 %word, [cudasim_child_order], 1;
  cvt.u64.u32 %handle, %word;
  add.u64 %handle, %handle, 65536;
  st.u64 [%at], %handle;
  mov.u32 %word, 0;
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMETHINGDestroy(.param .b64 thing)
{
  .reg .b32 %word;
  mov.u32 %word, 0;
  st.param.b32 [status], %word;
  ret;
}
)";
constexpr const char* kStreamFunctions = R"(
.visible .func (.param .b32 status) NAMELaunchDeviceV2PTSZ(.param .b64 buffer, .param .b64 stream)
{
  .reg .b64 %child, %wide;
  .reg .b32 %word;
  .reg .pred %none;
  ld.param.b64 %child, [buffer];
  mov.u32 %word, 69;  // cudaErrorLaunchPendingCountExceeded
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

.visible .func (.param .b32 status) NAMEMemcpy2DAsyncPTSZ(.param .b64 to, .param .b64 to_pitch, .param .b64 from,
                                                          .param .b64 from_pitch, .param .b64 width,
                                                          .param .b64 height, .param .b32 kind, .param .b64 stream)
{
  .reg .b64 %to, %to_pitch, %from, %from_pitch, %width, %bytes, %stream, %kernel, %buffer;
  .reg .b32 %word;
  .reg .pred %wrong, %more, %none;
  ld.param.b64 %to, [to];
  ld.param.b64 %to_pitch, [to_pitch];
  ld.param.b64 %from, [from];
  ld.param.b64 %from_pitch, [from_pitch];
  ld.param.b64 %width, [width];
  ld.param.b64 %bytes, [height];
  ld.param.b64 %stream, [stream];
  mul.lo.u64 %bytes, %bytes, %width;
  setp.gt.u64 %wrong, %width, %to_pitch;
  setp.gt.or.u64 %wrong, %width, %from_pitch, %wrong;
  selp.u32 %word, 12, 0, %wrong;  // cudaErrorInvalidPitchValue
  st.param.b32 [status], %word;
  @%wrong st.global.u32 [cudasim_child_error], %word;
  setp.eq.or.u64 %none, %bytes, 0, %wrong;
  @%none ret;
  mov.u64 %kernel, cudasim_copy;
  {
    .param .b64 k;
    .param .b64 n;
    .param .b64 o;
    st.param.b64 [k], %kernel;
    st.param.b64 [n], %bytes;
    call.uni (o), cudasim_child_for, (k, n);
    ld.param.b64 %buffer, [o];
  }
  setp.ne.u64 %more, %buffer, 0;
  @%more st.u64 [%buffer], %to;
  @%more st.u64 [%buffer+8], %to_pitch;
  @%more st.u64 [%buffer+16], %from;
  @%more st.u64 [%buffer+24], %from_pitch;
  @%more st.u64 [%buffer+32], %width;
  @%more st.u64 [%buffer+40], %bytes;
  {
    .param .b64 b;
    .param .b64 s;
    .param .b32 o;
    st.param.b64 [b], %buffer;
    st.param.b64 [s], %stream;
    call.uni (o), NAMELaunchDeviceV2PTSZ, (b, s);
    ld.param.b32 %word, [o];
  }
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEMemcpyAsyncPTSZ(.param .b64 to, .param .b64 from, .param .b64 bytes,
                                                        .param .b32 kind, .param .b64 stream)
{
  .reg .b64 %to, %from, %bytes, %stream;
  .reg .b32 %kind, %word;
  ld.param.b64 %to, [to];
  ld.param.b64 %from, [from];
  ld.param.b64 %bytes, [bytes];
  ld.param.b32 %kind, [kind];
  ld.param.b64 %stream, [stream];
  {
    .param .b64 t;
    .param .b64 tp;
    .param .b64 f;
    .param .b64 fp;
    .param .b64 w;
    .param .b64 h;
    .param .b32 k;
    .param .b64 s;
    .param .b32 o;
    st.param.b64 [t], %to;
    st.param.b64 [tp], %bytes;
    st.param.b64 [f], %from;
    st.param.b64 [fp], %bytes;
    st.param.b64 [w], %bytes;
    st.param.b64 [h], 1;
    st.param.b32 [k], %kind;
    st.param.b64 [s], %stream;
    call.uni (o), NAMEMemcpy2DAsyncPTSZ, (t, tp, f, fp, w, h, k, s);
    ld.param.b32 %word, [o];
  }
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEMemset2DAsyncPTSZ(.param .b64 to, .param .b64 pitch, .param .b32 value,
                                                          .param .b64 width, .param .b64 height, .param .b64 stream)
{
  .reg .b64 %to, %pitch, %value, %width, %bytes, %stream, %kernel, %buffer;
  .reg .b32 %word;
  .reg .pred %wrong, %more, %none;
  ld.param.b64 %to, [to];
  ld.param.b64 %pitch, [pitch];
  ld.param.b32 %word, [value];
  cvt.u64.u32 %value, %word;
  ld.param.b64 %width, [width];
  ld.param.b64 %bytes, [height];
  ld.param.b64 %stream, [stream];
  mul.lo.u64 %bytes, %bytes, %width;
  setp.gt.u64 %wrong, %width, %pitch;
  selp.u32 %word, 12, 0, %wrong;  // cudaErrorInvalidPitchValue
  st.param.b32 [status], %word;
  @%wrong st.global.u32 [cudasim_child_error], %word;
  setp.eq.or.u64 %none, %bytes, 0, %wrong;
  @%none ret;
  mov.u64 %kernel, cudasim_fill;
  {
    .param .b64 k;
    .param .b64 n;
    .param .b64 o;
    st.param.b64 [k], %kernel;
    st.param.b64 [n], %bytes;
    call.uni (o), cudasim_child_for, (k, n);
    ld.param.b64 %buffer, [o];
  }
  setp.ne.u64 %more, %buffer, 0;
  @%more st.u64 [%buffer], %to;
  @%more st.u64 [%buffer+8], %pitch;
  @%more st.u64 [%buffer+16], %value;
  @%more st.u64 [%buffer+24], %width;
  @%more st.u64 [%buffer+32], %bytes;
  {
    .param .b64 b;
    .param .b64 s;
    .param .b32 o;
    st.param.b64 [b], %buffer;
    st.param.b64 [s], %stream;
    call.uni (o), NAMELaunchDeviceV2PTSZ, (b, s);
    ld.param.b32 %word, [o];
  }
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEMemsetAsyncPTSZ(.param .b64 to, .param .b32 value, .param .b64 bytes,
                                                        .param .b64 stream)
{
  .reg .b64 %to, %bytes, %stream;
  .reg .b32 %value, %word;
  ld.param.b64 %to, [to];
  ld.param.b32 %value, [value];
  ld.param.b64 %bytes, [bytes];
  ld.param.b64 %stream, [stream];
  {
    .param .b64 t;
    .param .b64 p;
    .param .b32 v;
    .param .b64 w;
    .param .b64 h;
    .param .b64 s;
    .param .b32 o;
    st.param.b64 [t], %to;
    st.param.b64 [p], %bytes;
    st.param.b32 [v], %value;
    st.param.b64 [w], %bytes;
    st.param.b64 [h], 1;
    st.param.b64 [s], %stream;
    call.uni (o), NAMEMemset2DAsyncPTSZ, (t, p, v, w, h, s);
    ld.param.b32 %word, [o];
  }
  st.param.b32 [status], %word;
  ret;
}

.visible .func (.param .b32 status) NAMEStreamWaitEventPTSZ(.param .b64 stream, .param .b64 event, .param .b32 flags)
{
  st.param.b32 [status], 0;
  ret;
}

.visible .func (.param .b32 status) NAMEEventRecordPTSZ(.param .b64 event, .param .b64 stream)
{
  st.param.b32 [status], 0;
  ret;
}

.visible .func (.param .b32 status) NAMEEventRecordWithFlagsPTSZ(.param .b64 event, .param .b64 stream,
                                                                 .param .b32 flags)
{
  st.param.b32 [status], 0;
  ret;
}
)";

// Finds an error's sentence. The linker makes the table: records of a code and a text, the last with no error's code.
constexpr const char* kErrorFunction = R"(
.visible .func (.param .b64 text) NAMEGetErrorString(.param .b32 error)
{
  .reg .b64 %at;
  .reg .b32 %error, %code;
  .reg .pred %found;
  ld.param.b32 %error, [error];
  mov.u64 %at, cudasim_errors;
  cvta.global.u64 %at, %at;
LOOK:
  ld.u32 %code, [%at];
  setp.eq.u32 %found, %code, %error;
  setp.eq.or.u32 %found, %code, 0xffffffff, %found;
  @!%found add.u64 %at, %at, 128;
  @!%found bra LOOK;
  add.u64 %at, %at, 4;
  st.param.b64 [text], %at;
  ret;
}
)";

}  // namespace cudasim
