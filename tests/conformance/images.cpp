// Images from odd sources: what begins like a text, a file for a GPU or for the host, and is not.
#include "tests/conformance/recorded.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>

namespace {

const std::string kText = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n";

CUresult module_of(const std::string& bytes) {
  CUmodule module = nullptr;
  return cuModuleLoadData(&module, bytes.c_str());
}

std::string bytes_of(std::initializer_list<unsigned> words) {
  std::string bytes;
  for (const unsigned word : words) bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  return bytes;
}

// The header of an ELF file of 64 bits and nothing else: `machine` 190 is a GPU, 62 a host.
std::string elf(unsigned char elf_class, unsigned char order, unsigned short machine, unsigned flags,
                std::size_t bytes) {
  std::string header(bytes, '\0');
  header.replace(0, 4, "\177ELF");
  header[4] = static_cast<char>(elf_class);
  header[5] = static_cast<char>(order);
  header[6] = 1;
  header[16] = 2;
  std::memcpy(&header[18], &machine, sizeof machine);
  header[20] = 1;
  std::memcpy(&header[48], &flags, sizeof flags);
  header[52] = 64;
  return header;
}

struct Folder {
  std::string name = "/tmp/conformanceXXXXXX";
  Folder() { REQUIRE(mkdtemp(name.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(name); }
  std::string file(const std::string& what, const std::string& bytes) const {
    std::ofstream(name + "/" + what) << bytes;
    return name + "/" + what;
  }
};

struct Image {
  const char* name;
  std::string bytes;
};

std::vector<Image> odd_images() {
  return {
      {"a text", kText},
      {"blanks before it", "  \t\n\n" + kText},
      {"a form feed before it", "\f" + kText},
      {"a vertical tab before it", "\v" + kText},
      {"a line comment before it", "// hello\n" + kText},
      {"a block comment before it", "/* hello */" + kText},
      {"a comment without end", "/* hello " + kText},
      {"a line comment only", "// hello"},
      {"a mark of byte order before it", "\xef\xbb\xbf" + kText},
      {"a semicolon before it", ";" + kText},
      {"a word before it", "x" + kText},
      {"a line directive before it", "#line 7\n" + kText},
      {"blanks only", "  \n"},
      {"a newline only", "\n"},
      {"a dot", "."},
      {"half a directive", ".vers"},
      {"a directive without a number", ".version"},
      {"a directive without a number, and a line", ".version\n"},
      {"a letter for a number", ".version x\n.target sm_75\n"},
      {"another directive first", ".target sm_75\n.version 7.0\n"},
      {"capitals", ".VERSION 7.0\n.TARGET sm_75\n"},
      {"carriage returns",
       ".version 7.0\r\n.target sm_75\r\n.address_size 64\r\n.visible .entry k()\r\n{\r\n  ret;\r\n}\r\n"},
      {"old carriage returns", ".version 7.0\r.target sm_75\r.address_size 64\r.visible .entry k(){ret;}"},
      {"no newline at the end", kText.substr(0, kText.size() - 1)},
      {"bytes above 127 in a comment", "// \xc3\xa4\n" + kText},
      {"bytes above 127 in a name", kText + ".global .u32 \xc3\xa4;\n"},
      {"a control character", kText + "\x01\n"},
      {"everything on a line", ".version 7.0 .target sm_75 .address_size 64 .visible .entry k() { ret; }"},
      {"C", "int main() { return 0; }"},
      {"LLVM", "target triple = \"nvptx64-nvidia-cuda\"\n"},
      {"bitcode", "BC\xc0\xde            "},
      {"a script", "#!/bin/sh\nexit 0\n"},
      {"an archive", "!<arch>\n            "},
      {"gzip", "\x1f\x8b\x08             "},
      {"the letters ELF", "\177ELF"},
      {"the letters ELF and blanks", "\177ELF                                                                      "},
      {"a fat binary's number alone", bytes_of({0xBA55ED50, 0, 0, 0, 0, 0, 0, 0})},
      {"a fat binary's header without content", bytes_of({0xBA55ED50, 0x00100001, 0, 0, 0, 0, 0, 0})},
      {"a fat binary of version 0", bytes_of({0xBA55ED50, 0x00100000, 0, 0, 0, 0, 0, 0})},
      {"a fat binary of version 99", bytes_of({0xBA55ED50, 0x00100063, 0, 0, 0, 0, 0, 0})},
      {"a wrapper of nothing", bytes_of({0x466243B1, 1, 0, 0, 0, 0})},
      {"a wrapper of version 0", bytes_of({0x466243B1, 0, 0, 0, 0, 0})},
      {"a wrapper of version 2 of nothing", bytes_of({0x466243B1, 2, 0, 0, 0, 0})},
  };
}

}  // namespace

RECORDED_CASE("A text is known by its beginning", "[modules]") {
  conformance::context();
  for (const Image& one : odd_images()) SAY_AS(one.name, module_of(one.bytes));
  SAY(module_of(kText));
}

RECORDED_CASE("A library's image is looked at late, a fat binary like any other", "[modules]") {
  conformance::context();
  for (const Image& one : odd_images()) {
    CUlibrary library = nullptr;
    CUmodule module = nullptr;
    const CUresult loaded = cuLibraryLoadData(&library, one.bytes.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    SAY_AS(std::string(one.name) + ", as a library", loaded);
    if (loaded == CUDA_SUCCESS)
      SAY_AS(std::string(one.name) + ", as a library, its module", cuLibraryGetModule(&module, library));
    if (loaded == CUDA_SUCCESS) SAY_AS(std::string(one.name) + ", as a library, unloaded", cuLibraryUnload(library));
    SAY_AS(std::string(one.name) + ", as a fat binary", cuModuleLoadFatBinary(&module, one.bytes.c_str()));
  }
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  SAY(cuModuleLoadFatBinary(&module, nullptr));
  SAY(cuModuleLoadFatBinary(nullptr, kText.c_str()));
  SAY(cuLibraryLoadData(nullptr, kText.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cuLibraryUnload(nullptr));
}

RECORDED_CASE("Files are images, too", "[modules]") {
  conformance::context();
  const Folder folder;
  CUmodule module = nullptr;
  for (const Image& one : odd_images())
    SAY_AS(one.name, cuModuleLoad(&module, folder.file("image", one.bytes).c_str()));
  SAY(cuModuleLoad(&module, folder.file("empty", "").c_str()));
  SAY(cuModuleLoad(&module, folder.file("name without meaning.txt", kText).c_str()));
  SAY(cuModuleLoad(&module, folder.file("null", kText + std::string(1, '\0')).c_str()));
  SAY(cuModuleLoad(&module, folder.file("after null", kText + std::string(1, '\0') + "nonsense").c_str()));
  SAY(cuModuleLoad(&module,
                   folder.file("null within", kText.substr(0, 20) + std::string(1, '\0') + kText.substr(20)).c_str()));
  SAY(cuModuleLoad(&module, folder.name.c_str()));
  SAY(cuModuleLoad(&module, (folder.name + "/image/below").c_str()));
  SAY(cuModuleLoad(&module, std::string(5000, 'x').c_str()));
  SAY(cuModuleLoad(&module, nullptr));
  SAY(cuModuleLoad(nullptr, folder.file("text", kText).c_str()));
  REQUIRE(symlink((folder.name + "/text").c_str(), (folder.name + "/link").c_str()) == 0);
  REQUIRE(symlink((folder.name + "/nowhere").c_str(), (folder.name + "/dangling").c_str()) == 0);
  SAY(cuModuleLoad(&module, (folder.name + "/link").c_str()));
  SAY(cuModuleLoad(&module, (folder.name + "/dangling").c_str()));
  CUlibrary library = nullptr;
  SAY(cuLibraryLoadFromFile(&library, (folder.name + "/text").c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cuLibraryLoadFromFile(&library, (folder.name + "/empty").c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cuLibraryLoadFromFile(&library, (folder.name + "/dangling").c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cuLibraryLoadFromFile(&library, folder.file("other", "int x;").c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                            0));
  SAY(cuLibraryLoadFromFile(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
}

RECORDED_CASE("A text may end where its page ends, and be in any memory", "[modules]") {
  conformance::context();
  const std::size_t page = 4096;
  char* const two =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(mprotect(two + page, page, PROT_NONE) == 0);
  char* const at_end = two + page - kText.size() - 1;
  std::memcpy(at_end, kText.c_str(), kText.size() + 1);
  CUmodule module = nullptr;
  SAY(cuModuleLoadData(&module, at_end));
  void* pinned = nullptr;
  CUdeviceptr managed = 0;
  CU_CHECK(cuMemAllocHost(&pinned, page));
  std::strcpy(static_cast<char*>(pinned), kText.c_str());
  SAY(cuModuleLoadData(&module, pinned));
  CU_CHECK(cuMemAllocManaged(&managed, page, CU_MEM_ATTACH_GLOBAL));
  std::strcpy(reinterpret_cast<char*>(managed), kText.c_str());
  SAY(cuModuleLoadData(&module, reinterpret_cast<void*>(managed)));
}

RECORDED_CASE("A file for the host, or for another device, is no image", "[modules]") {
  conformance::context();
  struct {
    const char* name;
    unsigned char elf_class, order;
    unsigned short machine;
    unsigned flags;
  } const kinds[] = {
      {"a host's program", 2, 1, 62, 0},
      {"a host's program of 32 bits", 1, 1, 3, 0},
      {"an ARM program", 2, 1, 183, 0},
      {"a big-endian program", 2, 2, 62, 0},
      {"machine code without flags", 2, 1, 190, 0},
      {"machine code of 32 bits", 1, 1, 190, 0},
  };
  for (const auto& kind : kinds)
    SAY_AS(kind.name, module_of(elf(kind.elf_class, kind.order, kind.machine, kind.flags, 256)));
  CUmodule module = nullptr;
  SAY(cuModuleLoad(&module, "/proc/self/exe"));
}
