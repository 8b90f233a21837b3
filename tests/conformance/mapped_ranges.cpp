// Ranges of virtual addresses: reserved, mapped in pieces, made accessible across pieces, unmapped and freed.
#include "tests/conformance/recorded.hpp"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace {

constexpr std::size_t kUnit = std::size_t{2} << 20;

struct Memory {
  conformance::Context F = conformance::context();
  CUmemAllocationProp place{};
  CUmemAccessDesc both{}, read{}, none{};
  Memory() {
    place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    place.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    place.location.id = F.dev;
    both.location = read.location = none.location = place.location;
    both.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    read.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    none.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  }
  CUmemGenericAllocationHandle make(std::size_t units) const {
    CUmemGenericAllocationHandle h = 0;
    CU_CHECK(cuMemCreate(&h, units * kUnit, &place, 0));
    return h;
  }
  static CUdeviceptr reserve(std::size_t units) {
    CUdeviceptr p = 0;
    CU_CHECK(cuMemAddressReserve(&p, units * kUnit, 0, 0, 0));
    return p;
  }
  std::string access(CUdeviceptr p) const {
    unsigned long long flags = 99;
    const CUresult result = cuMemGetAccess(&flags, &place.location, p);
    return result == CUDA_SUCCESS ? std::to_string(flags) : cu::name(result);
  }
};

}  // namespace

RECORDED_CASE("Reservations have sizes, alignments and addresses", "[virtual]") {
  conformance::context();
  CUdeviceptr p = 0;
  SAY(cuMemAddressReserve(&p, 0, 0, 0, 0));
  SAY(cuMemAddressReserve(&p, 1, 0, 0, 0));
  SAY(cuMemAddressReserve(&p, 4096, 0, 0, 0));
  SAY(cuMemAddressReserve(&p, 65536, 0, 0, 0));
  SAY(cuMemAddressReserve(&p, kUnit - 1, 0, 0, 0));
  SAY(cuMemAddressReserve(&p, kUnit + 4096, 0, 0, 0));
  SAY(cuMemAddressReserve(&p, kUnit, 1, 0, 0));
  SAY(cuMemAddressReserve(&p, kUnit, 3, 0, 0));
  SAY(cuMemAddressReserve(&p, kUnit, 4096, 0, 0));
  SAY(cuMemAddressReserve(&p, kUnit, 3 * kUnit, 0, 0));
  SAY(cuMemAddressReserve(&p, kUnit, kUnit, 0, 0));
  SAY(cuMemAddressReserve(&p, kUnit, std::size_t{1} << 30, 0, 0));
  SHOW(p % (std::size_t{1} << 30));
  SAY(cuMemAddressReserve(&p, kUnit, std::size_t{1} << 40, 0, 0));
  SHOW(p % (std::size_t{1} << 40));
  SAY(cuMemAddressReserve(&p, kUnit, 0, 1, 0));
  SAY(cuMemAddressReserve(&p, kUnit, 0, 4096, 0));
  SAY(cuMemAddressReserve(&p, kUnit, 0, p, 0));
  SAY(cuMemAddressReserve(&p, kUnit, 0, ~CUdeviceptr{0}, 0));
  SAY(cuMemAddressReserve(&p, kUnit, 0, 0, 1));
  SAY(cuMemAddressReserve(nullptr, kUnit, 0, 0, 0));
  SAY(cuMemAddressReserve(&p, ~std::size_t{0}, 0, 0, 0));
  SAY(cuMemAddressReserve(&p, std::size_t{1} << 50, 0, 0, 0));
  SAY(cuMemAddressFree(0, kUnit));
  SAY(cuMemAddressFree(12345, kUnit));
  CU_CHECK(cuMemAddressReserve(&p, 4 * kUnit, 0, 0, 0));
  SAY(cuMemAddressFree(p, 0));
  SAY(cuMemAddressFree(p, kUnit));
  SAY(cuMemAddressFree(p + kUnit, 3 * kUnit));
  SAY(cuMemAddressFree(p, 5 * kUnit));
  SAY(cuMemAddressFree(p, 4 * kUnit));
  SAY(cuMemAddressFree(p, 4 * kUnit));
}

