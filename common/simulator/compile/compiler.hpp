// The user's C++ compiler, and what of the program's environment it depends on.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace cudasim::compile {

// Copies the environment: other threads may not read it, because the program may change it. For a thread of the
// program.
void remember_environment();
// A variable as it was then; empty if it was not set.
std::string environment(const std::string& name);

struct Compiler {
  std::string path, identity;  // empty: none was found. identity: tells whether it is still the same one
};
const Compiler& compiler();
// The options that, together with the text, determine the machine code.
const std::vector<std::string>& flags();

// A new folder inside `own` to compile in, which goes with the object, or when the program ends.
class Work {
 public:
  // The path is empty if there is no space for a folder.
  explicit Work(const std::filesystem::path& own);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  const std::string& path() const { return path_; }
  // Compiles kernel.cpp to kernel.so in the folder, at a low priority if `politely`. What the compiler says is in
  // the file `messages`.
  bool compile(bool politely) const;

 private:
  std::string path_;
  int lock_ = -1;  // tells other processes that the folder is in use
};
// Removes the folders of processes that have ended before they could.
void remove_abandoned(const std::filesystem::path& own);

// Waits until no other process of the user is compiling, but only for a limited time.
class Turn {
 public:
  explicit Turn(const std::filesystem::path& own);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int lock_ = -1;
};

}  // namespace cudasim::compile
