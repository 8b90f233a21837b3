#include "common/simulator/state/textures/texture_reference.hpp"

namespace cudasim {

void show(const TextureReference& r, bool is_texture) {
  if (r.address == 0) return;
  if (!r.bound) {
    remove_texture(r.address);
    return;
  }
  enter_texture(r.address, std::make_shared<const Texture>(is_texture ? sampled(r.resource, r.sampling, nullptr)
                                                                      : texels_of(r.resource)));
}

void bind_resource(TextureReference& r, const CUDA_RESOURCE_DESC& resource) {
  texels_of(resource);  // throws if it is invalid
  r.resource = resource;
  r.bound = true;
}

CUresult bind_stored(CUtexref handle, const CUDA_RESOURCE_DESC& resource, CUarray_format format, unsigned channels) {
  return set_reference(handle, [&](TextureReference& r) {
    bind_resource(r, resource);
    r.format = format, r.channels = int(channels);
  });
}

CUresult set_address_2d(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr dptr, size_t pitch) {
  require(desc != nullptr);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {dptr, desc->Format, desc->NumChannels, desc->Width, desc->Height, pitch};
  return bind_stored(handle, resource, desc->Format, desc->NumChannels);
}

}  // namespace cudasim
