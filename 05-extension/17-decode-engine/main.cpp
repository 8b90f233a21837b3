// Text from a language model: a C++ program on the driver API, with the kernels of chapter 04.
//   --write PROMPT [TOKENS [TEMPERATURE [SEED]]]   only writes a text
//   --serve PROMPT...                              serves several requests in one batch, from one cache
//   --large [LAYERS [TOKENS]]                      measures random weights in the shape of a model of 8 billion, with
//   so
//                                                  many tokens in each text
#include "common/measure.hpp"
#include "drive.hpp"
#include "rungs.hpp"
#include "text.hpp"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iterator>

using namespace engine;

constexpr Shape kLarge = {32, 4096, 14336, 32, 8, 128, 128256, 500000};
constexpr int kContext = 1024;       // tokens of each request, when steps of the large model are measured
constexpr int kLongestBar = 20;      // characters
constexpr float kTolerance = 0.05f;  // of a margin: sums in another order may differ by so much
constexpr int kMostTokens = 4096;    // that --write appends
constexpr int kSkipped = 77;

double weights_of(const Shape& s) { return static_cast<double>(File::elements(s)); }

void print_shape(const Shape& s, const char* whose) {
  const bool large = weights_of(s) >= 1e9;
  std::printf("%s: %d layers of width %d, %.2f %s weights\n", whose, s.layers, s.width,
              weights_of(s) / (large ? 1e9 : 1e6), large ? "billion" : "million");
}

// ---- Are the tokens those of PyTorch? ----

// Returns whether they are, up to the first one that PyTorch could have chosen otherwise.
bool compare(const Expected& expected, const std::vector<int>& tokens) {
  const std::size_t count = expected.tokens.size();
  const auto [ours, theirs] =
      std::mismatch(tokens.begin(), tokens.end(), expected.tokens.begin(), expected.tokens.end());
  const auto same = static_cast<std::size_t>(ours - tokens.begin());
  const bool close = same < count && expected.margins[same] < kTolerance;
  std::printf("%-9s  %-25s  %zu of %zu tokens are the same%s\n", expected.four_bit ? "four bits" : "bfloat16",
              expected.request.temperature > 0 ? "drawn, with a fixed seed" : "the most likely token", same, count,
              same == count ? ""
              : close       ? "; rounding can change the next one"
                            : ": WRONG");
  return same == count || close;
}

// Whether all requests get the tokens in a batch that they get alone.
bool compare_batch(const Kernels& kernels, const File& file, const Weights& weights,
                   const std::vector<Expected>& requests, const std::vector<std::vector<int>>& alone) {
  const int slots = static_cast<int>(requests.size()), tokens = requests[0].request.limit;
  const Engine engine(kernels, file.shape, weights, {slots, tokens, slots * pages_for(tokens)});
  const StepGraph graph(engine, Kind::kFused, true);
  Batch batch(engine);
  std::vector<std::vector<int>> together(slots);
  int admitted = 0;
  Driver(graph).run(
      batch,
      [&](CUstream stream) {
        for (; admitted < slots; ++admitted) batch.admit(requests[admitted].prompt, requests[admitted].request, stream);
      },
      [&](int slot, int token) { together[slot].push_back(token); }, [](int) {});
  std::printf("%-9s  %-25s  %s\n", weights.four_bit() ? "four bits" : "bfloat16", "both texts in one batch",
              together == alone ? "the same tokens as alone" : "other tokens than alone: WRONG");
  return together == alone;
}

bool compare_all(const Kernels& kernels, const File& file, const std::string& path) {
  const std::vector<Expected> all = read_expected(path + ".tokens");
  if (all.empty()) throw Problem("cannot read " + path + ".tokens. Delete " + path + ", and type `make 05-17`.");
  std::printf("\nweights    next token                 beside PyTorch\n");
  bool right = true;
  for (const bool four_bit : {false, true}) {
    const Weights weights = from_file(kernels, file, four_bit);
    const int tokens = all[0].request.limit;
    const Engine engine(kernels, file.shape, weights, {1, tokens, pages_for(tokens)});
    const StepGraph graph(engine, Kind::kFused, true);
    std::vector<Expected> requests;
    std::copy_if(all.begin(), all.end(), std::back_inserter(requests),
                 [&](const Expected& expected) { return expected.four_bit == four_bit; });
    std::vector<std::vector<int>> alone;
    for (const Expected& expected : requests) {
      alone.push_back(reply(engine, graph, expected.prompt, expected.request));
      right &= compare(expected, alone.back());
    }
    right &= compare_batch(kernels, file, weights, requests, alone);
  }
  return right;
}

