#include "common/simulator/state/streams/thread.hpp"

#include "common/simulator/state/streams/stream.hpp"

#include <pthread.h>

#include <atomic>

namespace cudasim {
namespace {

thread_local Thread* mine = nullptr;

// A pthread key, not a thread_local object: its destructor does not run for the main thread at exit.
pthread_key_t make_key() {
  pthread_key_t key{};
  pthread_key_create(&key, [](void* thread) {
    mine = nullptr;
    delete static_cast<Thread*>(thread);
  });
  return key;
}

}  // namespace

Thread::~Thread() {
  for (const auto& [context, stream] : default_streams) stream->closed = true;
}

Thread& this_thread() {
  if (mine == nullptr) {
    static const pthread_key_t key = make_key();
    static std::atomic<u32> threads{0};
    mine = new Thread;
    mine->number = ++threads;
    pthread_setspecific(key, mine);
  }
  return *mine;
}

}  // namespace cudasim
