// Copies in, computes and copies out, in one stream and in several, and draws when each piece was processed. At the
// end, it counts its progress in the default stream. With --controls, it uses a second stream for kernels.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

constexpr double kStageMilliseconds = 10;  // roughly, for each of the three stages alone
constexpr int kColumns = 72, kPiecesDrawn = 6, kPiecesCounted = 32, kMostPieces = 512;

enum Stage { kCopyIn, kCompute, kCopyOut, kStages };
constexpr const char* kStageNames[] = {"copy in", "compute", "copy out"};

// What happens to `count` numbers, and the events before and after each stage of each piece.
struct Job {
  struct Piece {
    cu::Event begin[kStages], end[kStages];
  };
  int count, rounds = 1;
  cu::Pinned host{count * sizeof(float)};
  cu::Memory device{count * sizeof(float)};
  std::vector<Piece> pieces = std::vector<Piece>(kMostPieces);
  explicit Job(int numbers) : count(numbers) { std::fill_n(host.as<float>(), count, 1.0f); }
};

// The numbers of one piece, on both sides.
struct Range {
  float* host;
  CUdeviceptr device;
  int n;
};

void copy_in(const Range& range, CUstream stream) {
  CU_CHECK(cuMemcpyHtoDAsync(range.device, range.host, range.n * sizeof(float), stream));
}

