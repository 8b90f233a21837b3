// Conditional nodes: what a graph does depends on numbers that its own kernels set.
#include "tests/conformance/scenario.hpp"

#if CUDA_VERSION >= 13000
namespace {

// inc adds one to `counter`; below sets the condition to 1 while `counter` is less than `limit`, else to 0; set sets it
// to a value. The compiler writes the same call for cudaGraphSetConditional.
const char kText[] = R"(
.version 8.3
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter;
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry inc() {
  .reg .u32 %r;
  atom.global.add.u32 %r, [counter], 1;
  ret;
}
.visible .entry below(.param .u64 handle, .param .u32 limit) {
  .reg .u64 %h;
  .reg .u32 %c, %n, %v;
  .reg .pred %p;
  ld.param.u64 %h, [handle];
  ld.param.u32 %n, [limit];
  ld.global.u32 %c, [counter];
  setp.lt.u32 %p, %c, %n;
  selp.u32 %v, 1, 0, %p;
  {
    .param .b64 a;
    .param .b32 b;
    st.param.b64 [a], %h;
    st.param.b32 [b], %v;
    call cudaGraphSetConditional, (a, b);
  }
  ret;
}
.visible .entry meet() {  // adds one and waits until another thread has, or adds 100 after two seconds
  .reg .u32 %c, %r;
  .reg .u64 %from, %now;
  .reg .pred %p;
  mov.u64 %from, %globaltimer;
  atom.global.add.u32 %r, [counter], 1;
LOOK:
  ld.volatile.global.u32 %c, [counter];
  setp.ge.u32 %p, %c, 2;
  @%p ret;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %from;
  setp.lt.u64 %p, %now, 2000000000;
  @%p bra LOOK;
  atom.global.add.u32 %r, [counter], 100;
  ret;
}
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
  conformance::Context device = conformance::context();
  CUmodule mod = nullptr;
  CUdeviceptr counter = 0;
  CUgraph g = nullptr;

  Scene() {
    CU_CHECK(cuModuleLoadData(&mod, kText));
    CU_CHECK(cuModuleGetGlobal(&counter, nullptr, mod, "counter"));
    CU_CHECK(cuGraphCreate(&g, 0));
    set_counter(0);
  }
  void set_counter(unsigned value) const { CU_CHECK(cuMemcpyHtoD(counter, &value, 4)); }
  unsigned count() const {
    unsigned value = 99;
    CU_CHECK(cuMemcpyDtoH(&value, counter, 4));
    return value;
  }
  CUgraphConditionalHandle condition(unsigned value, unsigned flags) const {
    CUgraphConditionalHandle handle = 0;
    CU_CHECK(cuGraphConditionalHandleCreate(&handle, g, device.ctx, value, flags));
    return handle;
  }
  CUgraphNode kernel(CUgraph graph, const char* name, CUgraphNode after = nullptr, void** parameters = nullptr) const {
    CUDA_KERNEL_NODE_PARAMS kp{};
    CU_CHECK(cuModuleGetFunction(&kp.func, mod, name));
    kp.gridDimX = kp.gridDimY = kp.gridDimZ = kp.blockDimX = kp.blockDimY = kp.blockDimZ = 1;
    kp.kernelParams = parameters;
    CUgraphNode node = nullptr;
    CU_CHECK(cuGraphAddKernelNode(&node, graph, &after, after != nullptr ? 1 : 0, &kp));
    return node;
  }
  CUresult add(CUgraphNode* node, CUgraphNodeParams& p, CUgraphConditionalHandle handle,
               CUgraphConditionalNodeType type, unsigned size, CUgraphNode after = nullptr) const {
    p = {};
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    p.conditional.ctx = device.ctx;
    return cuGraphAddNode(node, g, &after, nullptr, after != nullptr ? 1 : 0, &p);
  }
  unsigned run(CUgraphExec e) const {
    set_counter(0);
    CU_CHECK(cuGraphLaunch(e, nullptr));
    CU_CHECK(cuCtxSynchronize());
    return count();
  }
};

}  // namespace

