// What a supervisor can do after a driver call of a worker has failed.
#pragma once

enum class Action {
  none,     // the call has succeeded
  retry,    // nothing is wrong, but it is too early: the same call may succeed a little later, in the same process
  shrink,   // the request needs more memory than there is: try a smaller batch, in the same process
  reject,   // the request or the program is wrong, so a repetition fails, too; the process is healthy
  restart,  // this process can no longer use the device, and a new one can
  drain,    // a new process on this machine would fail as well: send no more requests here, and call for help
};