// ---- The ladder ----

// Calls of the driver in each step.
int calls(const Rung& rung, int layers) {
  return rung.graph ? 1 : rung.kind == Kind::kFused ? 5 * layers + 2 : 9 * layers + 3;
}

void climb(const Kernels& kernels, const Shape& shape, const std::function<Weights(bool)>& load, int context, int steps,
           double speed) {
  std::printf("\nThe bound: weights and cache are read at %.3f TB/s.\n", speed / 1e12);
  std::printf("rung        what changed                      calls   ms/step  ms/token   bound  of the bound\n");
  std::unique_ptr<Weights> weights;
  for (const Rung& rung : kLadder) {
    if (!weights || weights->four_bit() != rung.four_bit) {
      weights.reset();
      weights = std::make_unique<Weights>(load(rung.four_bit));
    }
    Measured measured(kernels, shape, *weights, rung, context, steps);
    const double seconds = measured.seconds(), least = measured.bytes(context) / speed;
    std::printf("%-10s  %-32s  %5d  %8.3f  %8.3f  %6.3f  %4.2f %s\n", rung.name, rung.idea, calls(rung, shape.layers),
                seconds * 1e3, seconds * 1e3 / rung.slots, least * 1e3, least / seconds,
                cu::bar(least / seconds, 1, kLongestBar).c_str());
    std::fflush(stdout);
  }
}

int measure_large(const Kernels& kernels, int layers, int context = kContext) {
  Shape shape = kLarge;
  shape.layers = layers;
  std::size_t free, all;
  CU_THROW(cuMemGetInfo(&free, &all));
  const double needed = 2 * weights_of(shape) + 8e9;
  if (static_cast<double>(free) < needed) {
    std::printf("skipped: a model of 8 billion weights needs %.0f GB of device memory, and %.0f are free\n",
                needed / 1e9, static_cast<double>(free) / 1e9);
    return kSkipped;
  }
  print_shape(shape, "random weights");
  climb(
      kernels, shape, [&](bool four_bit) { return random(kernels, shape, four_bit); }, context, 32,
      bandwidth(kernels, std::size_t{1} << 31));
  return 0;
}

// ---- Text ----

struct Loaded {
  const Kernels& kernels;
  const File& file;
  const Characters characters{file.characters};
  const Weights weights = from_file(kernels, file, false);
};

// Writes a text while the device computes it.
int write(const Loaded& model, const std::string& prompt, int tokens, float temperature, unsigned seed) {
  if (tokens < 1 || tokens > kMostTokens) {
    throw Problem("--write can append 1 to " + std::to_string(kMostTokens) +
                  " tokens. Pass such a number after the prompt.");
  }
  const std::vector<int> begin = model.characters.tokens(prompt);
  const int all = static_cast<int>(begin.size()) + tokens;
  const Engine engine(model.kernels, model.file.shape, model.weights, {1, all, pages_for(all)});
  if (const std::string why = Batch(engine).obstacle(begin, tokens); !why.empty()) throw Problem(why + ".");
  const StepGraph graph(engine, Kind::kFused, true);
  std::printf("%s", prompt.c_str());
  Batch batch(engine);
  bool admitted = false;
  int written = 0;
  const auto start = std::chrono::steady_clock::now();
  const int steps = Driver(graph).run(
      batch,
      [&](CUstream stream) {
        if (admitted) return;
        admitted = batch.admit(begin, {0, all, model.characters.newline(), temperature, 20, seed}, stream) >= 0;
      },
      [&](int, int token) {
        std::printf("%s", model.characters.text(token).c_str());
        std::fflush(stdout);
        ++written;
      },
      [](int) {});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("\n%d tokens, %.2f ms for each step\n", written, took.count() / steps);
  return 0;
}