FRESH_CASE("A loop's body runs until a kernel in it sets the condition to zero", "[graph]") {
  Scene scene;
  CUgraphConditionalHandle handle = scene.condition(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphNode loop = nullptr;
  CUgraphNodeParams p;
  CUgraphExec e = nullptr;
  CUgraph clone = nullptr, outer = nullptr;
  unsigned limit = 5;
  void* a[] = {&handle, &limit};
  ANSWERS(scene.add(&loop, p, handle, CU_GRAPH_COND_TYPE_WHILE, 1), CUDA_SUCCESS);
  const CUgraph body = p.conditional.phGraph_out[0];
  scene.kernel(body, "below", scene.kernel(body, "inc"), a);
  scene.kernel(scene.g, "inc", loop);  // comes after the last round
  ANSWERS(cuGraphInstantiate(&e, scene.g, 0), CUDA_SUCCESS);
  CHECK(scene.run(e) == 6);
  CHECK(scene.run(e) == 6);  // the default is assigned anew
  ANSWERS(cuGraphClone(&clone, scene.g), CUDA_ERROR_NOT_SUPPORTED);
  CU_CHECK(cuGraphCreate(&outer, 0));
  CUgraphNode child = nullptr;
  ANSWERS(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, scene.g), CUDA_ERROR_NOT_SUPPORTED);
}

