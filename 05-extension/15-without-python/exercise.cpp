// Answer the requests of several clients with as few calls of the model as possible: requests with the same number of
// columns share a batch. A request that the model rejects must not keep the others from being answered.
#include "05-extension/15-without-python/answer.hpp"

#include <algorithm>

std::vector<Reply> answer(Model& model, const std::vector<Matrix>& requests, std::int64_t largest) {
  // Your code here.
  (void)largest;
  std::vector<Reply> replies;
  for (const Matrix& request : requests) replies.push_back({model.run(request), ""});
  return replies;
}