// Serves requests as soon as there are a free slot and enough pages for them.
int serve(const Loaded& model, const std::vector<std::string>& prompts) {
  constexpr Room kRoom = {4, 128, 20};
  const Engine engine(model.kernels, model.file.shape, model.weights, kRoom);
  const StepGraph graph(engine, Kind::kFused, true);
  Batch batch(engine);
  struct Waiting {
    std::vector<int> tokens;
    int number, reply;
  };
  std::deque<Waiting> waiting;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const int number = static_cast<int>(i) + 1, length = 16 + 24 * (static_cast<int>(i) % 3);
    try {
      const std::vector<int> tokens = model.characters.tokens(prompts[i]);
      const std::string why = batch.obstacle(tokens, length);
      if (!why.empty()) throw Problem(why + ".");
      waiting.push_back({tokens, number, length});
    } catch (const Problem& problem) {
      std::printf("request %d is rejected: %s\n", number, problem.what());
    }
  }
  std::vector<int> number_in(kRoom.slots);
  std::vector<std::string> text_in(kRoom.slots);
  const int steps = Driver(graph).run(
      batch,
      [&](CUstream stream) {
        while (!waiting.empty()) {
          const Waiting& next = waiting.front();
          const int limit = static_cast<int>(next.tokens.size()) + next.reply;
          const int slot = batch.admit(next.tokens, {0, limit, -1, 0.5f, 20, 1}, stream);
          if (slot < 0) return;
          number_in[slot] = next.number, text_in[slot] = prompts[next.number - 1];
          std::printf("request %d has slot %d and %zu pages, %d are free\n", next.number, slot,
                      batch.pages_of(slot).size(), batch.free_pages());
          waiting.pop_front();
        }
      },
      [&](int slot, int token) { text_in[slot] += model.characters.text(token); },
      [&](int slot) { std::printf("request %d: %s\n", number_in[slot], text_in[slot].c_str()); });
  std::printf("%d steps, %d pages are free\n", steps, batch.free_pages());
  return 0;
}

int run(const std::vector<std::string>& words) {
  const cu::Primary context;
  if (attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 8) {
    std::printf("skipped: mma with bfloat16 needs compute capability 8.0\n");
    return kSkipped;
  }
  const Kernels kernels;
  const std::string mode = words.empty() ? "" : words[0];
  const auto word = [&](std::size_t i, const char* otherwise) { return words.size() > i ? words[i] : otherwise; };
  if (mode == "--large") {
    cu::print_device(context.device);
    return measure_large(kernels, std::max(1, std::atoi(word(1, "32").c_str())),
                         std::max(1, std::atoi(word(2, "1024").c_str())));
  }
  const std::string path = model_path();
  if (std::error_code error; std::filesystem::file_size(path, error) == 0 && !error) {
    std::printf("skipped: the model is trained with PyTorch, which set-up did not find\n");
    return kSkipped;
  }
  const File file = read_file(path);
  if (mode == "--write") {
    return write({kernels, file}, word(1, "The kernel "), std::atoi(word(2, "200").c_str()),
                 std::strtof(word(3, "0.5").c_str(), nullptr), std::strtoul(word(4, "1").c_str(), nullptr, 10));
  }
  if (mode == "--serve") return serve({kernels, file}, {words.begin() + 1, words.end()});
  if (!mode.empty()) throw Problem("unknown option " + mode + ". The options are --write, --serve and --large.");
  cu::print_device(context.device);
  print_shape(file.shape, "trained on the texts of this course");
  const bool right = compare_all(kernels, file, path);
  climb(
      kernels, file.shape, [&](bool four_bit) { return from_file(kernels, file, four_bit); }, 64, 8,
      bandwidth(kernels, 1 << 20));
  std::printf("\n");
  measure_large(kernels, kLarge.layers);
  return right ? 0 : 1;
}

int main(int argc, char** argv) try { return run({argv + 1, argv + argc}); } catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
