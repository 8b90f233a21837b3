#include "common/simulator/state/modules/compressed.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cudasim {
namespace {

std::string find_tool() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) folders.push_back(std::string(root) + "/bin");
  }
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&find_tool), &here) != 0 && here.dli_fname != nullptr) {
    const std::string library = here.dli_fname;
    folders.push_back(library.substr(0, library.find_last_of('/')));
  }
  if (const char* path = std::getenv("PATH")) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) folders.push_back(part);
  }
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders) {
    std::string tool = folder + "/cuobjdump";
    if (access(tool.c_str(), X_OK) == 0) return tool;
  }
  return "";
}

std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 1 << 14> part;
  for (std::size_t bytes; (bytes = std::fread(part.data(), 1, part.size(), pipe)) != 0;)
    text.append(part.data(), bytes);
  pclose(pipe);
  return text;
}

}  // namespace

const std::string& cuobjdump() {
  static const std::string& tool = *new std::string(find_tool());
  return tool;
}

std::vector<std::string> unpacked_ptx(std::string_view fatbin) {
  std::vector<std::string> texts;
  if (cuobjdump().empty()) return texts;
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  std::string file = (error ? std::string("/tmp") : folder.string()) + "/cudasim-XXXXXX.fatbin";
  const int descriptor = mkstemps(file.data(), 7);
  if (descriptor < 0) return texts;
  close(descriptor);
  std::ofstream(file, std::ios::binary).write(fatbin.data(), static_cast<std::streamsize>(fatbin.size()));
  const std::string listing = output_of(shell_word(cuobjdump()) + " -ptx " + shell_word(file) + " 2>/dev/null");
  std::filesystem::remove(file, error);
  // Each text begins with .version, after a few lines about it, and ends where the next entry of the list begins.
  for (auto begin = listing.find("\n.version"); begin != std::string::npos; begin = listing.find("\n.version", begin)) {
    const auto end = listing.find("\nFatbin ", begin);
    texts.push_back(listing.substr(begin + 1, end == std::string::npos ? end : end - begin));
    begin = end == std::string::npos ? listing.size() : end;
  }
  return texts;
}

}  // namespace cudasim
