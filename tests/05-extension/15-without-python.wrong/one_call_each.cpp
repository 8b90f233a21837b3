// Rejected with: "requests share a call of the model"
#include "05-extension/15-without-python/answer.hpp"

#include <algorithm>

std::vector<Reply> answer(Model& model, const std::vector<Matrix>& requests, std::int64_t largest) {
  (void)largest;
  std::vector<Reply> replies;
  for (const Matrix& request : requests) {
    try {
      replies.push_back({model.run(request), ""});
    } catch (const std::exception& error) {
      replies.push_back({{}, reason(error)});
    }
  }
  return replies;
}
