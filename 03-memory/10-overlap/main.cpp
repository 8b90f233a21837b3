// Copies in, computes and copies out, in one stream and in three, and draws when each piece of it ran.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

constexpr double kAlone = 10;                         // milliseconds that the longest part takes, more or less
constexpr int kColumns = 72, kDrawn = 6, kMost = 64;  // of the picture; pieces in it; pieces at most

// What is to be done to `count` numbers, and the marks before and after each part of each piece.
struct Job {
  int count, rounds = 1;
  cu::Pinned host{count * sizeof(float)};
  cu::Memory device{count * sizeof(float)};
  cu::Event begin[3][kMost], end[3][kMost];
  explicit Job(int numbers) : count(numbers) { std::fill_n(host.as<float>(), count, 1.0f); }
};

struct Streams {
  CUstream of[3];  // of each part: copies in, kernels, copies out
};

// Puts one part into a stream, for the n numbers from `first` on.
void enqueue(const Job& job, CUfunction work, int part, int first, int n, CUstream stream) {
  const std::size_t bytes = n * sizeof(float);
  CUdeviceptr device = job.device.address + first * sizeof(float);
  int rounds = job.rounds;
  const unsigned blocks = std::min(1024, n / 1024 + 1);
  void* arguments[] = {&device, &n, &rounds};
  if (part == 0) CU_CHECK(cuMemcpyHtoDAsync(device, job.host.as<float>() + first, bytes, stream));
  if (part == 1) CU_CHECK(cuLaunchKernel(work, blocks, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  if (part == 2) CU_CHECK(cuMemcpyDtoHAsync(job.host.as<float>() + first, device, bytes, stream));
}

float milliseconds(const cu::Event& from, const cu::Event& to) {
  float time;
  CU_CHECK(cuEventElapsedTime(&time, from.handle, to.handle));
  return time;
}

// The whole job, in pieces. Returns milliseconds, from the first event to the last. Each mark takes the device a
// moment: those that only a drawing needs are made for one.
float run(const Job& job, CUfunction work, int pieces, const Streams& streams, bool to_be_drawn = false) {
  const int n = job.count / pieces;
  for (int i = 0; i < pieces; ++i) {
    for (int part = 0; part < 3; ++part) {
      const CUstream stream = streams.of[part];
      if (part > 0) CU_CHECK(cuStreamWaitEvent(stream, job.end[part - 1][i].handle, 0));
      if (to_be_drawn || (i == 0 && part == 0)) CU_CHECK(cuEventRecord(job.begin[part][i].handle, stream));
      enqueue(job, work, part, i * n, n, stream);
      CU_CHECK(cuEventRecord(job.end[part][i].handle, stream));
    }
  }
  CU_CHECK(cuCtxSynchronize());
  return milliseconds(job.begin[0][0], job.end[2][pieces - 1]);
}

void draw(const Job& job, const char* title, float total, float full_scale) {
  std::printf("\n%s, %d pieces: %.2f ms\n", title, kDrawn, total);
  for (int part = 0; part < 3; ++part) {
    std::string line(kColumns, ' ');
    for (int i = 0; i < kDrawn; ++i) {
      const auto column = [&](const cu::Event& event) {
        return std::lround(milliseconds(job.begin[0][0], event) / full_scale * kColumns);
      };
      for (long c = column(job.begin[part][i]); c < column(job.end[part][i]) && c < kColumns; ++c) line[c] = '1' + i;
    }
    std::printf("%-8s [%s]\n", part == 0 ? "copy in" : part == 1 ? "compute" : "copy out", line.c_str());
  }
}

// A job that takes long enough to be measured: as many numbers as are copied or computed in kAlone, and as many rounds
// for each as make computing a little longer than copying. alone[part] becomes the time of each part.
std::unique_ptr<Job> fitting_job(CUfunction work, const Streams& one, double (&alone)[3]) {
  auto job = std::make_unique<Job>(1 << 20);
  auto longest = [&](int first_part, int last_part) {
    for (int part = first_part; part <= last_part; ++part) {
      alone[part] = cu::median([&] {
        run(*job, work, 1, one, true);
        return milliseconds(job->begin[part][0], job->end[part][0]);
      });
    }
    return *std::max_element(alone + first_part, alone + last_part + 1);
  };
  constexpr int kStep = kMost * kDrawn;
  const double numbers = job->count * kAlone / longest(0, 2);
  job = std::make_unique<Job>(static_cast<int>(numbers / kStep) * kStep);
  const double copies = 1.2 * std::max(longest(0, 0), longest(2, 2));
  while (longest(1, 1) < copies) job->rounds *= 2;
  job->rounds = std::max(1, static_cast<int>(copies / alone[1] * job->rounds));
  longest(1, 1);
  return job;
}

int main() try {
  cu::Context context;
  cu::print_device_and_link(context.device);
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction work = module.function("work");
  cu::Stream in, compute, out;
  const Streams one{{in.handle, in.handle, in.handle}}, three{{in.handle, compute.handle, out.handle}};

  double alone[3];
  const auto job = fitting_job(work, one, alone);
  const double longest = *std::max_element(alone, alone + 3);
  std::printf("Alone: copy in %.2f ms, compute %.2f ms, copy out %.2f ms.\n", alone[0], alone[1], alone[2]);

  run(*job, work, kDrawn, one, true);
  const float in_one = run(*job, work, kDrawn, one, true);
  draw(*job, "one stream", in_one, in_one);
  run(*job, work, kDrawn, three, true);
  const float in_three = run(*job, work, kDrawn, three, true);
  draw(*job, "three streams", in_three, in_one);

  std::printf("\nthree streams\npieces | ms      | the longest part alone, as a share of that\n");
  for (int pieces = 1; pieces <= kMost; pieces *= 2) {
    const double time = cu::median([&] { return run(*job, work, pieces, three); });
    std::printf("%6d | %7.2f | %4.2f %s\n", pieces, time, longest / time, cu::bar(longest / time, 1, 30).c_str());
  }

  float* numbers = job->host.as<float>();
  for (int i = 0; i < job->count; ++i) numbers[i] = static_cast<float>(i % 1000);
  run(*job, work, kMost, three);
  bool right = true;
  for (int i = 0; i < job->count; i += job->count / 999) {
    float x = static_cast<float>(i % 1000);
    for (int round = 0; round < job->rounds; ++round) x = std::fma(x, 0.5f, 1.0f);
    right &= numbers[i] == x;
  }
  std::printf("\n%s\n", right ? "All numbers are right." : "Some numbers are wrong.");
  return right ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
