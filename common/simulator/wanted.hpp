// What the environment asks the simulator to check and to show: CUDASIM_BOUNDS, CUDASIM_CHECK, CUDASIM_TRACE,
// CUDASIM_PROFILE, CUDASIM_FILM and CUDASIM_TIMELINE. Each is read once, when first asked for. A value that means
// nothing is reported on stderr.
#pragma once
#include "common/simulator/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudasim {

// CUDASIM_BOUNDS=hardware: what lies past the end of an allocation, but is mapped on a GPU, may be accessed as it may
// there, and each instruction that does so is a finding. By default, exact, it is a fault.
bool hardware_bounds();

// CUDASIM_COMPILE=background, off or now; and keep=FOLDER, where the generated C++ is to stay.
struct CompileWanted {
  enum When : u8 { off, background, now } when = background;
  std::string keep;
};
const CompileWanted& compile_wanted();

// CUDASIM_CHECK=memory,race,init,sync,leak or all.
struct Checks {
  bool memory = false;  // accesses beyond a shared variable that are within the block's shared memory
  bool race = false;  // two threads access one place, one of them writes, and nothing orders them
  bool init = false;  // reads of memory that was never written
  bool sync = false;  // barriers and masks that some of the threads miss
  bool leak = false;  // resources that are never freed
};
const Checks& checks();

// Whole numbers from `first` to `last`.
struct Range {
  u64 first = 0, last = 0;
  bool has(u64 n) const { return n >= first && n <= last; }
};
using Ranges = std::vector<Range>;  // none: everything

// Which of a program's instructions CUDASIM_TRACE=ptx shows: CUDASIM_TRACE_ONLY="kernel=add block=2 warp=0-3".
struct TraceChoice {
  std::string kernel;           // only those whose name has this in it
  Ranges launches{{1, 1}};      // of each kernel, counted from 1
  Ranges blocks{{0, 0}};        // of the grid, x fastest
  std::optional<Dim3> block;    // or one by its coordinates
  Ranges warps{{0, 0}}, lanes;  // of a block; of a warp: whose values are shown one by one
  u64 limit = 1000;             // instructions shown of one warp
};

struct TraceWanted {
  bool api = false, ptx = false;
  TraceChoice only;
};
const TraceWanted& trace_wanted();

struct ProfileWanted {
  bool on = false;
  std::string file;  // of JSON, or as Nsight Compute prints it (.csv); empty: the table on stderr only
};
const ProfileWanted& profile_wanted();

// The file of films, to which each launch that is recorded adds a line; empty: none is wanted.
struct FilmWanted {
  std::string file;
  TraceChoice only;  // `limit`: steps of a launch, all warps together
};
const FilmWanted& film_wanted();

// The file of the timeline; empty: none is wanted.
const std::string& timeline_wanted();

// Whether functions keep notes of their text (ptx/notes.hpp).
inline bool notes_wanted() { return trace_wanted().ptx || profile_wanted().on || !film_wanted().file.empty(); }

}  // namespace cudasim