RECORDED_CASE("Physical memory has a size and a place", "[virtual]") {
  const Memory M;
  CUmemGenericAllocationHandle h = 0;
  std::size_t unit = 0;
  const auto with = [&](int type, int where, int id, int handles) {
    CUmemAllocationProp place{};
    place.type = static_cast<CUmemAllocationType>(type);
    place.location.type = static_cast<CUmemLocationType>(where);
    place.location.id = id;
    place.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(handles);
    return place;
  };
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{65536}, kUnit - 1,
                                  kUnit, kUnit + 1, kUnit + 4096, 3 * kUnit, std::size_t{1} << 50})
    SAY_AS("cuMemCreate of " + std::to_string(bytes), cuMemCreate(&h, bytes, &M.place, 0));
  SAY(cuMemCreate(&h, kUnit, &M.place, 1));
  SAY(cuMemCreate(&h, kUnit, nullptr, 0));
  SAY(cuMemCreate(nullptr, kUnit, &M.place, 0));
  for (const int type : {0, 1, 2, 3, 99}) {
    const auto place = with(type, 1, 0, 0);
    SAY_AS("type " + std::to_string(type), cuMemCreate(&h, kUnit, &place, 0));
    SAY_AS("granularity of type " + std::to_string(type),
           cuMemGetAllocationGranularity(&unit, &place, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  }
  for (const int where : {0, 1, 2, 3, 4, 5, 99}) {
    const auto place = with(1, where, 0, 0);
    SAY_AS("location " + std::to_string(where), cuMemCreate(&h, kUnit, &place, 0));
    unit = 0;
    SAY_AS("granularity of location " + std::to_string(where),
           cuMemGetAllocationGranularity(&unit, &place, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    SHOW(unit);
  }
  for (const int id : {-1, 1, 7, 99}) {
    const auto device = with(1, 1, id, 0), node = with(1, 3, id, 0);
    SAY_AS("device " + std::to_string(id), cuMemCreate(&h, kUnit, &device, 0));
    if (id != 1) SAY_AS("node " + std::to_string(id), cuMemCreate(&h, kUnit, &node, 0));
  }
  for (const int handles : {1, 2, 3, 4, 16, 99}) {
    const auto place = with(1, 1, 0, handles);
    SAY_AS("handle types " + std::to_string(handles), cuMemCreate(&h, kUnit, &place, 0));
  }
  SAY(cuMemGetAllocationGranularity(&unit, &M.place, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  SHOW(unit);
  SAY(cuMemGetAllocationGranularity(&unit, &M.place, static_cast<CUmemAllocationGranularity_flags>(7)));
  SAY(cuMemGetAllocationGranularity(nullptr, &M.place, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  SAY(cuMemGetAllocationGranularity(&unit, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUmemAllocationProp found{};
  h = M.make(2);
  SAY(cuMemGetAllocationPropertiesFromHandle(&found, h));
  SHOW(found.type << " " << found.location.type << " " << found.location.id << " " << found.requestedHandleTypes);
  SAY(cuMemGetAllocationPropertiesFromHandle(nullptr, h));
  SAY(cuMemGetAllocationPropertiesFromHandle(&found, 0));
  SAY(cuMemRelease(h));
  SAY(cuMemRelease(0));
}

RECORDED_CASE("A reservation is mapped piece by piece", "[virtual]") {
  const Memory M;
  const CUdeviceptr p = M.reserve(8);
  const auto one = M.make(1), two = M.make(2), three = M.make(3);
  SAY(cuMemMap(p, kUnit, 0, one, 0));
  SAY(cuMemMap(p + 4 * kUnit, 2 * kUnit, 0, two, 0));
  SAY(cuMemMap(p, kUnit, 0, one, 0));
  SAY(cuMemMap(p + kUnit, kUnit, 0, one, 0));
  SAY(cuMemMap(p + 3 * kUnit, 3 * kUnit, 0, three, 0));
  SAY(cuMemMap(p + 5 * kUnit, 3 * kUnit, 0, three, 0));
  SAY(cuMemMap(p + 6 * kUnit, 3 * kUnit, 0, three, 0));
  SAY(cuMemMap(p + 7 * kUnit, 2 * kUnit, 0, two, 0));
  SAY(cuMemMap(p + 2 * kUnit, kUnit, 0, two, 0));
  SAY(cuMemMap(p + 2 * kUnit, kUnit, kUnit, two, 0));
  SAY(cuMemMap(p + 2 * kUnit, 2 * kUnit, 4096, two, 0));
  SAY(cuMemMap(p + 2 * kUnit, 0, 0, two, 0));
  SAY(cuMemMap(p + 2 * kUnit + 4096, 2 * kUnit, 0, two, 0));
  SAY(cuMemMap(p + 2 * kUnit, 2 * kUnit + 4096, 0, two, 0));
  SAY(cuMemMap(p + 2 * kUnit, 2 * kUnit, 0, two, 1));
  SAY(cuMemMap(p + 2 * kUnit, 2 * kUnit, 0, two, 0));
  SAY(cuMemMap(0, kUnit, 0, one, 0));
  SAY(cuMemMap(p + 8 * kUnit, kUnit, 0, one, 0));
  SAY(cuMemMap(p - kUnit, kUnit, 0, one, 0));
  CUdeviceptr plain = 0;
  CU_CHECK(cuMemAlloc(&plain, 2 * kUnit));
  SAY(cuMemMap(plain, kUnit, 0, one, 0));
  SAY(cuMemSetAccess(plain, kUnit, &M.both, 1));
  SAY(cuMemUnmap(plain, kUnit));
  SHOW(M.access(p));
  SHOW(M.access(p + kUnit));
  SHOW(M.access(p + 4 * kUnit));
  SHOW(M.access(plain));
  SHOW(M.access(0));
}

RECORDED_CASE("Access is given to whole mappings, and to several at once", "[virtual]") {
  const Memory M;
  const CUdeviceptr p = M.reserve(8);
  const auto a = M.make(2), b = M.make(2), c = M.make(1);
  CU_CHECK(cuMemMap(p, 2 * kUnit, 0, a, 0));
  CU_CHECK(cuMemMap(p + 2 * kUnit, 2 * kUnit, 0, b, 0));
  CU_CHECK(cuMemMap(p + 5 * kUnit, kUnit, 0, c, 0));
  SAY(cuMemsetD8(p, 1, 16));
  SAY(cuMemSetAccess(p, kUnit, &M.both, 1));
  SHOW(M.access(p) << " " << M.access(p + kUnit));
  SAY(cuMemSetAccess(p + kUnit, kUnit, &M.both, 1));
  SAY(cuMemSetAccess(p + kUnit, 2 * kUnit, &M.both, 1));
  SAY(cuMemSetAccess(p, 3 * kUnit, &M.both, 1));
  SAY(cuMemSetAccess(p, 4 * kUnit, &M.both, 1));
  SHOW(M.access(p) << " " << M.access(p + 3 * kUnit));
  SAY(cuMemsetD8(p, 1, 4 * kUnit));
  SAY(cuMemSetAccess(p, 5 * kUnit, &M.both, 1));
  SAY(cuMemSetAccess(p, 6 * kUnit, &M.both, 1));
  SAY(cuMemSetAccess(p, 8 * kUnit, &M.both, 1));
  SHOW(M.access(p + 5 * kUnit));
  SAY(cuMemSetAccess(p + 4 * kUnit, kUnit, &M.both, 1));
  SAY(cuMemSetAccess(p + 5 * kUnit, kUnit, &M.read, 1));
  SHOW(M.access(p + 5 * kUnit));
  SAY(cuMemsetD8(p + 5 * kUnit, 1, 16));
  SAY(cuMemSetAccess(p + 5 * kUnit, kUnit, &M.none, 1));
  SHOW(M.access(p + 5 * kUnit));
  SAY(cuMemSetAccess(p, 0, &M.both, 1));
  SAY(cuMemSetAccess(p, 2 * kUnit + 4096, &M.both, 1));
  SAY(cuMemSetAccess(p + 4096, 2 * kUnit, &M.both, 1));
  SAY(cuMemSetAccess(p, 2 * kUnit, &M.both, 0));
  SAY(cuMemSetAccess(p, 2 * kUnit, nullptr, 1));
  SAY(cuMemSetAccess(0, 2 * kUnit, &M.both, 1));
  CUmemAccessDesc wrong = M.both;
  wrong.flags = static_cast<CUmemAccess_flags>(2);
  SAY(cuMemSetAccess(p, 2 * kUnit, &wrong, 1));
  wrong.flags = static_cast<CUmemAccess_flags>(7);
  SAY(cuMemSetAccess(p, 2 * kUnit, &wrong, 1));
  wrong = M.both;
  wrong.location.id = 99;
  SAY(cuMemSetAccess(p, 2 * kUnit, &wrong, 1));
  wrong.location.id = -1;
  SAY(cuMemSetAccess(p, 2 * kUnit, &wrong, 1));
  wrong.location = {CU_MEM_LOCATION_TYPE_INVALID, {0}};
  SAY(cuMemSetAccess(p, 2 * kUnit, &wrong, 1));
  wrong.location = {CU_MEM_LOCATION_TYPE_HOST, {0}};
  SAY(cuMemSetAccess(p, 2 * kUnit, &wrong, 1));
  const CUmemAccessDesc pair[] = {M.both, M.read};
  SAY(cuMemSetAccess(p, 2 * kUnit, pair, 2));
  SHOW(M.access(p));
  unsigned long long flags = 0;
  SAY(cuMemGetAccess(nullptr, &M.place.location, p));
  SAY(cuMemGetAccess(&flags, nullptr, p));
  SAY(cuMemGetAccess(&flags, &M.place.location, p + 4 * kUnit));
  SAY(cuMemGetAccess(&flags, &M.place.location, p + 100));
}

RECORDED_CASE("Mappings are taken away whole, several at once", "[virtual]") {
  const Memory M;
  const CUdeviceptr p = M.reserve(8);
  const auto a = M.make(2), b = M.make(2), c = M.make(1);
  const auto map = [&] {
    CU_CHECK(cuMemMap(p, 2 * kUnit, 0, a, 0));
    CU_CHECK(cuMemMap(p + 2 * kUnit, 2 * kUnit, 0, b, 0));
    CU_CHECK(cuMemMap(p + 5 * kUnit, kUnit, 0, c, 0));
  };
  map();
  SAY(cuMemUnmap(p, kUnit));
  SAY(cuMemUnmap(p + kUnit, kUnit));
  SAY(cuMemUnmap(p + kUnit, 3 * kUnit));
  SAY(cuMemUnmap(p, 3 * kUnit));
  SAY(cuMemUnmap(p, 2 * kUnit + 4096));
  SAY(cuMemUnmap(p + 4096, 2 * kUnit));
  SAY(cuMemUnmap(p, 0));
  SAY(cuMemUnmap(0, kUnit));
  SAY(cuMemAddressFree(p, 8 * kUnit));
  SAY(cuMemUnmap(p, 4 * kUnit));
  SAY(cuMemUnmap(p, 4 * kUnit));
  SAY(cuMemUnmap(p, 8 * kUnit));
  map();
  SAY(cuMemUnmap(p, 8 * kUnit));
  map();
  SAY(cuMemUnmap(p, 9 * kUnit));
  SAY(cuMemUnmap(p + 4 * kUnit, 2 * kUnit));
  SAY(cuMemUnmap(p, 6 * kUnit));
  SAY(cuMemRelease(a));
  SAY(cuMemRelease(a));
  SAY(cuMemAddressFree(p, 8 * kUnit));
  SAY(cuMemUnmap(p, kUnit));
}

RECORDED_CASE("Memory lives as long as a mapping of it, and may have several", "[virtual]") {
  const Memory M;
  const CUdeviceptr p = M.reserve(2), q = M.reserve(2);
  const auto h = M.make(1);
  SAY(cuMemMap(p, kUnit, 0, h, 0));
  SAY(cuMemMap(p + kUnit, kUnit, 0, h, 0));
  SAY(cuMemMap(q, kUnit, 0, h, 0));
  SAY(cuMemSetAccess(p, 2 * kUnit, &M.both, 1));
  SAY(cuMemSetAccess(q, kUnit, &M.both, 1));
  SAY(cuMemRelease(h));
  SAY(cuMemsetD8(p, 7, kUnit));
  unsigned char byte = 0;
  SAY(cuMemcpyDtoH(&byte, q + 100, 1));
  SHOW(int{byte});
  CUmemGenericAllocationHandle again = 0;
  SAY(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(p + 100)));
  SHOW((again == h));
  SAY(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(p + kUnit)));
  SAY(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(q + kUnit)));
  SAY(cuMemRetainAllocationHandle(&again, nullptr));
  SAY(cuMemRetainAllocationHandle(nullptr, reinterpret_cast<void*>(p)));
  SAY(cuMemRelease(again));
  SAY(cuMemRelease(again));
  SAY(cuMemRelease(again));
  SAY(cuMemUnmap(p, 2 * kUnit));
  SAY(cuMemUnmap(q, kUnit));
  CUdeviceptr base = 0;
  std::size_t size = 0;
  const auto two = M.make(2);
  CU_CHECK(cuMemMap(p, 2 * kUnit, 0, two, 0));
  SAY(cuMemGetAddressRange(&base, &size, p + kUnit));
  SHOW((base == p) << " " << size / kUnit);
  SAY(cuMemFree(p));
  SAY(cuMemcpyDtoH(&byte, p, 1));
  SAY(cuMemsetD8Async(p, 1, 1, nullptr));
}
