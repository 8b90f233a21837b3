// Which requests are in the slots of an engine, and which pages of the cache they have.
#pragma once
#include "engine.hpp"

#include <atomic>
#include <numeric>
#include <string>
#include <vector>

namespace engine {

class Batch {
 public:
  explicit Batch(const Engine& engine) : engine_(engine), free_(engine.room().pages), slots_(engine.room().slots) {
    std::iota(free_.rbegin(), free_.rend(), 0);
  }

  // Why this request can never be admitted, or "".
  std::string obstacle(const std::vector<int>& prompt, int reply) const {
    const Room& room = engine_.room();
    const int tokens = static_cast<int>(prompt.size()) + reply;
    if (prompt.empty()) return "the prompt is empty. Pass at least one character";
    if (reply < 1) return "the reply must have at least one token";
    if (tokens > room.tokens) {
      return "the prompt has " + std::to_string(prompt.size()) + " tokens and the reply " + std::to_string(reply) +
             ", but a request may have " + std::to_string(room.tokens) + " in all. Shorten one of them";
    }
    if (pages_for(tokens) > room.pages) {
      return "the request needs " + std::to_string(pages_for(tokens)) + " pages, and the cache has only " +
             std::to_string(room.pages);
    }
    return "";
  }

  // Puts a request into a free slot, before the next step that is enqueued in the stream, and returns the slot; or -1,
  // if there are no slot or not enough pages now. Waits for nothing.
  int admit(const std::vector<int>& prompt, Request request, CUstream stream) {
    const auto slot = std::find_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.pages.empty(); });
    const int needed = pages_for(request.limit);
    if (slot == slots_.end() || needed > static_cast<int>(free_.size())) return -1;
    const int number = static_cast<int>(slot - slots_.begin()), pitch = engine_.pitch(), most = engine_.room().tokens;
    slot->pages.assign(free_.end() - needed, free_.end());
    free_.resize(free_.size() - needed);
    slot->seen = 0;
    engine_.counts()[number] = 0;
    request.prompt = static_cast<int>(prompt.size());
    // The slot was free, so nothing reads what it had. The copies and the kernel run between two steps.
    copy(slot->pages, staged_.as<int>() + number * pitch, engine_.table.address + 4 * std::size_t(number) * pitch,
         stream);
    copy(prompt, staged_prompts_.as<int>() + number * most, engine_.prompts.address + 4 * std::size_t(number) * most,
         stream);
    Request* const staged = staged_requests_.as<Request>() + number;
    *staged = request;
    CU_THROW(cuMemcpyHtoDAsync(engine_.requests.address + number * sizeof(Request), staged, sizeof(Request), stream));
    engine_.begin(number, stream);
    return number;
  }

  // Calls use(slot, token) for the tokens that have arrived since the last call, and ends(slot) after the last one.
  // Then the slot and its pages are free.
  template <class Use, class Ends>
  void look(Use use, Ends ends) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].pages.empty()) continue;
      const int count = engine_.counts()[i];
      std::atomic_thread_fence(std::memory_order_acquire);
      const int arrived = count & ~kEnded;
      for (; slots_[i].seen < arrived; ++slots_[i].seen) {
        use(static_cast<int>(i), engine_.replies()[i * engine_.room().tokens + slots_[i].seen]);
      }
      if ((count & kEnded) == 0) continue;
      free_.insert(free_.end(), slots_[i].pages.begin(), slots_[i].pages.end());
      slots_[i].pages.clear();
      ends(static_cast<int>(i));
    }
  }
  void look() {
    look([](int, int) {}, [](int) {});
  }

  bool is_empty() const {
    return std::all_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.pages.empty(); });
  }
  int free_pages() const { return static_cast<int>(free_.size()); }
  const std::vector<int>& pages_of(int slot) const { return slots_[slot].pages; }

 private:
  struct Slot {
    std::vector<int> pages;  // none: the slot is free
    int seen = 0;            // tokens of the reply
  };
  // By way of page-locked memory, which stays as it is until the copy has ended: a slot is used again only later.
  static void copy(const std::vector<int>& from, int* staged, CUdeviceptr to, CUstream stream) {
    std::copy(from.begin(), from.end(), staged);
    CU_THROW(cuMemcpyHtoDAsync(to, staged, 4 * from.size(), stream));
  }

  const Engine& engine_;
  std::vector<int> free_;
  std::vector<Slot> slots_;
  const cu::Pinned staged_{4 * std::size_t(kSlots) * engine_.pitch()};
  const cu::Pinned staged_prompts_{4 * std::size_t(kSlots) * engine_.room().tokens};
  const cu::Pinned staged_requests_{sizeof(Request) * kSlots};
};

}  // namespace engine
