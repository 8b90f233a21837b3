// Executable graphs that are changed: what may become what; conditional nodes whose bodies cannot be.
#include "tests/conformance/recorded.hpp"

#if CUDA_VERSION >= 13000
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace {

const char kText[] = R"(
.version 8.3
.target sm_75
.address_size 64
.visible .entry k() { ret; }
.visible .entry one(.param .u32 p) { ret; }
.visible .entry two(.param .u32 p, .param .u64 q) { ret; }
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry set(.param .u64 handle, .param .u32 value) {
  .reg .u64 %h;
  .reg .u32 %v;
  ld.param.u64 %h, [handle];
  ld.param.u32 %v, [value];
  {
    .param .b64 a;
    .param .b32 b;
    st.param.b64 [a], %h;
    st.param.b32 [b], %v;
    call cudaGraphSetConditional, (a, b);
  }
  ret;
}
)";

struct Scene {
  conformance::Context F = conformance::context();
  CUmodule module = nullptr;
  CUdeviceptr p = 0, q = 0, managed = 0;
  void* pinned = nullptr;
  CUevent e = nullptr, f = nullptr;
  CUarray array = nullptr;
  CUstream s = nullptr;

  Scene() {
    CU_CHECK(cuModuleLoadData(&module, kText));
    CU_CHECK(cuMemAlloc(&p, 4096));
    CU_CHECK(cuMemAlloc(&q, 4096));
    CU_CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CU_CHECK(cuMemAllocHost(&pinned, 4096));
    CU_CHECK(cuEventCreate(&e, 0));
    CU_CHECK(cuEventCreate(&f, 0));
    CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    const CUDA_ARRAY_DESCRIPTOR shape{16, 16, CU_AD_FORMAT_FLOAT, 1};
    CU_CHECK(cuArrayCreate(&array, &shape));
  }
  static CUgraph graph() {
    CUgraph g = nullptr;
    CU_CHECK(cuGraphCreate(&g, 0));
    return g;
  }
  CUDA_KERNEL_NODE_PARAMS kernel_of(const char* name, unsigned grid = 1, unsigned block = 1) const {
    static unsigned zero[4] = {};
    static void* values[] = {zero, zero};
    CUDA_KERNEL_NODE_PARAMS k{};
    CU_CHECK(cuModuleGetFunction(&k.func, module, name));
    k.gridDimX = grid;
    k.blockDimX = block;
    k.gridDimY = k.gridDimZ = k.blockDimY = k.blockDimZ = 1;
    k.kernelParams = values;
    return k;
  }
  CUgraphNode kernel(CUgraph g, const char* name = "k", CUgraphNode after = nullptr) const {
    const CUDA_KERNEL_NODE_PARAMS k = kernel_of(name);
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddKernelNode(&node, g, &after, after != nullptr, &k));
    return node;
  }
  CUgraphNode fill(CUgraph g, CUdeviceptr to, std::size_t width, std::size_t height = 1, unsigned element = 1,
                   unsigned value = 1) const {
    const CUDA_MEMSET_NODE_PARAMS fill{to, 64, value, element, width, height};
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddMemsetNode(&node, g, nullptr, 0, &fill, F.ctx));
    return node;
  }
  static CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, std::size_t height = 1) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.srcPitch = copy.dstPitch = 64;
    copy.srcHeight = copy.dstHeight = height;
    copy.WidthInBytes = bytes;
    copy.Height = height;
    copy.Depth = 1;
    return copy;
  }
  CUgraphNode copy(CUgraph g, CUdeviceptr to, CUdeviceptr from, std::size_t bytes, std::size_t height = 1) const {
    const CUDA_MEMCPY3D what = copy_of(to, from, bytes, height);
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddMemcpyNode(&node, g, nullptr, 0, &what, F.ctx));
    return node;
  }
  static CUgraphNode host(CUgraph g, CUhostFn function, void* data = nullptr) {
    const CUDA_HOST_NODE_PARAMS call{function, data};
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddHostNode(&node, g, nullptr, 0, &call));
    return node;
  }
  CUgraphExec ready(CUgraph g) const {
    CUgraphExec x = nullptr;
    CU_CHECK(cuGraphInstantiate(&x, g, 0));
    return x;
  }
};

