// Stream capture: while a stream is captured, what is entered into it becomes nodes of a graph instead of work.
#pragma once
#include "common/simulator/state/streams/edge.hpp"
#include "common/simulator/state/streams/stream_group.hpp"

#include <map>

namespace cudasim {

class Graph;

// Under mutex(), except for members that never change.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  // One for all captures and graphs: they are built by one thread, mostly.
  static std::mutex& mutex();

  Capture(std::shared_ptr<Graph> graph, CUstreamCaptureMode mode, const std::shared_ptr<Stream>& origin, u32 thread);

  const std::shared_ptr<Graph> graph;
  const CUstreamCaptureMode mode;
  const std::weak_ptr<Stream> origin;
  const u32 thread;  // Thread::number of the one that began it
  const u64 id;
  bool own_graph = true;           // false: cuStreamBeginCaptureToGraph
  bool ended = false;              // its graph is the program's
  bool invalidated = false;        // something happened that a graph cannot hold
  std::vector<CUgraphNode> shown;  // what cuStreamGetCaptureInfo pointed to
  // And of their edges: CUgraphEdgeData, which older headers lack.
  std::vector<u64> shown_edges;

  // What the stream's next node comes after.
  std::map<const Stream*, std::vector<Dependency>> frontier;
  std::vector<std::weak_ptr<Stream>> streams;  // that take part

  void begin();  // is seen by require_no_unsafe_capture() from now on, until end()
  void join(const std::shared_ptr<Stream>& stream, const std::vector<Dependency>& after);
  // Adds an operation as the stream's next node. Throws CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED for what cannot be one.
  // (This and joined() are in state/graphs/captured_work.cpp, which knows nodes.)
  void add(const Stream& stream, const Operation& operation);
  // The streams are ordinary ones again.
  void end();
  // True if every stream's last nodes are before, or among, the origin's.
  bool joined() const;
};

// The capture that the stream takes part in; null if none.
std::shared_ptr<Capture> capture_of(const Stream& stream);
// For calls that fail: the capture that the stream takes part in, if any, is of no use any more.
void invalidate_capture(const Stream& stream);
// For calls that ask about work: if the stream is captured, invalidates the capture and throws
// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
void require_not_captured(const Stream& stream);
// The legacy stream synchronizes with the context's blocking streams: throws CUDA_ERROR_STREAM_CAPTURE_IMPLICIT while
// one of these is captured, and invalidates the capture if the call would have been a use of it.
enum class Use : bool { question, work };
void require_no_implicit_capture(const Stream& stream, Use use);
// The same as require_not_captured for calls that concern every stream of the context.
void require_no_capture(StreamGroup& streams);

// For calls that could wait for, or be ordered with, work that a capture has not entered (manual,
// cuThreadExchangeStreamCaptureMode: "potentially unsafe API calls"): throws, and makes the captures useless, while one
// that began in global mode is under way anywhere, or one of the calling thread's own that did not begin relaxed. The
// thread's own mode can exempt it.
void require_no_unsafe_capture();

}  // namespace cudasim
