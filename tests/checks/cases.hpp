// The programs that the checks are judged by: which finding each of them deserves, and how to run it.
//
// A case is a kernel of the same name in one of the .cu files, or a function here if what matters is the host's doing.
// Its finding is what its name begins with: memory, race, init, sync, leak; fine: none, under any check.
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace checks {

constexpr unsigned kWords = 4096;  // of `in` and of `out`

enum Flags : unsigned {
  kPlain = 0,
  kUnwritten = 1,    // `in` is never written
  kByteMissing = 2,  // all of `in` is written but its byte 77
  kDynamic = 4,      // 1 KiB of dynamic shared memory
  kCooperative = 8,
};

struct Case {
  const char* name;
  unsigned grid, block;
  unsigned flags = kPlain;
  void (*host)() = nullptr;  // instead of a kernel
  std::string finding() const {
    const std::string start(name, std::strchr(name, '_'));
    return start == "fine" ? "" : start;
  }
};

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The image that has this kernel. NVRTC in the place of nvcc does not take the toolkit's host headers, so that
// library.ptx may be missing, and the result empty.
inline std::string image_of(const std::string& kernel) {
  const char* const only = std::getenv("CHECKS_IMAGE");
  for (const char* file : {"kernels.ptx", "races.ptx", "library.ptx", "modern.ptx", "debug.ptx"}) {
    if (only != nullptr && *only != 0 && std::strcmp(only, file) != 0) continue;
    const std::string path = cu::image(file);
    if (text_of(path).find(".entry " + kernel + "(") != std::string::npos) return path;
  }
  return "";
}

// A context with one of the images in it, given back at the end of the scope.
struct Program {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  explicit Program(const std::string& image) {
    CUdevice device = 0;
    CU_CHECK(cuInit(0));
    CU_CHECK(cuDeviceGet(&device, 0));
    CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
    if (!image.empty()) CU_CHECK(cuModuleLoadData(&module, text_of(image).c_str()));
  }
  // After a fault these only return it again.
  ~Program() {
    if (module != nullptr) cuModuleUnload(module);
    cuCtxDestroy(context);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  CUfunction function(const char* name) const {
    CUfunction found = nullptr;
    CU_CHECK(cuModuleGetFunction(&found, module, name));
    return found;
  }
};

struct Words {
  CUdeviceptr at = 0;
  explicit Words(unsigned count = kWords) { CU_CHECK(cuMemAlloc(&at, count * 4)); }
  ~Words() { cuMemFree(at); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  void clear() const { CU_CHECK(cuMemsetD32(at, 0, kWords)); }
};

inline CUresult launch(CUfunction f, unsigned grid, unsigned block, CUdeviceptr in, CUdeviceptr out,
                       unsigned flags = 0) {
  unsigned n = kWords;
  void* arguments[] = {&in, &out, &n};
  const unsigned dynamic = flags & kDynamic ? 1024 : 0;
  if (flags & kCooperative)
    CU_CHECK(cuLaunchCooperativeKernel(f, grid, 1, 1, block, 1, 1, dynamic, nullptr, arguments));
  else
    CU_CHECK(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, dynamic, nullptr, arguments, nullptr));
  return cuCtxSynchronize();
}

// The result of the kernel's last call: the caller looks at faults.
inline CUresult run(const Case& c) {
  if (c.host != nullptr) return c.host(), CUDA_SUCCESS;
  const Program program(image_of(c.name));
  const Words in, out;
  std::vector<unsigned> values(kWords), results(kWords);
  for (unsigned i = 0; i < kWords; ++i) values[i] = i * 7 % 61;
  if (c.flags & kByteMissing) {
    CU_CHECK(cuMemsetD8(in.at, 1, 77));
    CU_CHECK(cuMemsetD8(in.at + 78, 1, kWords * 4 - 78));
  } else if (!(c.flags & kUnwritten)) {
    CU_CHECK(cuMemcpyHtoD(in.at, values.data(), kWords * 4));
  }
  out.clear();
  const CUresult result = launch(program.function(c.name), c.grid, c.block, in.at, out.at, c.flags);
  if (result == CUDA_SUCCESS) CU_CHECK(cuMemcpyDtoH(results.data(), out.at, kWords * 4));
  return result;
}

// ---- What the host does or leaves undone

inline void copies_to_host_what_nobody_wrote() {
  const Program program("");
  const Words words;
  std::vector<unsigned> results(kWords);
  CU_CHECK(cuMemcpyDtoH(results.data(), words.at, kWords * 4));
}
inline void copies_what_was_written() {
  const Program program("");
  const Words from, to;
  from.clear();
  std::vector<unsigned> results(kWords);
  CU_CHECK(cuMemcpyDtoD(to.at, from.at, kWords * 4));
  CU_CHECK(cuMemcpyDtoH(results.data(), to.at, kWords * 4));
}
// Launches in two streams, which both begin once everything is entered. What comes first, the streams do not say.
class TwoStreams {
 public:
  TwoStreams() : program_(cu::image("kernels.ptx")), kernel_(program_.function("between_launches")) {
    for (CUstream* stream : {&one, &two, &gate_}) CU_CHECK(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    for (const Words* words : {&a, &b, &c, &closed_}) words->clear();
    CU_CHECK(cuMemsetD32(b.at, 7, kWords));
    CU_CHECK(cuCtxSynchronize());
    for (CUstream stream : {one, two}) CU_CHECK(cuStreamWaitValue32(stream, closed_.at, 1, CU_STREAM_WAIT_VALUE_EQ));
  }
  ~TwoStreams() {
    CU_REPORT(cuStreamWriteValue32(gate_, closed_.at, 1, 0));
    CU_REPORT(cuCtxSynchronize());
    for (CUstream stream : {one, two, gate_}) CU_REPORT(cuStreamDestroy(stream));
  }
  TwoStreams(const TwoStreams&) = delete;
  TwoStreams& operator=(const TwoStreams&) = delete;

  void launch(CUstream stream, const Words& in, const Words& out) {
    CUdeviceptr from = in.at, to = out.at;
    unsigned n = 512;
    void* arguments[] = {&from, &to, &n};
    CU_CHECK(cuLaunchKernel(kernel_, 4, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  }

 private:
  const Program program_;
  const CUfunction kernel_;
  const Words closed_;
  CUstream gate_ = nullptr;

 public:
  const Words a, b, c;
  CUstream one = nullptr, two = nullptr;
};
inline void one_reads_what_another_stream_writes() {
  TwoStreams s;
  s.launch(s.one, s.a, s.b);
  s.launch(s.two, s.b, s.c);
}
inline void two_streams_write_one_buffer() {
  TwoStreams s;
  s.launch(s.one, s.a, s.c);
  s.launch(s.two, s.b, s.c);
  s.launch(s.two, s.c, s.b);
}
inline void an_event_orders_them() {
  TwoStreams s;
  CUevent event;
  CU_CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  s.launch(s.one, s.a, s.b);
  CU_CHECK(cuEventRecord(event, s.one));
  CU_CHECK(cuStreamWaitEvent(s.two, event, 0));
  s.launch(s.two, s.b, s.c);
  CU_CHECK(cuEventDestroy(event));
}
inline void two_streams_go_their_own_ways() {
  TwoStreams s;
  s.launch(s.one, s.a, s.b);
  s.launch(s.two, s.a, s.c);
  s.launch(s.one, s.b, s.b);
}

inline void forgets_memory() {
  const Program program("");
  CUdeviceptr a = 0, b = 0;
  CU_CHECK(cuMemAlloc(&a, 1000));
  CU_CHECK(cuMemAlloc(&b, 2000));
}
inline void forgets_a_stream_and_an_event() {
  const Program program("");
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CU_CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  CU_CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
}
inline void forgets_host_memory() {
  const Program program("");
  void* host = nullptr;
  CU_CHECK(cuMemHostAlloc(&host, 4096, 0));
}
inline void forgets_an_array() {
  const Program program("");
  CUDA_ARRAY_DESCRIPTOR shape{};
  shape.Width = shape.Height = 16;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 1;
  CUarray array = nullptr;
  CU_CHECK(cuArrayCreate(&array, &shape));
}
inline void forgets_memory_of_a_pool() {
  const Program program("");
  CUdeviceptr a = 0;
  CU_CHECK(cuMemAllocAsync(&a, 4096, nullptr));
  CU_CHECK(cuCtxSynchronize());
}
inline void forgets_the_context() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUdeviceptr a = 0;
  CU_CHECK(cuInit(0));
  CU_CHECK(cuDeviceGet(&device, 0));
  CU_CHECK(cuCtxCreate(&context, nullptr, 0, device));
  CU_CHECK(cuMemAlloc(&a, 4096));
}
inline void gives_everything_back() {
  const Program program("");
  CUdeviceptr a = 0, b = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  void* host = nullptr;
  CU_CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  CU_CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CU_CHECK(cuMemAlloc(&a, 1000));
  CU_CHECK(cuMemAllocAsync(&b, 1000, stream));
  CU_CHECK(cuMemHostAlloc(&host, 4096, 0));
  CU_CHECK(cuMemFreeAsync(b, stream));
  CU_CHECK(cuStreamSynchronize(stream));
  CU_CHECK(cuMemFreeHost(host));
  CU_CHECK(cuMemFree(a));
  CU_CHECK(cuEventDestroy(event));
  CU_CHECK(cuStreamDestroy(stream));
}

// ---- All of them

inline const std::vector<Case>& all() {
  static const std::vector<Case> cases = {
      {"race_reduction_without_barrier", 1, 256},
      {"race_shared_neighbour", 1, 256},
      {"race_warp_without_syncwarp", 1, 32},
      {"race_warp_volatile_without_syncwarp", 1, 32},
      {"race_warp_volatile_neighbour", 1, 64},
      {"race_syncwarp_across_warps", 1, 256},
      {"race_tile_reused_without_barrier", 1, 256},
      {"race_between_blocks_same_word", 4, 64},
      {"race_stencil_in_place", 4, 64},
      {"race_histogram", 4, 64},
      {"race_one_stream_reads_what_another_writes", 0, 0, kPlain, one_reads_what_another_stream_writes},
      {"race_two_streams_write_one_buffer", 0, 0, kPlain, two_streams_write_one_buffer},
      {"race_shared_histogram", 1, 256},
      {"race_forgotten_barrier_after_init", 1, 256},
      {"race_last_block_without_fence", 8, 64},
      {"race_flag_without_fence", 2, 32},
      {"race_flag_before_the_warp_is_done", 2, 32},
      {"race_atomic_and_plain", 1, 64},
      {"race_plain_read_before_an_atomic", 4, 64},
      {"race_atomic_of_block_scope", 4, 64},
      {"race_lock_without_fences", 8, 32},
      {"race_fence_of_block_scope", 2, 32},
      {"race_named_barrier_not_waited_for", 1, 128},
      {"race_lanes_write_one_word", 1, 64},
      {"race_async_copy_not_waited_for", 1, 256},
      {"race_async_copy_waited_for_alone", 1, 256},
      {"race_wrong_stage_of_pipeline", 1, 256},
      {"race_relaxed_flag", 2, 32},
      {"race_grid_without_sync", 4, 64, kCooperative},
      {"race_bulk_copy_not_waited_for", 1, 256},
      {"race_bulk_store_not_waited_for", 1, 256},
      {"race_other_block_of_the_cluster", 4, 64},

      {"fine_reduction", 4, 256},
      {"fine_warp_reduction", 1, 32},
      {"fine_shuffle_reduction", 4, 256},
      {"fine_tiled_product", 2, 256},
      {"fine_histogram", 4, 256},
      {"fine_last_block", 8, 64},
      {"fine_last_block_one_fence", 8, 64},
      {"fine_flag_with_fences", 2, 64},
      {"fine_release_and_acquire", 4, 32},
      {"fine_chain_of_blocks", 4, 32},
      {"fine_spin_lock", 8, 32},
      {"fine_spin_lock_in_shared_memory", 2, 64},
      {"fine_named_barriers", 1, 128},
      {"fine_neighbouring_bytes", 4, 256},
      {"fine_same_value_from_all", 4, 64},
      {"fine_warp_aggregated_counter", 1, 256},
      {"fine_sum_by_compare_and_swap", 4, 64},
      {"fine_maximum_by_cas", 4, 64},
      {"fine_lane_zero_publishes", 2, 32},
      {"fine_two_buffers", 1, 256},
      {"fine_async_copy", 1, 256},
      {"fine_atomic_ref", 4, 32},
      {"fine_ticket", 8, 32},
      {"fine_block_barrier", 1, 256},
      {"fine_producers_and_consumers", 1, 128},
      {"fine_pipeline", 1, 256},
      {"fine_groups", 1, 256},
      {"fine_grid_sync", 4, 64, kCooperative},
      {"fine_block_algorithms", 2, 128},
      {"fine_warp_algorithm", 1, 128},
      {"fine_bulk_copy", 1, 256},
      {"fine_bulk_store", 1, 256},
      {"fine_two_bulk_stores", 1, 256},
      {"fine_cluster", 4, 64},

      {"init_global", 1, 64, kUnwritten},
      {"init_atomic_counter", 1, 64, kUnwritten},
      {"init_bytes", 1, 128, kByteMissing},
      {"init_shared", 1, 256},
      {"init_shared_edge", 1, 256},
      {"init_dynamic_shared", 1, 64, kDynamic},
      {"init_local", 1, 64},
      {"init_member_is_copied_and_read", 1, 64},
      {"init_condition", 1, 64, kUnwritten},
      {"init_address", 1, 64, kUnwritten},
      {"init_shuffled", 1, 32},
      {"init_passed_to_a_function", 1, 64, kUnwritten},
      {"init_exchanged", 1, 64, kUnwritten},
      {"init_copy_to_host", 0, 0, kPlain, copies_to_host_what_nobody_wrote},
      {"fine_written_by_the_program", 1, 64},
      {"fine_writes_what_it_reads", 2, 256, kUnwritten},
      {"fine_writes_bytes_reads_words", 1, 256},
      {"fine_local_array", 1, 64},
      {"fine_padding_is_copied", 1, 64},
      {"fine_is_read_and_not_used", 1, 64, kUnwritten},
      {"fine_exchanges_to_initialize", 1, 64, kUnwritten},
      {"fine_bit_fields", 1, 32},
      {"fine_padding_goes_through_lanes", 1, 32},
      {"fine_padding_stays_in_global_memory", 1, 64, kUnwritten},
      {"fine_merge_sort_of_padding", 1, 128},
      {"fine_copies", 0, 0, kPlain, copies_what_was_written},

      {"sync_barriers_in_both_branches", 1, 64},
      {"sync_barrier_in_half_a_warp", 1, 32},
      {"sync_barrier_after_exit", 1, 256},
      {"sync_barrier_missed_by_a_warp", 1, 128},
      {"sync_counts_differ", 1, 96},
      {"sync_lane_not_in_its_mask", 1, 32},
      {"sync_masks_differ", 1, 32},
      {"sync_syncwarp_of_others", 1, 32},
      {"sync_mask_names_exited_lanes", 1, 32},
      {"sync_stale_mask", 1, 32},
      {"sync_barrier_at_two_places", 1, 256},
      {"sync_two_barriers_on_one_line", 1, 256},
      {"fine_uniform_branches", 1, 128},
      {"fine_masks_of_branches", 1, 64},
      {"fine_partial_warp", 1, 40},
      {"fine_warps_leave_early", 1, 128},
      {"fine_barrier_in_unrolled_loop", 1, 256},
      {"memory_index_beyond_shared_array", 1, 64, kDynamic},
      {"memory_row_beyond_shared_tile", 1, 256, kDynamic},
      {"memory_atomic_beyond_shared_bins", 1, 64, kDynamic},
      {"fine_pointers_into_shared_arrays", 1, 64},
      {"fine_volatile_with_syncwarp", 1, 32},
      {"fine_volatile_flag_in_a_warp", 1, 32},
      {"fine_event_orders_two_streams", 0, 0, kPlain, an_event_orders_them},
      {"fine_two_streams_apart", 0, 0, kPlain, two_streams_go_their_own_ways},

      {"leak_memory", 0, 0, kPlain, forgets_memory},
      {"leak_stream_and_event", 0, 0, kPlain, forgets_a_stream_and_an_event},
      {"leak_host_memory", 0, 0, kPlain, forgets_host_memory},
      {"leak_array", 0, 0, kPlain, forgets_an_array},
      {"leak_pool_memory", 0, 0, kPlain, forgets_memory_of_a_pool},
      {"leak_context", 0, 0, kPlain, forgets_the_context},
      {"fine_everything_given_back", 0, 0, kPlain, gives_everything_back},
  };
  return cases;
}

inline const Case* find(const std::string& name) {
  for (const Case& c : all()) {
    if (name == c.name) return &c;
  }
  return nullptr;
}

}  // namespace checks