// A graph's update with another graph: the result, what kind it is, and whether nodes are named.
void say_update(const char* name, CUgraphExec x, CUgraph g) {
  CUgraphExecUpdateResultInfo info{};
  SAY_AS(name, cuGraphExecUpdate(x, g, &info));
  SHOW_AS("result, node, from",
          info.result << " " << (info.errorNode != nullptr) << " " << (info.errorFromNode != nullptr));
}

void call_a(void*) {}
void call_b(void*) {}

}  // namespace

RECORDED_CASE("A graph's update needs the same nodes and edges", "[graph]") {
  const Scene S;
  const auto of = [](auto build) {
    const CUgraph g = Scene::graph();
    build(g);
    return g;
  };
  const CUgraph base = of([&](CUgraph g) { S.kernel(g, "k", S.kernel(g)); });
  const CUgraphExec x = S.ready(base);
  say_update("itself", x, base);
  say_update("the same again", x, of([&](CUgraph g) { S.kernel(g, "k", S.kernel(g)); }));
  say_update("an empty graph", x, Scene::graph());
  say_update("a node less", x, of([&](CUgraph g) { S.kernel(g); }));
  say_update("a node more", x, of([&](CUgraph g) { S.kernel(g, "k", S.kernel(g, "k", S.kernel(g))); }));
  say_update("an edge less", x, of([&](CUgraph g) { S.kernel(g), S.kernel(g); }));
  say_update("another kernel", x, of([&](CUgraph g) { S.kernel(g, "one", S.kernel(g)); }));
  say_update("the first again", x, base);
  say_update("a fill instead", x, of([&](CUgraph g) {
               const CUgraphNode first = S.kernel(g), last = S.fill(g, S.p, 16);
               CU_CHECK(cuGraphAddDependencies(g, &first, &last, nullptr, 1));
             }));
  say_update("a host node instead", x, of([&](CUgraph g) {
               const CUgraphNode first = S.kernel(g), last = Scene::host(g, call_a);
               CU_CHECK(cuGraphAddDependencies(g, &first, &last, nullptr, 1));
             }));
  CUgraph gone = Scene::graph();
  CU_CHECK(cuGraphDestroy(gone));
  CUgraphExecUpdateResultInfo info{};
  SAY(cuGraphExecUpdate(x, nullptr, &info));
  SAY(cuGraphExecUpdate(nullptr, base, &info));
  SAY(cuGraphExecUpdate(x, base, nullptr));
}

