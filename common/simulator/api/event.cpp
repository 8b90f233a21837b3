// Events (CUDA Driver API manual, "Event Management").
#include "common/simulator/state/streams/event.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/state/graphs/captured_work.hpp"

namespace cudasim {

namespace {

std::shared_ptr<Event> get_event(CUevent handle) {
  require_calls_permitted();
  auto event = events().get(handle);
  require_healthy(*event->health);
  return event;
}

CUresult destroy(CUevent handle) {
  get_event(handle);
  return events().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult record(CUevent handle, CUstream stream_handle, unsigned flags) {
  const auto stream = get_stream(stream_handle);
  const auto event = get_event(handle);
  require((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) == 0);
  require(event->health == stream->health, CUDA_ERROR_INVALID_HANDLE);
  if ((flags & CU_EVENT_RECORD_EXTERNAL) != 0) {  // each launch of the graph will record it
    const bool added = add_if_captured(*stream, [&](const Graph&) { return RecordPart{handle}; });
    return added ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
  }
  event->record(*stream);
  return CUDA_SUCCESS;
}

// The time between two marks that have been reached. Both events must measure time and belong to one context.
// A graph cannot contain the question whether an event has been reached.
void require_not_captured(const Event& event) {
  if (const auto capture = event.captured()) {
    const std::scoped_lock lock(Graph::mutex());
    require(!capture->ended);  // as driver 580
    capture->invalidated = true;
    fail(CUDA_ERROR_CAPTURED_EVENT);
  }
}

CUresult elapsed(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  const auto start = get_event(start_handle), end = get_event(end_handle);
  require(milliseconds != nullptr, CUDA_ERROR_INVALID_HANDLE);  // as driver 580
  require(!start->captured() && !end->captured(), CUDA_ERROR_CAPTURED_EVENT);
  const auto from = start->recording(), to = end->recording();
  constexpr CUresult kWrong = CUDA_ERROR_INVALID_HANDLE;
  require(start->timed() && end->timed(), kWrong, [] { return "an event was made with CU_EVENT_DISABLE_TIMING"; });
  require(from && to, kWrong, [] { return "an event has never been recorded"; });
  require(start->health == end->health, kWrong, [] { return "the events belong to two contexts"; });
  if (!from->task->done() || !to->task->done()) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return CUDA_SUCCESS;
}

}  // namespace

CUresult driver::call_cuEventCreate(CUevent* phEvent, unsigned int Flags) {
  const auto context = current_context();
  require(phEvent != nullptr);
  constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  require((Flags & ~kKnown) == 0);
  require((Flags & CU_EVENT_INTERPROCESS) == 0 || (Flags & CU_EVENT_DISABLE_TIMING) != 0);
  const auto event = std::make_shared<Event>(context->health, context->id, Flags,
                                             (Flags & CU_EVENT_INTERPROCESS) != 0 ? SharedMarks::make() : nullptr);
  event->handle = events().add(event);
  *phEvent = event->handle;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuEventDestroy(CUevent hEvent) { return destroy(hEvent); }

CUresult driver::call_cuEventDestroy_v2(CUevent hEvent) { return destroy(hEvent); }

CUresult driver::call_cuEventRecord(CUevent hEvent, CUstream hStream) { return record(hEvent, hStream, 0); }

CUresult driver::call_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  return record(hEvent, hStream, flags);
}

CUresult driver::call_cuEventQuery(CUevent hEvent) {
  const auto event = get_event(hEvent);
  require_not_captured(*event);
  require_no_unsafe_capture();
  return event->reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult driver::call_cuEventSynchronize(CUevent hEvent) {
  const auto event = get_event(hEvent);
  require_not_captured(*event);
  require_no_unsafe_capture();
  event->wait();
  require_no_fault(event->health->fault);  // a context that was destroyed while the call waited is not an error
  return CUDA_SUCCESS;
}

CUresult driver::call_cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return elapsed(pMilliseconds, hStart, hEnd);
}

CUresult driver::call_cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return elapsed(pMilliseconds, hStart, hEnd);
}

}  // namespace cudasim
