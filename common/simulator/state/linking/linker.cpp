#include "common/simulator/state/linking/linker.hpp"
#include "common/simulator/state/modules/jit_cache.hpp"

#include <set>

namespace cudasim {

Registry<Linker, CUlinkState>& linkers() {
  static auto& all = *new Registry<Linker, CUlinkState>;
  return all;
}

CUresult create_linker(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  current_context();
  require(out != nullptr);
  const auto linker = std::make_shared<Linker>();
  linker->options = JitOptions(count, options, values);
  *out = linkers().add(linker);
  return CUDA_SUCCESS;
}

std::shared_ptr<Linker> get_linker(CUlinkState handle) {
  require_calls_permitted();
  return linkers().get(handle);
}

namespace {

// What is complete takes no more, whatever it is.
void require_open(CUlinkState handle) {
  const auto linker = get_linker(handle);
  const std::scoped_lock lock(linker->mutex);
  require(!linker->complete);
}

void require_linkable(CUjitInputType type) {
  switch (static_cast<int>(type)) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_LIBRARY: return;
    case CU_JIT_INPUT_CUBIN:  // texts_of_input() looks what it really is
    case CU_JIT_INPUT_OBJECT: return;
    case CU_JIT_INPUT_NVVM: fail(refuse("CU_JIT_INPUT_NVVM"));
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

// What is between the quotes of a diagnostic's message: a symbol.
std::string symbol_of(const ptx::Diagnostic& error) {
  const auto begin = error.message.find(" '") == std::string::npos ? std::string::npos : error.message.find(" '") + 1;
  const auto end = begin == std::string::npos ? begin : error.message.find('\'', begin + 1);
  return end == std::string::npos ? "" : error.message.substr(begin + 1, end - begin - 1);
}

// The name of the first text that mentions a symbol.
std::string mentioned_in(const Linker& linker, const std::string& symbol) {
  for (std::size_t i = 0; i < linker.texts.size(); ++i) {
    if (linker.texts[i].find(symbol) != std::string::npos) return linker.names[i];
  }
  return linker.names.empty() ? "" : linker.names.back();
}

// The name of the first text that has a function's body.
std::string defined_in(const Linker& linker, const std::string& symbol) {
  for (std::size_t i = 0; i < linker.texts.size(); ++i) {
    for (const ptx::Function& function : ptx::parse(linker.texts[i]).module.functions) {
      if (function.name == symbol && function.has_body) return linker.names[i];
    }
  }
  return linker.names.empty() ? "" : linker.names.back();
}

bool is_unresolved(const ptx::Diagnostic& error) {
  return error.kind == ptx::Diagnostic::unresolved || error.message.rfind("Unresolved extern", 0) == 0;
}

}  // namespace

[[noreturn]] void reject_link(Linker& linker, const std::vector<ptx::Diagnostic>& errors) {
  std::string log;
  for (const ptx::Diagnostic& error : errors) {
    const std::string symbol = symbol_of(error), name = mentioned_in(linker, symbol);
    if (is_unresolved(error)) {
      log += "error   : Undefined reference to '" + symbol + "' in '" + name + "'\n";
    } else if (error.message.rfind("Duplicate definition", 0) == 0) {
      log += "error   : Multiple definition of '" + symbol + "' in '" + linker.names.back() + "', first defined in '" +
             name + "'\n";
    } else if (error.message.rfind("Inconsistent prototypes", 0) == 0) {
      log += "error   : Prototype doesn't match for '" + symbol + "' in '" + linker.names.back() +
             "', first defined in '" + defined_in(linker, symbol) + "'\n";
    } else if (error.message.rfind("Size doesn't match", 0) == 0) {
      log += "error   : " + error.message + " in '" + linker.names.back() + "', first specified in '" + name + "'\n";
    } else {
      log += "error   : " + error.message + "\n";
    }
  }
  linker.options.error(log);
  linker.failed = CUDA_ERROR_INVALID_SOURCE;
  const auto sentence = log.find(": ") + 2;
  const std::string why = "the link is refused: " + log.substr(sentence, log.find('\n') - sentence);
  tell_refused(linker.options, why);
  fail(linker.failed, why);
}

namespace {

// Each text is compiled as it comes, then compared with those before; what is still missing may come with a later one.
void add_text(Linker& linker, const std::string& text, const std::string& name) {
  require(!jit_disabled(), CUDA_ERROR_JIT_COMPILATION_DISABLED);
  auto errors = link_errors({text});
  std::erase_if(errors, is_unresolved);
  if (!errors.empty()) reject_text(errors, text, linker.options);
  linker.texts.push_back(text);
  linker.names.push_back(name);
  if (linker.texts.size() == 1) return;
  errors = link_errors(linker.texts);
  std::erase_if(errors, is_unresolved);
  if (!errors.empty()) reject_link(linker, errors);
}

CUresult add(CUlinkState state, CUjitInputType type, const Texts& texts, const std::string& name, unsigned count,
             CUjit_option* options, void** values) {
  const auto linker = get_linker(state);
  JitOptions own(count, options, values);
  const std::scoped_lock lock(linker->mutex);
  require(!linker->complete);
  require_linkable(type);
  linker->archive = linker->archive || type == CU_JIT_INPUT_LIBRARY;
  for (const std::string& text : texts) add_text(*linker, text, name);
  return CUDA_SUCCESS;
}

const std::string kNoFatBinary = "Could not find fatbin in", kNoArchive = "unexpected archive format";

// An archive is machine code, mostly libcudadevrt.a, and often nothing of it is needed. It gives no texts: what grids
// need to synchronise is there all the same (add_device_runtime), and whatever else would have come from it is missed
// by name when the link is completed.
Texts texts_of_input(CUjitInputType type, std::string_view bytes, bool tell) {
  const bool fat = bytes.substr(0, 4) == "\x50\xed\x55\xba", elf = bytes.substr(0, 4) == "\177ELF";
  if (type == CU_JIT_INPUT_CUBIN) require(elf, CUDA_ERROR_INVALID_IMAGE);
  if (type == CU_JIT_INPUT_OBJECT) require(fat || elf, CUDA_ERROR_UNKNOWN, [] { return kNoFatBinary; });
  if (type != CU_JIT_INPUT_LIBRARY) return texts_of_bytes(bytes, tell);
  require(bytes.substr(0, 8) == "!<arch>\n", CUDA_ERROR_UNKNOWN, [] { return kNoArchive; });
  return {};
}

// The functions that are declared, and not there.
std::set<std::string> missing_functions(const Texts& texts) {
  std::set<std::string> missing, defined;
  for (const std::string& text : texts) {
    for (const ptx::Function& function : ptx::parse(text).module.functions)
      (function.has_body ? defined : missing).insert(function.name);
  }
  std::erase_if(missing, [&](const std::string& name) { return defined.count(name) != 0; });
  return missing;
}

}  // namespace

void add_device_runtime(Linker& linker) {
  if (!linker.archive) return;
  const std::set<std::string> missing = missing_functions(linker.texts);
  const auto add = [&](std::string text) {
    linker.texts.push_back(std::move(text)), linker.names.push_back("cudadevrt");
  };
  if (std::any_of(missing.begin(), missing.end(), [](const std::string& name) { return name.starts_with("cudaCG"); }))
    add(kGridSynchronisation);
  std::string rest = device_runtime_module([&](const std::string& name) { return missing.count(name) != 0; });
  if (!rest.empty()) add(std::move(rest));
}

namespace {

// What a linker says of an input that it cannot read.
std::string complaint(const Failure& failure, std::string_view bytes, const std::string& name) {
  if (failure.why == kNoFatBinary) return "fatal   : " + kNoFatBinary + " '" + name + "'";
  if (failure.why == kNoArchive) return "fatal   : " + kNoArchive;
  const bool empty = bytes.find_first_not_of('\0') == std::string_view::npos;
  return empty ? "error   : Binary format for key='0', ident='' is not recognized" : "";
}

// What cannot be read leaves the link as it was, except for something that should be machine code.
Texts texts_to_add(CUlinkState state, CUjitInputType type, std::string_view bytes, const std::string& name) {
  const auto linker = get_linker(state);
  try {
    return texts_of_input(type, bytes, !linker->options.wants_errors());
  } catch (const Failure& failure) {
    const std::scoped_lock lock(linker->mutex);
    if (type == CU_JIT_INPUT_CUBIN) linker->failed = CUDA_ERROR_INVALID_IMAGE;
    if (const std::string text = complaint(failure, bytes, name); !text.empty()) linker->options.error(text);
    throw;
  }
}

}  // namespace

CUresult link_data(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned count,
                   CUjit_option* options, void** values) {
  require_open(state);
  require(data != nullptr && size != 0);
  require_linkable(type);
  const std::string called = name != nullptr ? name : "";
  return add(state, type, texts_to_add(state, type, {static_cast<const char*>(data), size}, called), called, count,
             options, values);
}

CUresult link_file(CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options,
                   void** values) {
  require_open(state);
  require(path != nullptr);
  const std::string bytes = read_file(path);
  require_linkable(type);
  return add(state, type, texts_to_add(state, type, bytes, path), path, count, options, values);
}

}  // namespace cudasim
