// What graphics libraries' resources are to a device (CUDA Driver API manual, "Graphics Interoperability"). Registering
// one is refused, for no such library draws with a simulated device; so no handle is one.
#include "common/simulator/api/guard.hpp"

using namespace cudasim;

namespace {

CUresult no_resource() {
  current_context();
  return CUDA_ERROR_INVALID_HANDLE;
}

CUresult no_resources(const CUgraphicsResource* resources, unsigned count, CUstream stream) {
  get_stream(stream);
  require(resources != nullptr && count != 0);
  return CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

CUDASIM_API CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource) {
  return CUDASIM_CALL(resource) { return no_resource(); };
}

CUDASIM_API CUresult cuGraphicsSubResourceGetMappedArray(CUarray* array, CUgraphicsResource resource,
                                                         unsigned int index, unsigned int level) {
  return CUDASIM_CALL(array, resource, index, level) { return no_resource(); };
}

CUDASIM_API CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray* array, CUgraphicsResource resource) {
  return CUDASIM_CALL(array, resource) { return no_resource(); };
}

CUDASIM_API CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr* pointer, size_t* size,
                                                           CUgraphicsResource resource) {
  return CUDASIM_CALL(pointer, size, resource) { return no_resource(); };
}

CUDASIM_API CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource resource, unsigned int flags) {
  return CUDASIM_CALL(resource, flags) { return no_resource(); };
}

CUDASIM_API CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned int flags) {
  return CUDASIM_CALL(resource, flags) { return no_resource(); };
}

CUDASIM_API CUresult cuGraphicsMapResources(unsigned int count, CUgraphicsResource* resources, CUstream stream) {
  return CUDASIM_CALL(count, resources, stream) { return no_resources(resources, count, stream); };
}

CUDASIM_API CUresult cuGraphicsMapResources_ptsz(unsigned int count, CUgraphicsResource* resources, CUstream stream) {
  return CUDASIM_CALL(count, resources, stream) { return no_resources(resources, count, per_thread(stream)); };
}

CUDASIM_API CUresult cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource* resources, CUstream stream) {
  return CUDASIM_CALL(count, resources, stream) { return no_resources(resources, count, stream); };
}

CUDASIM_API CUresult cuGraphicsUnmapResources_ptsz(unsigned int count, CUgraphicsResource* resources, CUstream stream) {
  return CUDASIM_CALL(count, resources, stream) { return no_resources(resources, count, per_thread(stream)); };
}
