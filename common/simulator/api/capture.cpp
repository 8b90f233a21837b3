// Stream capture (CUDA Driver API manual, "Stream Management").

#include "common/simulator/api/call.hpp"
#include "common/simulator/api/graph_parts.hpp"
#include "common/simulator/state/graphs/captured_work.hpp"
#include "common/simulator/state/streams/thread.hpp"

#include <cstring>

namespace cudasim {

namespace {

CUresult begin(CUstream handle, const std::shared_ptr<Graph>& into, const std::vector<Dependency>& after,
               CUstreamCaptureMode mode) {
  const auto stream = get_stream(handle);
  require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  require(!stream->legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const std::scoped_lock lock(Graph::mutex());
  require(!stream->capture, CUDA_ERROR_ILLEGAL_STATE);
  auto graph = into;
  if (!graph) {
    graph = std::make_shared<Graph>();
    graph->handle = graphs().add(graph);
  }
  const auto capture = std::make_shared<Capture>(graph, mode, stream, this_thread().number);
  capture->own_graph = into == nullptr;
  for (const auto& [node, kind] : after) require(node->graph.lock() == graph);
  capture->begin();
  capture->join(stream, after);
  return CUDA_SUCCESS;
}

std::vector<Dependency> dependencies_of(const CUgraphNode* nodes, const void* edges, std::size_t count) {
  require(count == 0 || nodes != nullptr);
  std::vector<Dependency> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({get_node(nodes[i]), kind_of(static_cast<const EdgeData*>(edges), i)});
  }
  return all;
}

// The graph, or nothing if the capture was invalidated. On the stream where it began, this ends the capture in any
// case.
CUresult end(CUstream handle, CUgraph* out) {
  const auto stream = get_stream(handle);
  const std::scoped_lock lock(Graph::mutex());
  const auto capture = stream->capture;
  if (out != nullptr) *out = nullptr;
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  const bool own_thread = capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED || capture->thread == this_thread().number;
  if (capture->origin.lock() != stream) {
    capture->invalidated = true;  // as driver 580 does
    fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  }
  const CUresult result = capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                          : !own_thread        ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
                          : !capture->joined() ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                               : CUDA_SUCCESS;
  capture->end();
  if ((result != CUDA_SUCCESS || out == nullptr) && capture->own_graph) capture->graph->close();
  if (out != nullptr) *out = result == CUDA_SUCCESS ? capture->graph->handle : nullptr;
  if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) fail(result, "an earlier call invalidated the capture");
  if (result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
    fail(
        result,
        "a stream that joined the capture was not joined back: make this stream wait for an event after its last work");
  return result;
}

CUstreamCaptureStatus status_of(const std::shared_ptr<Capture>& capture) {
  if (!capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
              const CUgraphNode** dependencies, std::size_t* count, const void** edges = nullptr) {
  const auto stream = get_stream(handle);
  require(status != nullptr && (edges == nullptr || dependencies != nullptr));
  require_no_implicit_capture(*stream, Use::question);
  const std::scoped_lock lock(Graph::mutex());
  const auto capture = stream->capture;
  *status = status_of(capture);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  capture->shown.clear();
  capture->shown_edges.clear();
  for (const auto& [node, kind] : capture->frontier[stream.get()]) {
    require(dependencies == nullptr || edges != nullptr || kind == EdgeKind{}, CUDA_ERROR_LOSSY_QUERY);
    capture->shown.push_back(node->handle);
    const EdgeData data{kind.from_port, kind.to_port, kind.type, {}};
    std::memcpy(&capture->shown_edges.emplace_back(), &data, sizeof data);
  }
  if (id != nullptr) *id = capture->id;
  if (graph != nullptr) *graph = capture->graph->handle;
  if (dependencies != nullptr) *dependencies = capture->shown.data();
  if (count != nullptr) *count = capture->shown.size();
  if (edges != nullptr) *edges = capture->shown_edges.data();
  return CUDA_SUCCESS;
}

CUresult update(CUstream handle, const CUgraphNode* dependencies, const void* edges, std::size_t count,
                unsigned flags) {
  const auto stream = get_stream(handle);
  require_no_implicit_capture(*stream, Use::work);
  require(flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES || flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  const auto nodes = dependencies_of(dependencies, edges, count);
  const std::scoped_lock lock(Graph::mutex());
  const auto capture = stream->capture;
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  require(!capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  for (const auto& [node, kind] : nodes) require(node->graph.lock() == capture->graph);
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) capture->frontier[stream.get()].clear();
  capture->join(stream, nodes);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  require_initialized();
  require(mode != nullptr);  // any number is accepted (driver 580)
  std::swap(*mode, this_thread().capture_mode);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamBeginCapture(CUstream hStream) {
  return begin(hStream, nullptr, {}, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult driver::call_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  return begin(hStream, nullptr, {}, mode);
}

CUresult driver::call_cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) { return end(hStream, phGraph); }

CUresult driver::call_cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  const auto stream = get_stream(handle);
  require(status != nullptr);
  require_no_implicit_capture(*stream, Use::question);
  const std::scoped_lock lock(Graph::mutex());
  *status = status_of(stream->capture);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                             cuuint64_t* id_out) {
  return info(hStream, captureStatus_out, id_out, nullptr, nullptr, nullptr);
}

CUresult driver::call_cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                                cuuint64_t* id_out, CUgraph* graph_out,
                                                const CUgraphNode** dependencies_out, size_t* numDependencies_out) {
  return info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
}

CUresult driver::call_cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies,
                                                        size_t numDependencies, unsigned int flags) {
  return update(hStream, dependencies, nullptr, numDependencies, flags);
}

#if CUDA_VERSION >= 12030

CUresult driver::call_cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                                cuuint64_t* id_out, CUgraph* graph_out,
                                                const CUgraphNode** dependencies_out,
                                                const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out) {
  return info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out,
              reinterpret_cast<const void**>(edgeData_out));
}

CUresult driver::call_cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                                           const CUgraphEdgeData* dependencyData,
                                                           size_t numDependencies, unsigned int flags) {
  return update(hStream, dependencies, dependencyData, numDependencies, flags);
}

CUresult driver::call_cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                                  const CUgraphEdgeData* edges, std::size_t count,
                                                  CUstreamCaptureMode mode) {
  const auto into = get_graph(graph);
  return begin(stream, into, dependencies_of(dependencies, edges, count), mode);
}

#endif

}  // namespace cudasim