void compute(Range range, CUfunction work, int rounds, CUstream stream) {
  const unsigned blocks = std::min(1024, range.n / 1024 + 1);
  void* arguments[] = {&range.device, &range.n, &rounds};
  CU_CHECK(cuLaunchKernel(work, blocks, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
}

void copy_out(const Range& range, CUstream stream) {
  CU_CHECK(cuMemcpyDtoHAsync(range.host, range.device, range.n * sizeof(float), stream));
}

float milliseconds(const cu::Event& from, const cu::Event& to) {
  float time;
  CU_CHECK(cuEventElapsedTime(&time, from.handle, to.handle));
  return time;
}

// Runs a job in a number of pieces, in various ways.
class Pipeline {
 public:
  // After each piece, the host writes the number of pieces to `progress` in the default stream, unless it is 0.
  Pipeline(const Job& job, CUfunction work, int pieces, CUdeviceptr progress = 0)
      : job_(job), work_(work), pieces_(pieces), progress_(progress) {}

  // Each stage has its own stream; kernels may have several, used alternately. Returns milliseconds from the first
  // event to the last. The events before each stage cost a little time of their own, so they are recorded only for the
  // drawing.
  float stream_per_stage(CUstream in, const std::vector<CUstream>& for_kernels, CUstream out,
                         bool for_drawing = false) const {
    for (int i = 0; i < pieces_; ++i) {
      const CUstream work = for_kernels[i % for_kernels.size()];
      const Job::Piece& piece = job_.pieces[i];
      const auto mark = [&](Stage stage, CUstream stream) {
        if (for_drawing || (i == 0 && stage == kCopyIn)) CU_CHECK(cuEventRecord(piece.begin[stage].handle, stream));
      };
      mark(kCopyIn, in);
      copy_in(range(i), in);
      CU_CHECK(cuEventRecord(piece.end[kCopyIn].handle, in));

      CU_CHECK(cuStreamWaitEvent(work, piece.end[kCopyIn].handle, 0));
      mark(kCompute, work);
      compute(range(i), work_, job_.rounds, work);
      CU_CHECK(cuEventRecord(piece.end[kCompute].handle, work));

      CU_CHECK(cuStreamWaitEvent(out, piece.end[kCompute].handle, 0));
      mark(kCopyOut, out);
      copy_out(range(i), out);
      CU_CHECK(cuEventRecord(piece.end[kCopyOut].handle, out));
      if (progress_ != 0) CU_CHECK(cuMemsetD32(progress_, i + 1, 1));
    }
    CU_CHECK(cuCtxSynchronize());
    return milliseconds(job_.pieces[0].begin[kCopyIn], job_.pieces[pieces_ - 1].end[kCopyOut]);
  }

  // Each piece uses the next of the given streams. No events are needed between the stages.
  float stream_per_piece(const std::vector<cu::Stream>& streams) const {
    CU_CHECK(cuEventRecord(job_.pieces[0].begin[kCopyIn].handle, streams[0].handle));
    for (int i = 0; i < pieces_; ++i) {
      const CUstream stream = streams[i % streams.size()].handle;
      copy_in(range(i), stream);
      compute(range(i), work_, job_.rounds, stream);
      copy_out(range(i), stream);
      CU_CHECK(cuEventRecord(job_.pieces[i].end[kCopyOut].handle, stream));
    }
    CU_CHECK(cuCtxSynchronize());
    return milliseconds(job_.pieces[0].begin[kCopyIn], job_.pieces[pieces_ - 1].end[kCopyOut]);
  }

  void draw(const char* title, float total, float full_scale) const {
    std::printf("\n%s, %d pieces: %.2f ms\n", title, pieces_, total);
    for (const Stage stage : {kCopyIn, kCompute, kCopyOut}) {
      std::string line(kColumns, ' ');
      for (int i = 0; i < pieces_; ++i) {
        const auto column = [&](const cu::Event& event) {
          return std::lround(milliseconds(job_.pieces[0].begin[kCopyIn], event) / full_scale * kColumns);
        };
        const long end = std::min<long>(column(job_.pieces[i].end[stage]), kColumns);
        for (long c = column(job_.pieces[i].begin[stage]); c < end; ++c) line[c] = static_cast<char>('1' + i);
      }
      std::printf("%-8s [%s]\n", kStageNames[stage], line.c_str());
    }
  }

 private:
  Range range(int piece) const {
    const int n = job_.count / pieces_;
    const std::size_t first = static_cast<std::size_t>(piece) * n;
    return {job_.host.as<float>() + first, job_.device.address + first * sizeof(float), n};
  }

  const Job& job_;
  CUfunction work_;
  int pieces_;
  CUdeviceptr progress_;
};

// A stream that waits for work in the default stream, and whose work the default stream waits for.
struct TiedStream {
  CUstream handle = nullptr;
  TiedStream() { CU_THROW(cuStreamCreate(&handle, CU_STREAM_DEFAULT)); }
  ~TiedStream() { CU_REPORT(cuStreamDestroy(handle)); }
  TiedStream(const TiedStream&) = delete;
  TiedStream& operator=(const TiedStream&) = delete;
};

// Milliseconds that each stage takes alone, for the whole job.
struct Alone {
  double of[kStages];
  double longest() const { return *std::max_element(of, of + kStages); }
  double sum() const { return of[kCopyIn] + of[kCompute] + of[kCopyOut]; }
};

Alone measure_alone(const Job& job, CUfunction work, CUstream stream) {
  Alone alone;
  for (const Stage stage : {kCopyIn, kCompute, kCopyOut}) {
    alone.of[stage] = cu::median([&] {
      Pipeline(job, work, 1).stream_per_stage(stream, {stream}, stream, true);
      return milliseconds(job.pieces[0].begin[stage], job.pieces[0].end[stage]);
    });
  }
  return alone;
}

// A job that takes long enough to be measured: each copy takes about kStageMilliseconds, and computing a little longer.
std::unique_ptr<Job> fitting_job(CUfunction work, CUstream stream) {
  auto job = std::make_unique<Job>(1 << 20);
  constexpr int kStep = kMostPieces * kPiecesDrawn;
  const double numbers = job->count * kStageMilliseconds / measure_alone(*job, work, stream).longest();
  job = std::make_unique<Job>((static_cast<int>(numbers / kStep) + 1) * kStep);
  for (;;) {
    const Alone alone = measure_alone(*job, work, stream);
    const double wanted = 1.2 * std::max(alone.of[kCopyIn], alone.of[kCopyOut]);
    if (alone.of[kCompute] < wanted) {
      job->rounds *= 2;
    } else {
      job->rounds = std::max(1, static_cast<int>(wanted / alone.of[kCompute] * job->rounds));
      return job;
    }
  }
}

int main(int argc, char** argv) try {
  cu::Primary context;
  cu::print_device_and_link(context.device);
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction work = module.function("work");
  cu::Stream in, compute, out;
  const std::vector<cu::Stream> three(3);

  const auto job = fitting_job(work, in.handle);
  const Alone alone = measure_alone(*job, work, in.handle);
  // What a piece costs whatever its size: 512 pieces of one number each.
  const Job tiny(kMostPieces);
  const double overhead = cu::median([&] {
    return Pipeline(tiny, work, kMostPieces).stream_per_stage(in.handle, {compute.handle}, out.handle) / kMostPieces;
  });
  std::printf("%d MiB alone: copy in %.2f ms, compute %.2f ms, copy out %.2f ms.\n", job->count >> 18,
              alone.of[kCopyIn], alone.of[kCompute], alone.of[kCopyOut]);
  std::printf("Each piece adds an overhead of %.1f us.\n", overhead * 1e3);

  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {  // do kernels of different pieces overlap?
    std::printf("\n       | ms, streams for kernels\npieces |     one |     two\n");
    for (int pieces = 1; pieces <= kMostPieces; pieces *= 2) {
      const Pipeline pipeline(*job, work, pieces);
      const auto time = [&](const std::vector<CUstream>& for_kernels) {
        return cu::median([&] { return pipeline.stream_per_stage(in.handle, for_kernels, out.handle); });
      };
      std::printf("%6d | %7.2f | %7.2f\n", pieces, time({compute.handle}), time({compute.handle, three[0].handle}));
    }
    return 0;
  }

  const Pipeline drawn(*job, work, kPiecesDrawn);
  drawn.stream_per_stage(in.handle, {in.handle}, in.handle, true);
  const float in_one = drawn.stream_per_stage(in.handle, {in.handle}, in.handle, true);
  drawn.draw("one stream", in_one, in_one);
  drawn.stream_per_stage(in.handle, {compute.handle}, out.handle, true);
  const float in_three = drawn.stream_per_stage(in.handle, {compute.handle}, out.handle, true);
  drawn.draw("a stream per stage", in_three, in_one);

  std::printf("\npieces | model   | stream per stage | stream per piece | longest stage / stream per stage  (ms)\n");
  for (int pieces = 1; pieces <= kMostPieces; pieces *= 2) {
    const Pipeline pipeline(*job, work, pieces);
    const double model = (alone.sum() + (pieces - 1) * alone.longest()) / pieces + pieces * overhead;
    const double stages =
        cu::median([&] { return pipeline.stream_per_stage(in.handle, {compute.handle}, out.handle); });
    const double in_turn = cu::median([&] { return pipeline.stream_per_piece(three); });
    const double share = alone.longest() / stages;
    std::printf("%6d | %7.2f | %16.2f | %16.2f | %4.2f %s\n", pieces, model, stages, in_turn, share,
                cu::bar(share, 1, 26).c_str());
  }

  // The same with a counter in the default stream, for both kinds of streams.
  const cu::Memory progress(sizeof(int));
  const Pipeline counted(*job, work, kPiecesCounted, progress.address);
  const double apart = cu::median([&] { return counted.stream_per_stage(in.handle, {compute.handle}, out.handle); });
  const TiedStream in_tied, compute_tied, out_tied;
  const double together =
      cu::median([&] { return counted.stream_per_stage(in_tied.handle, {compute_tied.handle}, out_tied.handle); });
  std::printf("\n%d pieces, and after each of them 4 bytes in the default stream:\n", kPiecesCounted);
  std::printf("CU_STREAM_NON_BLOCKING | %5.2f ms\nCU_STREAM_DEFAULT      | %5.2f ms\n", apart, together);

  float* numbers = job->host.as<float>();
  const auto verify = [&](auto run) {
    for (int i = 0; i < job->count; ++i) numbers[i] = static_cast<float>(i % 1000);
    run(Pipeline(*job, work, 64));
    for (int i = 0; i < job->count; i += job->count / 999) {
      float x = static_cast<float>(i % 1000);
      for (int round = 0; round < job->rounds; ++round) x = std::fma(x, 0.5f, 1.0f);
      if (numbers[i] != x) return false;
    }
    return true;
  };
  const bool correct =
      verify([&](const Pipeline& p) { p.stream_per_stage(in.handle, {compute.handle}, out.handle); }) &&
      verify([&](const Pipeline& p) { p.stream_per_piece(three); });
  std::printf("\n%s\n", correct ? "All results are correct." : "Some results are wrong.");
  return correct ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
