// What the processes of the service say to each other.
#pragma once
#include "common/cu.hpp"
#include "common/processes.hpp"

#include <optional>

// What the supervisor asks a process for. `number` is another process's ID, where one is needed.
struct Request {
  enum { infer, fault, new_context, primary_reset, fork_child, memory_in_use, checkpoint, restore } what;
  int number = 0;
};

struct Reply {
  CUresult result = CUDA_SUCCESS;
  double number = 0;
};

// The next request; none after the supervisor has closed the connection.
inline std::optional<Request> next_request(int supervisor) {
  char first;
  if (recv(supervisor, &first, sizeof first, MSG_PEEK) <= 0) return std::nullopt;
  return cu::receive<Request>(supervisor);
}

inline Reply reply_from(const cu::Process& process) { return cu::receive<Reply>(process.socket.number); }

inline Reply ask(const cu::Process& process, const Request& request) {
  cu::send(process.socket.number, request);
  return reply_from(process);
}