// A table: one row after the other.
RECORDED_CASE("What a node may become by an update", "[graph]") {
  const Scene S;
  const auto host = reinterpret_cast<CUdeviceptr>(S.pinned);
  const auto pair = [](const char* name, auto before, auto after) {
    const CUgraph g = Scene::graph(), h = Scene::graph();
    before(g);
    after(h);
    CUgraphExec x = nullptr;
    const CUresult made = cuGraphInstantiate(&x, g, 0);
    if (made == CUDA_SUCCESS)
      say_update(name, x, h);
    else
      SAY_AS(std::string(name) + ", instantiate", made);
  };
#define FROM(...)  \
  [&](CUgraph g) { \
    (void)g;       \
    __VA_ARGS__;   \
  }
  pair("a fill of another value", FROM(S.fill(g, S.p, 16)), FROM(S.fill(g, S.p, 16, 1, 1, 7)));
  pair("a fill of another width", FROM(S.fill(g, S.p, 16)), FROM(S.fill(g, S.p, 32)));
  pair("a fill of other elements", FROM(S.fill(g, S.p, 16)), FROM(S.fill(g, S.p, 4, 1, 4)));
  pair("a fill of more rows", FROM(S.fill(g, S.p, 16)), FROM(S.fill(g, S.p, 16, 4)));
  pair("rows of another height", FROM(S.fill(g, S.p, 16, 2)), FROM(S.fill(g, S.p, 16, 4)));
  pair("rows of another width", FROM(S.fill(g, S.p, 16, 2)), FROM(S.fill(g, S.p, 32, 2)));
  pair("rows that are one", FROM(S.fill(g, S.p, 16, 2)), FROM(S.fill(g, S.p, 16, 1)));
  pair("a fill elsewhere", FROM(S.fill(g, S.p, 16)), FROM(S.fill(g, S.q, 16)));
  pair("a fill of managed memory", FROM(S.fill(g, S.p, 16)), FROM(S.fill(g, S.managed, 16)));
  pair("a fill of pinned memory", FROM(S.fill(g, S.p, 16)), FROM(S.fill(g, host, 16)));
  pair("a copy of other bytes", FROM(S.copy(g, S.p, S.q, 16)), FROM(S.copy(g, S.p, S.q, 32)));
  pair("a copy elsewhere", FROM(S.copy(g, S.p, S.q, 16)), FROM(S.copy(g, S.q, S.p + 64, 16)));
  pair("a copy from the host", FROM(S.copy(g, S.p, S.q, 16)), FROM(S.copy(g, S.p, host, 16)));
  pair("a copy from the host, elsewhere", FROM(S.copy(g, S.p, host, 16)), FROM(S.copy(g, S.q, host + 64, 16)));
  pair("a copy to the host instead", FROM(S.copy(g, S.p, host, 16)), FROM(S.copy(g, host, S.p, 16)));
  pair("a copy of managed memory", FROM(S.copy(g, S.p, S.q, 16)), FROM(S.copy(g, S.p, S.managed, 16)));
  pair("a copy of more rows", FROM(S.copy(g, S.p, S.q, 16)), FROM(S.copy(g, S.p, S.q, 16, 4)));
  pair("rows to copy, more", FROM(S.copy(g, S.p, S.q, 16, 2)), FROM(S.copy(g, S.p, S.q, 16, 4)));
  pair("rows to copy, wider", FROM(S.copy(g, S.p, S.q, 16, 2)), FROM(S.copy(g, S.p, S.q, 32, 2)));
  pair("another host function", FROM(Scene::host(g, call_a)), FROM(Scene::host(g, call_b)));
  pair("other data", FROM(Scene::host(g, call_a)), FROM(Scene::host(g, call_a, g)));
  const auto record = [](CUgraph g, CUevent e) {
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddEventRecordNode(&node, g, nullptr, 0, e));
  };
  const auto wait = [](CUgraph g, CUevent e) {
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddEventWaitNode(&node, g, nullptr, 0, e));
  };
  pair("another event to record", FROM(record(g, S.e)), FROM(record(g, S.f)));
  pair("another event to wait for", FROM(wait(g, S.e)), FROM(wait(g, S.f)));
  pair("to wait instead of recording", FROM(record(g, S.e)), FROM(wait(g, S.e)));
  const auto child = [&](CUgraph g, unsigned kernels, const char* name = "k") {
    const CUgraph inner = Scene::graph();
    for (unsigned i = 0; i < kernels; ++i) S.kernel(inner, name);
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddChildGraphNode(&node, g, nullptr, 0, inner));
  };
  pair("another kernel in the child", FROM(child(g, 1)), FROM(child(g, 1, "one")));
  pair("a node more in the child", FROM(child(g, 1)), FROM(child(g, 2)));
  pair("no node in the child", FROM(child(g, 1)), FROM(child(g, 0)));
  const auto allocate = [&](CUgraph g, std::size_t bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS a{};
    a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    a.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, {S.F.dev}};
    a.bytesize = bytes;
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddMemAllocNode(&node, g, nullptr, 0, &a));
  };
  pair("another allocation", FROM(allocate(g, 1024)), FROM(allocate(g, 1024)));
  pair("a larger allocation", FROM(allocate(g, 1024)), FROM(allocate(g, 2048)));
  const auto empty = [](CUgraph g) {
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddEmptyNode(&node, g, nullptr, 0));
  };
  pair("nothing to nothing", FROM(empty(g)), FROM(empty(g)));
  pair("nothing to a kernel", FROM(empty(g)), FROM(S.kernel(g)));
  const auto write = [&](CUgraph g, unsigned count, unsigned value) {
    CUstreamBatchMemOpParams operations[2] = {};
    for (auto& one : operations) {
      one.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      one.writeValue.address = S.p;
      one.writeValue.value = value;
    }
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params{S.F.ctx, count, operations, 0};
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddBatchMemOpNode(&node, g, nullptr, 0, &params));
  };
  pair("another value to write", FROM(write(g, 1, 1)), FROM(write(g, 1, 2)));
  pair("two values to write", FROM(write(g, 1, 1)), FROM(write(g, 2, 1)));
}

