// Resources of graphics libraries (CUDA Driver API manual, "Graphics Interoperability"). No such library can draw with
// a simulated device, so registering a resource is refused, and every handle of one is invalid.
#include "common/simulator/api/call.hpp"

namespace cudasim {

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

CUresult driver::call_cuGraphicsUnregisterResource(CUgraphicsResource) { return no_resource(); }

CUresult driver::call_cuGraphicsSubResourceGetMappedArray(CUarray*, CUgraphicsResource, unsigned int, unsigned int) {
  return no_resource();
}

CUresult driver::call_cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray*, CUgraphicsResource) {
  return no_resource();
}

CUresult driver::call_cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr*, size_t*, CUgraphicsResource) {
  return no_resource();
}

CUresult driver::call_cuGraphicsResourceSetMapFlags(CUgraphicsResource, unsigned int) { return no_resource(); }

CUresult driver::call_cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource, unsigned int) { return no_resource(); }

CUresult driver::call_cuGraphicsMapResources(unsigned int count, CUgraphicsResource* resources, CUstream stream) {
  return no_resources(resources, count, stream);
}

CUresult driver::call_cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource* resources, CUstream stream) {
  return no_resources(resources, count, stream);
}

}  // namespace cudasim
