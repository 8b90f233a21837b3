// User objects (CUDA Driver API manual, "Graph Management": cuUserObject*): a destructor that runs when neither the
// program nor any graph refers to the object.
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/graphs/graph.hpp"

namespace cudasim {

namespace {

std::shared_ptr<UserObjectEntry> get_entry(CUuserObject handle) {
  require_initialized();
  return user_objects().get(handle, CUDA_ERROR_INVALID_VALUE);
}

std::shared_ptr<UserObject> object_of(const UserObjectEntry& entry) {
  auto object = entry.object.lock();
  require(object != nullptr);
  return object;
}

void release(UserObjectEntry& entry, unsigned count) {
  std::shared_ptr<UserObject> last;  // released after the lock
  const std::scoped_lock lock(entry.mutex);
  require(count != 0 && count <= entry.references);
  entry.references -= count;
  if (entry.references == 0) last.swap(entry.own);
}

}  // namespace

CUresult driver::call_cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy,
                                         unsigned int initialRefcount, unsigned int flags) {
  require_initialized();
  require(object_out != nullptr && destroy != nullptr && initialRefcount != 0);
  require(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  const auto object = std::make_shared<UserObject>();
  object->destroy = destroy;
  object->pointer = ptr;
  const auto entry = std::make_shared<UserObjectEntry>();
  entry->object = entry->own = object;
  entry->references = initialRefcount;
  *object_out = object->handle = user_objects().add(entry);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuUserObjectRetain(CUuserObject object, unsigned int count) {
  const auto entry = get_entry(object);
  require(count != 0 && count <= 0x7fffffff);
  const auto found = object_of(*entry);
  const std::scoped_lock lock(entry->mutex);
  entry->references += count;
  entry->own = found;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuUserObjectRelease(CUuserObject object, unsigned int count) {
  release(*get_entry(object), count);
  return CUDA_SUCCESS;
}

// CU_GRAPH_USER_OBJECT_MOVE: the program's own references move to the graph.
CUresult driver::call_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                              unsigned int flags) {
  const auto holder = get_graph(graph);
  const auto entry = get_entry(object);
  const auto found = object_of(*entry);
  require(count != 0 && (flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE)) == 0);
  if ((flags & CU_GRAPH_USER_OBJECT_MOVE) != 0) release(*entry, count);
  const std::scoped_lock lock(Graph::mutex());
  holder->objects[found] += count;
  return CUDA_SUCCESS;
}

CUresult driver::call_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  const auto holder = get_graph(graph);
  const auto found = object_of(*get_entry(object));  // lives on until the lock is given back
  const std::scoped_lock lock(Graph::mutex());
  require(count != 0);
  const auto held = holder->objects.find(found);
  if (held == holder->objects.end()) return CUDA_SUCCESS;  // nothing to release: no error, as driver 580
  require(count <= held->second);
  held->second -= count;
  if (held->second == 0) holder->objects.erase(held);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