// A table: one row after the other.
RECORDED_CASE("The nodes of an executable graph take other parameters", "[graph]") {
  const Scene S;
  const auto host = reinterpret_cast<CUdeviceptr>(S.pinned);
  const CUgraph g = Scene::graph(), other = Scene::graph();
  const CUgraphNode k = S.kernel(g), fill = S.fill(g, S.p, 16), rows = S.fill(g, S.p, 16, 2),
                    copy = S.copy(g, S.p, S.q, 16), call = Scene::host(g, call_a), foreign = S.kernel(other);
  CUgraphNode empty = nullptr, mark = nullptr, wait = nullptr, child = nullptr;
  CU_CHECK(cuGraphAddEmptyNode(&empty, g, nullptr, 0));
  CU_CHECK(cuGraphAddEventRecordNode(&mark, g, nullptr, 0, S.e));
  CU_CHECK(cuGraphAddEventWaitNode(&wait, g, nullptr, 0, S.e));
  CU_CHECK(cuGraphAddChildGraphNode(&child, g, nullptr, 0, other));
  const CUgraphExec x = S.ready(g);
  const auto set = [&](CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS& params) {
    return cuGraphExecKernelNodeSetParams(x, node, &params);
  };
  SAY(set(k, S.kernel_of("k", 2, 32)));
  SAY(set(k, S.kernel_of("one")));
  SAY(set(k, S.kernel_of("two")));
  SAY(set(k, S.kernel_of("k", 0, 1)));
  SAY(set(k, S.kernel_of("k", 1, 1025)));
  SAY(set(fill, S.kernel_of("k")));
  SAY(set(foreign, S.kernel_of("k")));
  SAY(set(nullptr, S.kernel_of("k")));
  CUDA_KERNEL_NODE_PARAMS params = S.kernel_of("one");
  params.kernelParams = nullptr;
  SAY(set(k, params));
  params = S.kernel_of("k");
  params.func = nullptr;
  SAY(set(k, params));
  params = S.kernel_of("k");
  params.sharedMemBytes = 1 << 20;
  SAY(set(k, params));
  SAY(cuGraphExecKernelNodeSetParams(x, k, nullptr));
  SAY(cuGraphExecKernelNodeSetParams(nullptr, k, &params));
  SAY(cuGraphKernelNodeSetParams(k, &params));
  const auto refill = [&](CUgraphNode node, CUdeviceptr to, std::size_t width, std::size_t height, unsigned element) {
    const CUDA_MEMSET_NODE_PARAMS fill_params{to, 64, 3, element, width, height};
    return cuGraphExecMemsetNodeSetParams(x, node, &fill_params, S.F.ctx);
  };
  SAY(refill(fill, S.p, 32, 1, 1));
  SAY(refill(fill, S.q, 32, 1, 1));
  SAY(refill(fill, S.p, 8, 1, 4));
  SAY(refill(fill, S.p, 8, 2, 1));
  SAY(refill(rows, S.p, 16, 2, 1));
  SAY(refill(rows, S.p, 16, 3, 1));
  SAY(refill(rows, S.p, 8, 2, 1));
  SAY(refill(rows, S.p, 16, 1, 1));
  SAY(refill(fill, S.p, 0, 1, 1));
  SAY(refill(fill, S.p, 5000, 1, 1));
  SAY(refill(fill, 0, 16, 1, 1));
  SAY(refill(fill, host, 16, 1, 1));
  SAY(refill(fill, S.managed, 16, 1, 1));
  SAY(refill(fill, S.p, 16, 1, 3));
  SAY(refill(k, S.p, 16, 1, 1));
  SAY(cuGraphExecMemsetNodeSetParams(x, fill, nullptr, S.F.ctx));
  const auto recopy = [&](CUgraphNode node, const CUDA_MEMCPY3D& what) {
    return cuGraphExecMemcpyNodeSetParams(x, node, &what, S.F.ctx);
  };
  SAY(recopy(copy, Scene::copy_of(S.q, S.p, 32)));
  SAY(recopy(copy, Scene::copy_of(S.p, S.q, 16, 2)));
  SAY(recopy(copy, Scene::copy_of(S.p, host, 16)));
  SAY(recopy(copy, Scene::copy_of(host, S.p, 16)));
  SAY(recopy(copy, Scene::copy_of(S.p, S.managed, 16)));
  SAY(recopy(copy, Scene::copy_of(S.p, S.q, 0)));
  SAY(recopy(copy, Scene::copy_of(S.p, S.q, 5000)));
  SAY(recopy(copy, Scene::copy_of(0, S.q, 16)));
  SAY(recopy(fill, Scene::copy_of(S.p, S.q, 16)));
  CUDA_MEMCPY3D into = Scene::copy_of(0, S.q, 16);
  into.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  into.dstArray = S.array;
  SAY(recopy(copy, into));
  SAY(cuGraphExecMemcpyNodeSetParams(x, copy, nullptr, S.F.ctx));
  const auto recall = [&](CUgraphNode node, CUhostFn function) {
    const CUDA_HOST_NODE_PARAMS host_params{function, nullptr};
    return cuGraphExecHostNodeSetParams(x, node, &host_params);
  };
  SAY(recall(call, call_b));
  SAY(recall(call, nullptr));
  SAY(recall(k, call_b));
  SAY(cuGraphExecHostNodeSetParams(x, call, nullptr));
  SAY(cuGraphExecEventRecordNodeSetEvent(x, mark, S.f));
  SAY(cuGraphExecEventRecordNodeSetEvent(x, mark, nullptr));
  SAY(cuGraphExecEventRecordNodeSetEvent(x, wait, S.f));
  SAY(cuGraphExecEventWaitNodeSetEvent(x, wait, S.f));
  SAY(cuGraphExecEventWaitNodeSetEvent(x, wait, nullptr));
  SAY(cuGraphExecEventWaitNodeSetEvent(x, mark, S.f));
  const CUgraph same = Scene::graph(), more = Scene::graph();
  S.kernel(same, "one");
  S.kernel(more), S.kernel(more);
  SAY(cuGraphExecChildGraphNodeSetParams(x, child, same));
  SAY(cuGraphExecChildGraphNodeSetParams(x, child, more));
  SAY(cuGraphExecChildGraphNodeSetParams(x, child, nullptr));
  SAY(cuGraphExecChildGraphNodeSetParams(x, k, same));
  for (const CUgraphNode node : {k, fill, rows, copy, call, empty, mark, wait, child, foreign, CUgraphNode{nullptr}}) {
    unsigned enabled = 9;
    SAY_AS("cuGraphNodeSetEnabled", cuGraphNodeSetEnabled(x, node, 0));
    SAY_AS("cuGraphNodeGetEnabled", cuGraphNodeGetEnabled(x, node, &enabled));
    SHOW(enabled);
  }
  SAY(cuGraphNodeSetEnabled(x, k, 7));
  unsigned enabled = 9;
  SAY(cuGraphNodeGetEnabled(x, k, &enabled));
  SHOW(enabled);
  SAY(cuGraphNodeGetEnabled(x, k, nullptr));
  CUgraphNodeParams general{};
  general.type = CU_GRAPH_NODE_TYPE_MEMSET;
  general.memset.dst = S.p;
  general.memset.elementSize = 1;
  general.memset.width = 16;
  general.memset.height = 1;
  general.memset.ctx = S.F.ctx;
  SAY(cuGraphExecNodeSetParams(x, fill, &general));
  SAY(cuGraphExecNodeSetParams(x, k, &general));
  SAY(cuGraphNodeSetParams(fill, &general));
  SAY(cuGraphNodeSetParams(k, &general));
  general.type = CU_GRAPH_NODE_TYPE_EMPTY;
  SAY(cuGraphExecNodeSetParams(x, empty, &general));
  SAY(cuGraphNodeSetParams(empty, &general));
  general.type = static_cast<CUgraphNodeType>(99);
  SAY(cuGraphExecNodeSetParams(x, fill, &general));
  SAY(cuGraphExecNodeSetParams(x, fill, nullptr));
  SAY(cuGraphLaunch(x, S.s));
  SAY(cuStreamSynchronize(S.s));
}