FRESH_CASE("Nodes of a body that no edge orders run concurrently", "[graph]") {
  Scene scene;
  CUgraphConditionalHandle handle = scene.condition(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphNode branch = nullptr;
  CUgraphNodeParams p;
  CUgraphExec e = nullptr;
  CU_CHECK(scene.add(&branch, p, handle, CU_GRAPH_COND_TYPE_IF, 1));
  const CUgraph body = p.conditional.phGraph_out[0];
  scene.kernel(body, "meet");
  scene.kernel(body, "meet");
  CU_CHECK(cuGraphInstantiate(&e, scene.g, 0));
  CHECK(scene.run(e) == 2);
}

FRESH_CASE("A condition chooses between if and else, and keeps its value if nothing assigns the default", "[graph]") {
  for (const bool assigned : {false, true}) {
    Scene scene;
    CUgraphConditionalHandle handle = scene.condition(1, assigned ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0);
    CUgraphNode branch = nullptr;
    CUgraphNodeParams p;
    CUgraphExec e = nullptr;
    unsigned zero = 0, one = 1;
    void *reset[] = {&handle, &zero}, *first[] = {&handle, &one};
    const CUgraphNode before = assigned ? nullptr : scene.kernel(scene.g, "set", nullptr, first);
    CU_CHECK(scene.add(&branch, p, handle, CU_GRAPH_COND_TYPE_IF, 2, before));
    scene.kernel(p.conditional.phGraph_out[0], "inc");
    scene.kernel(p.conditional.phGraph_out[1], "inc", scene.kernel(p.conditional.phGraph_out[1], "inc"));
    scene.kernel(scene.g, "set", branch, reset);
    ANSWERS(cuGraphInstantiate(&e, scene.g, 0), CUDA_SUCCESS);
    CHECK(scene.run(e) == 1);
    CHECK(scene.run(e) == 1);
    if (before == nullptr) continue;
    // Without the kernel that sets it, the zero of the launch before is still there.
    CU_CHECK(cuGraphNodeSetEnabled(e, before, 0));
    CHECK(scene.run(e) == 2);
  }
}

FRESH_CASE("A condition picks one of several bodies, or none", "[graph]") {
  for (unsigned value = 0; value < 4; ++value) {
    Scene scene;
    CUgraphNode choice = nullptr;
    CUgraphNodeParams p;
    CUgraphExec e = nullptr;
    ANSWERS(scene.add(&choice, p, scene.condition(value, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_SWITCH, 3),
            CUDA_SUCCESS);
    for (unsigned body = 0; body < 3; ++body) {
      CUgraphNode last = nullptr;
      for (unsigned i = 0; i <= body; ++i) last = scene.kernel(p.conditional.phGraph_out[body], "inc", last);
    }
    ANSWERS(cuGraphInstantiate(&e, scene.g, 0), CUDA_SUCCESS);
    CHECK(scene.run(e) == (value < 3 ? value + 1 : 0));
  }
}

FRESH_CASE("A body may be captured, and hold a condition of its own", "[graph]") {
  Scene scene;
  CUgraphConditionalHandle rounds = scene.condition(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphNode loop = nullptr, inner = nullptr;
  CUgraphNodeParams p, q{};
  CUgraphExec e = nullptr;
  CUstream s = nullptr;
  CUfunction inc = nullptr;
  CUgraph captured = nullptr;
  unsigned limit = 7;
  void* a[] = {&rounds, &limit};
  CU_CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_CHECK(cuModuleGetFunction(&inc, scene.mod, "inc"));
  CU_CHECK(scene.add(&loop, p, rounds, CU_GRAPH_COND_TYPE_WHILE, 1));
  const CUgraph body = p.conditional.phGraph_out[0];
  ANSWERS(cuStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ANSWERS(cuLaunchKernel(inc, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr), CUDA_SUCCESS);
  ANSWERS(cuStreamEndCapture(s, &captured), CUDA_SUCCESS);
  CHECK(captured == body);
  CUgraphNode root = nullptr;
  std::size_t one = 1;
  CU_CHECK(cuGraphGetRootNodes(body, &root, &one));
  q.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  q.conditional.handle = scene.condition(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  q.conditional.type = CU_GRAPH_COND_TYPE_IF;
  q.conditional.size = 1;
  q.conditional.ctx = scene.device.ctx;
  ANSWERS(cuGraphAddNode(&inner, body, &root, nullptr, 1, &q), CUDA_SUCCESS);
  scene.kernel(q.conditional.phGraph_out[0], "inc");
  scene.kernel(body, "below", inner, a);
  ANSWERS(cuGraphInstantiate(&e, scene.g, 0), CUDA_SUCCESS);
  CHECK(scene.run(e) == 8);  // two a round, until it is 7 or more
}

FRESH_CASE("A conditional node has the number of bodies that its kind has, and a condition of its own", "[graph]") {
  Scene scene;
  CUgraphNode n = nullptr;
  CUgraphNodeParams p;
  const CUgraphConditionalHandle h = scene.condition(0, 0);
  ANSWERS(scene.add(&n, p, h, CU_GRAPH_COND_TYPE_WHILE, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(scene.add(&n, p, h, CU_GRAPH_COND_TYPE_WHILE, 2), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(scene.add(&n, p, h, CU_GRAPH_COND_TYPE_IF, 3), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(scene.add(&n, p, h, CU_GRAPH_COND_TYPE_SWITCH, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(scene.add(&n, p, h, CU_GRAPH_COND_TYPE_IF, 1), CUDA_SUCCESS);
  ANSWERS(scene.add(&n, p, h, CU_GRAPH_COND_TYPE_IF, 1), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("A graph with a condition has one instance, and a body nothing that needs the host", "[graph]") {
  Scene scene;
  CUgraphNode n = nullptr, host = nullptr;
  CUgraphNodeParams p;
  CUgraphExec e = nullptr, second = nullptr;
  CU_CHECK(scene.add(&n, p, scene.condition(1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1));
  ANSWERS(cuGraphInstantiate(&e, scene.g, 0), CUDA_SUCCESS);
  ANSWERS(cuGraphInstantiate(&second, scene.g, 0), CUDA_ERROR_NOT_SUPPORTED);
  ANSWERS(cuGraphExecDestroy(e), CUDA_SUCCESS);
  CUDA_HOST_NODE_PARAMS look{};
  look.fn = [](void*) {};
  ANSWERS(cuGraphAddHostNode(&host, p.conditional.phGraph_out[0], nullptr, 0, &look), CUDA_SUCCESS);
  ANSWERS(cuGraphInstantiate(&e, scene.g, 0), CUDA_ERROR_INVALID_VALUE);
  CUgraphConditionalHandle handle = 0;
  ANSWERS(cuGraphConditionalHandleCreate(&handle, scene.g, nullptr, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}
#endif
