// Tell a supervisor what to do after a call of a worker has failed.
#include "action.hpp"
#include "common/cu.hpp"

// Returns the action for a result of any driver call. The comment above each code in cuda.h (enum CUresult) says what
// has happened; the comments in action.hpp say which action fits.
Action classify(CUresult result) {
  // Your code here.
  (void)result;
  return Action::reject;
}