RECORDED_CASE("A graph is instantiated with flags that go together", "[graph]") {
  const Scene S;
  const CUgraph g = Scene::graph();
  S.kernel(g);
  for (const unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 8u, 9u, 12u, 16u, 32u}) {
    CUgraphExec x = nullptr;
    cuuint64_t got = 99;
    const CUresult made = cuGraphInstantiate(&x, g, flags);
    SAY_AS("flags " + std::to_string(flags), made);
    if (made == CUDA_SUCCESS) {
      SAY(cuGraphExecGetFlags(x, &got));
      SHOW(got);
    }
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    params.flags = flags;
    params.hUploadStream = S.s;
    SAY_AS("with parameters", cuGraphInstantiateWithParams(&x, g, &params));
    SHOW_AS("result, node", params.result_out << " " << (params.hErrNode_out != nullptr));
  }
  CUgraphExec x = nullptr;
  SAY(cuGraphInstantiate(&x, nullptr, 0));
  SAY(cuGraphInstantiate(nullptr, g, 0));
  SAY(cuGraphInstantiate(&x, Scene::graph(), 0));
  SAY(cuGraphLaunch(x, S.s));
  SAY(cuGraphUpload(x, S.s));
  SAY(cuGraphLaunch(nullptr, S.s));
  SAY(cuGraphUpload(nullptr, S.s));
  SAY(cuGraphExecGetFlags(x, nullptr));
  SAY(cuGraphExecDestroy(nullptr));
  SAY(cuGraphExecDestroy(x));
  SAY(cuGraphCreate(nullptr, 0));
  CUgraph made = nullptr;
  SAY(cuGraphCreate(&made, 1));
  SAY(cuGraphDestroy(nullptr));
}

