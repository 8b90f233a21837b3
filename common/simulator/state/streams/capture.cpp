#include "common/simulator/state/streams/capture.hpp"

#include "common/simulator/state/streams/thread.hpp"

#include <algorithm>

namespace cudasim {
namespace {

u64 next_capture_id() {
  static std::atomic<u64> id{1};
  return id++;
}

// Those under way; under Capture::mutex(). How many can be asked without it.
std::vector<std::weak_ptr<Capture>>& under_way() {
  static auto& all = *new std::vector<std::weak_ptr<Capture>>;
  return all;
}
std::atomic<std::size_t> under_way_count{0};

}  // namespace

std::mutex& Capture::mutex() {
  static auto& all = *new std::mutex;
  return all;
}

Capture::Capture(std::shared_ptr<Graph> into, CUstreamCaptureMode how, const std::shared_ptr<Stream>& first, u32 number)
    : graph(std::move(into)), mode(how), origin(first), thread(number), id(next_capture_id()) {}

void Capture::join(const std::shared_ptr<Stream>& stream, const std::vector<Dependency>& after) {
  if (!frontier.contains(stream.get())) streams.push_back(stream);
  auto& known = frontier[stream.get()];
  for (const Dependency& one : after) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto& d) { return d.node == one.node; });
    if (same == known.end())
      known.push_back(one);
    else if (same->kind != one.kind)
      same->kind = {};  // the stricter of the two
  }
  stream->capture = shared_from_this();
}

void Capture::begin() {
  for (const auto& weak : under_way()) {  // two into one graph: as driver 580
    const auto other = weak.lock();
    require(!other || other->graph != graph, CUDA_ERROR_ILLEGAL_STATE);
  }
  under_way().push_back(weak_from_this());
  under_way_count = under_way().size();
}

void Capture::end() {
  ended = true;
  std::erase_if(under_way(), [&](const auto& weak) { return weak.expired() || weak.lock().get() == this; });
  under_way_count = under_way().size();
  for (const auto& weak : streams) {
    if (const auto stream = weak.lock()) stream->capture.reset();
  }
}

std::shared_ptr<Capture> capture_of(const Stream& stream) {
  const std::scoped_lock lock(Capture::mutex());
  return stream.capture;
}

void invalidate_capture(const Stream& stream) {
  const std::scoped_lock lock(Capture::mutex());
  if (stream.capture) stream.capture->invalidated = true;
}

void require_not_captured(const Stream& stream) {
  const std::scoped_lock lock(Capture::mutex());
  if (!stream.capture) return;
  stream.capture->invalidated = true;
  fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured: it has no work to wait for or query");
}

void require_no_implicit_capture(const Stream& stream, Use use) {
  const auto all = stream.group.lock();
  if (!stream.legacy || !all) return;
  const std::scoped_lock order(all->order);
  const std::scoped_lock lock(Capture::mutex());
  bool any = false;
  all->for_each_stream([&](Stream& other) {
    if (!other.blocking() || !other.capture) return;
    if (use == Use::work) other.capture->invalidated = true;
    any = true;
  });
  if (any) fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

void require_no_unsafe_capture() {
  if (under_way_count == 0) return;
  const Thread& thread = this_thread();
  if (thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  const bool minds_others = thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  const std::scoped_lock lock(Capture::mutex());
  bool any = false;
  for (const auto& weak : under_way()) {
    const auto capture = weak.lock();
    if (!capture) continue;
    const bool own = capture->thread == thread.number && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    if (!own && !(minds_others && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL)) continue;
    capture->invalidated = true;
    any = true;
  }
  if (any)
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         "a stream is being captured, and this call cannot be part of the graph");
}

void require_no_capture(StreamGroup& streams) {
  const std::scoped_lock order(streams.order);
  const std::scoped_lock lock(Capture::mutex());
  bool any = false;
  streams.for_each_stream([&](Stream& stream) {
    if (!stream.capture) return;
    stream.capture->invalidated = true;
    any = true;
  });
  if (any)
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         "a stream is being captured, and this call cannot be part of the graph");
}

}  // namespace cudasim