namespace {

// A conditional node of a kind and with so many bodies, each made by `fill_body`: whether it is made and instantiated.
template <class Body>
void say_conditional(const Scene& S, const char* name, int type, unsigned size, Body fill_body) {
  const CUgraph g = Scene::graph();
  CUgraphConditionalHandle handle = 0;
  CU_CHECK(cuGraphConditionalHandleCreate(&handle, g, S.F.ctx, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = handle;
  p.conditional.type = static_cast<CUgraphConditionalNodeType>(type);
  p.conditional.size = size;
  p.conditional.ctx = S.F.ctx;
  CUgraphNode node = nullptr;
  const CUresult added = cuGraphAddNode(&node, g, nullptr, nullptr, 0, &p);
  SAY_AS(std::string(name) + ", add", added);
  if (added != CUDA_SUCCESS) return;
  const CUresult filled = fill_body(p.conditional.phGraph_out[0], handle);
  SAY_AS(std::string(name) + ", body", filled);
  CUgraphExec x = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  SAY_AS(std::string(name) + ", instantiate", cuGraphInstantiateWithParams(&x, g, &params));
  SHOW_AS("result, node", params.result_out << " " << (params.hErrNode_out != nullptr));
  if (x == nullptr) return;
  SAY_AS(std::string(name) + ", launch", cuGraphLaunch(x, S.s));
  SAY_AS(std::string(name) + ", wait", cuStreamSynchronize(S.s));
  say_update(name, x, g);
}

}  // namespace

RECORDED_CASE("Conditional nodes have kinds and numbers of bodies", "[graph]") {
  const Scene S;
  const auto nothing = [](CUgraph, CUgraphConditionalHandle) { return CUDA_SUCCESS; };
  for (const int type : {0, 2, 3, -1}) {
    for (const unsigned size : {0u, 1u, 2u, 3u, 5u, 40u})
      say_conditional(S, ("type " + std::to_string(type) + ", size " + std::to_string(size)).c_str(), type, size,
                      nothing);
  }
  for (const unsigned size : {0u, 2u, 3u})
    say_conditional(S, ("type 1, size " + std::to_string(size)).c_str(), 1, size, nothing);
  const CUgraph g = Scene::graph(), other = Scene::graph();
  CUgraphConditionalHandle handle = 0, unused = 0;
  CUgraphNode node = nullptr;
  SAY(cuGraphConditionalHandleCreate(nullptr, g, S.F.ctx, 0, 0));
  SAY(cuGraphConditionalHandleCreate(&handle, nullptr, S.F.ctx, 0, 0));
  SAY(cuGraphConditionalHandleCreate(&handle, g, nullptr, 0, 0));
  SAY(cuGraphConditionalHandleCreate(&handle, g, S.F.ctx, 0, 2));
  SAY(cuGraphConditionalHandleCreate(&handle, g, S.F.ctx, 7, 0));
  SAY(cuGraphConditionalHandleCreate(&handle, g, S.F.ctx, 7, CU_GRAPH_COND_ASSIGN_DEFAULT));
  SAY(cuGraphConditionalHandleCreate(&unused, g, S.F.ctx, 0, 0));
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = handle;
  p.conditional.type = CU_GRAPH_COND_TYPE_IF;
  p.conditional.size = 1;
  p.conditional.ctx = S.F.ctx;
  CUgraphNodeParams wrong = p;
  wrong.conditional.handle = 0;
  SAY(cuGraphAddNode(&node, g, nullptr, nullptr, 0, &wrong));
  wrong.conditional.handle = 123456789;
  SAY(cuGraphAddNode(&node, g, nullptr, nullptr, 0, &wrong));
  wrong = p;
  wrong.conditional.ctx = nullptr;
  SAY(cuGraphAddNode(&node, g, nullptr, nullptr, 0, &wrong));
  SAY(cuGraphAddNode(&node, other, nullptr, nullptr, 0, &p));
  SAY(cuGraphAddNode(&node, g, nullptr, nullptr, 0, &p));
  SHOW((p.conditional.phGraph_out != nullptr));
  CUgraphNodeType type{};
  SAY(cuGraphNodeGetType(node, &type));
  SHOW(type);
  CUgraph body = p.conditional.phGraph_out != nullptr ? p.conditional.phGraph_out[0] : nullptr, clone = nullptr;
  SAY(cuGraphDestroy(body));
  SAY(cuGraphClone(&clone, body));
  SAY(cuGraphClone(&clone, g));
  SAY(cuGraphChildGraphNodeGetGraph(node, &clone));
  CUgraphExec x = nullptr;
  SAY(cuGraphInstantiate(&x, body, 0));
  SAY(cuGraphInstantiate(&x, g, 0));
  SAY(cuGraphDestroyNode(node));
}

// A table: one row after the other.
RECORDED_CASE("A conditional body holds what the device can do alone", "[graph]") {
  const Scene S;
  const auto host = reinterpret_cast<CUdeviceptr>(S.pinned);
  const auto say = [&](const char* name, auto body) { say_conditional(S, name, CU_GRAPH_COND_TYPE_IF, 1, body); };
  CUgraphNode node = nullptr;
  say("a kernel", [&](CUgraph g, auto) { return S.kernel(g), CUDA_SUCCESS; });
  say("a fill", [&](CUgraph g, auto) { return S.fill(g, S.p, 16), CUDA_SUCCESS; });
  say("a copy", [&](CUgraph g, auto) { return S.copy(g, S.p, S.q, 16), CUDA_SUCCESS; });
  say("a copy from the host", [&](CUgraph g, auto) { return S.copy(g, S.p, host, 16), CUDA_SUCCESS; });
  say("a copy from pageable memory", [&](CUgraph g, auto) {
    static char bytes[64];
    return S.copy(g, S.p, reinterpret_cast<CUdeviceptr>(bytes), 16), CUDA_SUCCESS;
  });
  say("a copy into an array", [&](CUgraph g, auto) {
    CUDA_MEMCPY3D into = Scene::copy_of(0, S.q, 16);
    into.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    into.dstArray = S.array;
    return cuGraphAddMemcpyNode(&node, g, nullptr, 0, &into, S.F.ctx);
  });
  say("an empty node", [&](CUgraph g, auto) { return cuGraphAddEmptyNode(&node, g, nullptr, 0); });
  say("a host node", [&](CUgraph g, auto) { return Scene::host(g, call_a), CUDA_SUCCESS; });
  say("an event to record", [&](CUgraph g, auto) { return cuGraphAddEventRecordNode(&node, g, nullptr, 0, S.e); });
  say("an event to wait for", [&](CUgraph g, auto) { return cuGraphAddEventWaitNode(&node, g, nullptr, 0, S.e); });
  say("an allocation", [&](CUgraph g, auto) {
    CUDA_MEM_ALLOC_NODE_PARAMS a{};
    a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    a.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, {S.F.dev}};
    a.bytesize = 1024;
    return cuGraphAddMemAllocNode(&node, g, nullptr, 0, &a);
  });
  say("a free", [&](CUgraph g, auto) { return cuGraphAddMemFreeNode(&node, g, nullptr, 0, S.p); });
  say("a write of a word", [&](CUgraph g, auto) {
    CUstreamBatchMemOpParams operation{};
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = S.p;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params{S.F.ctx, 1, &operation, 0};
    return cuGraphAddBatchMemOpNode(&node, g, nullptr, 0, &params);
  });
  say("a child graph", [&](CUgraph g, auto) {
    const CUgraph inner = Scene::graph();
    S.kernel(inner);
    return cuGraphAddChildGraphNode(&node, g, nullptr, 0, inner);
  });
  say("a child graph with a host node", [&](CUgraph g, auto) {
    const CUgraph inner = Scene::graph();
    Scene::host(inner, call_a);
    return cuGraphAddChildGraphNode(&node, g, nullptr, 0, inner);
  });
  say("a condition of the same handle", [&](CUgraph g, CUgraphConditionalHandle handle) {
    CUgraphNodeParams p{};
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    p.conditional.handle = handle;
    p.conditional.type = CU_GRAPH_COND_TYPE_IF;
    p.conditional.size = 1;
    p.conditional.ctx = S.F.ctx;
    return cuGraphAddNode(&node, g, nullptr, nullptr, 0, &p);
  });
  say("a condition of a handle of the body", [&](CUgraph g, auto) {
    CUgraphNodeParams p{};
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    const CUresult made =
        cuGraphConditionalHandleCreate(&p.conditional.handle, g, S.F.ctx, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    if (made != CUDA_SUCCESS) return made;
    p.conditional.type = CU_GRAPH_COND_TYPE_IF;
    p.conditional.size = 1;
    p.conditional.ctx = S.F.ctx;
    return cuGraphAddNode(&node, g, nullptr, nullptr, 0, &p);
  });
  say("a kernel of a cooperative launch", [&](CUgraph g, auto) {
    const CUgraphNode kernel = S.kernel(g);
    CUlaunchAttributeValue value{};
    value.cooperative = 1;
    return cuGraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
  });
  say("a cycle", [&](CUgraph g, auto) {
    const CUgraphNode a = S.kernel(g), b = S.kernel(g, "k", a);
    return cuGraphAddDependencies(g, &b, &a, nullptr, 1);
  });
}
#endif
