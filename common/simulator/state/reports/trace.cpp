// CUDASIM_TRACE=api: each driver call on stderr, with its arguments by the manual's names, its result, and the calling
// thread's context stack after it. Threads are numbered in the order of their first calls, and indented by that.
//
//   1: cuCtxCreate_v4(*pctx=ctx1 (0x3c0000000040), ctxCreateParams=null, flags=CU_CTX_SCHED_AUTO, dev=0)
//        -> CUDA_SUCCESS  [ctx1]
//
// Made for a terminal of 100 columns before a class: handles have short names (the number itself is shown once),
// enumerators and flags their own, lines are broken between arguments.
#include "common/simulator/state/reports/trace.hpp"

#include "common/simulator/state/modules/library.hpp"
#include "common/simulator/state/modules/module.hpp"
#include "common/simulator/state/reports/print.hpp"
#include "common/simulator/state/streams/thread.hpp"
#include "common/simulator/text.hpp"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>

namespace cudasim {
namespace {

struct Enumerator {
  std::string_view type;
  long long value;
  std::string_view name;
};
constexpr Enumerator kEnumerators[] = {
#define ENUMERATOR(type, value, name) {#type, value, #name},
#include "enumerators.inc"  // which the Makefile has functions.py write
#undef ENUMERATOR
};

// Plain numbers that are made of enumerators: which of these, by function and argument.
struct FlagArgument {
  std::string_view function, argument, type;
};
constexpr FlagArgument kFlagArguments[] = {
    {"cuCtxCreate", "flags", "CUctx_flags"},
    {"cuCtxSetFlags", "flags", "CUctx_flags"},
    {"cuCtxGetFlags", "flags", "CUctx_flags"},
    {"cuDevicePrimaryCtxSetFlags", "flags", "CUctx_flags"},
    {"cuDevicePrimaryCtxGetState", "flags", "CUctx_flags"},
    {"cuStreamCreate", "Flags", "CUstream_flags"},
    {"cuStreamCreateWithPriority", "flags", "CUstream_flags"},
    {"cuStreamGetFlags", "flags", "CUstream_flags"},
    {"cuGreenCtxCreate", "flags", "CUgreenCtxCreate_flags"},
    {"cuGreenCtxStreamCreate", "flags", "CUstream_flags"},
    {"cuStreamWaitEvent", "Flags", "CUevent_wait_flags"},
    {"cuStreamAttachMemAsync", "flags", "CUmemAttach_flags"},
    {"cuStreamWaitValue32", "flags", "CUstreamWaitValue_flags"},
    {"cuStreamWaitValue64", "flags", "CUstreamWaitValue_flags"},
    {"cuStreamWriteValue32", "flags", "CUstreamWriteValue_flags"},
    {"cuStreamWriteValue64", "flags", "CUstreamWriteValue_flags"},
    {"cuEventCreate", "Flags", "CUevent_flags"},
    {"cuEventRecordWithFlags", "flags", "CUevent_record_flags"},
    {"cuMemAllocManaged", "flags", "CUmemAttach_flags"},
    {"cuMemHostAlloc", "Flags", "CU_MEMHOSTALLOC"},
    {"cuMemHostGetFlags", "pFlags", "CU_MEMHOSTALLOC"},
    {"cuMemHostRegister", "Flags", "CU_MEMHOSTREGISTER"},
    {"cuIpcOpenMemHandle", "Flags", "CUipcMem_flags"},
    {"cuGraphInstantiate", "flags", "CUgraphInstantiate_flags"},
    {"cuGraphInstantiateWithFlags", "flags", "CUgraphInstantiate_flags"},
    {"cuGraphDebugDotPrint", "flags", "CUgraphDebugDot_flags"},
    {"cuGraphRetainUserObject", "flags", "CUuserObjectRetain_flags"},
    {"cuUserObjectCreate", "flags", "CUuserObject_flags"},
    {"cuLaunchCooperativeKernelMultiDevice", "flags", "CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE"},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "flags", "CUoccupancy_flags"},
    {"cuOccupancyMaxPotentialBlockSizeWithFlags", "flags", "CUoccupancy_flags"},
};

// Arrays that a call reads, though their types would let it write.
constexpr std::string_view kArrays[] = {
    "options",      "optionValues", "jitOptions", "jitOptionsValues", "libraryOptions", "libraryOptionValues",
    "kernelParams", "extra",        "attributes", "dataSizes",
};

// What handles are called, by the types that they point to.
constexpr std::pair<std::string_view, std::string_view> kHandleNames[] = {
    {"CUctx_st", "ctx"},           {"CUmod_st", "module"},

    {"CUlib_st", "library"},       {"CUkern_st", "kernel"},
    {"CUstream_st", "stream"},     {"CUevent_st", "event"},
    {"CUarray_st", "array"},       {"CUmipmappedArray_st", "mipmap"},
    {"CUgraph_st", "graph"},       {"CUgraphNode_st", "node"},
    {"CUgraphExec_st", "exec"},    {"CUmemPoolHandle_st", "pool"},
    {"CUlinkState_st", "link"},    {"CUgreenCtx_st", "green"},
    {"CUuserObject_st", "object"}, {"CUextMemory_st", "extmem"},
};

// A handle has the name of what it was when it first came by: one that is used for something else shows.
class HandleNames {
 public:
  // Empty for what is no handle of ours.
  std::string name(std::string_view type, const void* value) {
    const auto number = reinterpret_cast<std::uintptr_t>(value);
    constexpr std::uintptr_t kFirst = 0x3c00'0000'0040, kEnd = 0x3d00'0000'0000, kStep = 0x40;  // fresh_handle()
    if (number < kFirst || number >= kEnd || number % kStep != 0) return "";
    const std::scoped_lock lock(mutex_);
    const auto found = names_.find(number);
    if (found != names_.end()) return found->second;
    const std::string kind = kind_of(type, value);
    const unsigned count = ++counts_[kind];
    const std::string name = kind + (type != kFunction ? std::to_string(count)
                                     : count > 1       ? "#" + std::to_string(count)
                                                       : "");
    names_[number] = name;
    std::string introduced = name + " (";
    print_pointer(introduced, value);
    return introduced + ")";
  }

 private:
  static constexpr std::string_view kFunction = "CUfunc_st";  // these have names of their own

  static std::string kind_of(std::string_view type, const void* value) {
    if (type == kFunction) {
      const auto function = functions().find(static_cast<CUfunction>(const_cast<void*>(value)));
      return function ? demangled(function->kernel->name) : "function";
    }
    for (const auto& [known, name] : kHandleNames) {
      if (known == type) return std::string(name);
    }
    return "handle";
  }

  std::mutex mutex_;
  std::map<std::uintptr_t, std::string> names_;
  std::map<std::string, unsigned> counts_;
};

HandleNames& handle_names() {
  static HandleNames& only = *new HandleNames;
  return only;
}

// The next of several names: "ctx, flags".
std::string_view next_name(std::string_view& names) {
  const auto comma = names.find(',');
  const std::string_view name = names.substr(0, comma);
  names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  while (!names.empty() && names.front() == ' ') names.remove_prefix(1);
  return name;
}

std::string_view flags_of(std::string_view function, std::string_view argument) {
  for (const FlagArgument& known : kFlagArguments) {
    if (known.function == function && known.argument == argument) return known.type;
  }
  return {};
}

// What a call writes letters to, with a zero behind them.
bool is_text(std::string_view function, std::string_view argument) {
  return (function == "cuDeviceGetName" && argument == "name") ||
         (function == "cuDeviceGetPCIBusId" && argument == "pciBusId");
}

std::string_view enumerator(std::string_view type, long long value) {
  for (const Enumerator& known : kEnumerators) {
    if (known.type == type && known.value == value) return known.name;
  }
  return {};
}

// A|B, and in hexadecimal what no name is left for.
void print_flags(std::string& out, std::string_view type, unsigned value) {
  if (const auto name = enumerator(type, value); !name.empty() || value == 0) {
    out += name.empty() ? "0" : name;
    return;
  }
  const std::size_t begin = out.size();
  const auto join = [&] { out += out.size() == begin ? "" : "|"; };
  for (const Enumerator& known : kEnumerators) {
    const auto bits = static_cast<unsigned>(known.value);
    if (known.type != type || bits == 0 || (value & bits) != bits) continue;
    join();
    out += known.name;
    value &= ~bits;
  }
  if (value == 0) return;
  join();
  print_pointer(out, reinterpret_cast<const void*>(std::uintptr_t{value}));
}

std::shared_ptr<const Function> launched(CUfunction handle) {
  if (auto function = functions().find(handle)) return function;
  try {
    return get_function_or_kernel(handle, current_context());
  } catch (const Failure&) {  // gone since, by another thread
    return nullptr;
  }
}

// The values of a kernel's parameters: addresses and what is large in hexadecimal, since a kernel does not say what
// they are.
void print_parameters(std::string& out, const Function& function, void** values) {
  out += '{';
  for (const auto& parameter : function.program->functions[function.kernel->function]->parameters) {
    if (out.back() != '{') out += ", ";
    constexpr u64 kLarge = 1 << 24;
    u64 value = 0;
    if (parameter.size > sizeof value) {
      out += std::to_string(parameter.size) + " bytes";
      ++values;
      continue;
    }
    std::memcpy(&value, *values++, parameter.size);
    const auto low = static_cast<i32>(value);
    if (parameter.size == 4 && low < 0 && low > -static_cast<i32>(kLarge)) {
      print_number(out, low);
    } else if (value < kLarge) {
      print_unsigned(out, value);
    } else {
      print_pointer(out, reinterpret_cast<const void*>(value));
    }
  }
  out += '}';
}

// The pieces of a line, none of which is broken.
class Line {
 public:
  Line(std::string start, std::size_t indent) : text_(std::move(start)), indent_(indent), column_(text_.size()) {}

  void add(const std::string& piece) {
    if (column_ + piece.size() > kColumns && column_ > indent_) {
      while (text_.back() == ' ') text_.pop_back();
      text_ += '\n' + std::string(indent_, ' ');
      column_ = indent_;
    }
    const std::size_t leading = column_ == indent_ ? std::min(piece.find_first_not_of(' '), piece.size()) : 0;
    text_ += piece.substr(leading);
    column_ += piece.size() - leading;
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kColumns = 100;
  std::string text_;
  std::size_t indent_, column_;
};

// Why a call has failed, below it, word by word; further lines, an excerpt of a text, as they are.
std::string reason(const std::string& why, std::size_t indent) {
  if (why.empty()) return "";
  Line line(std::string(indent, ' ') + "because ", indent);
  std::istringstream lines(why);
  std::string sentence;
  std::getline(lines, sentence);
  std::istringstream words(sentence);
  for (std::string word; words >> word;) line.add(word + " ");
  std::string text = line.text().substr(0, line.text().find_last_not_of(' ') + 1) + "\n";
  for (std::string excerpt; std::getline(lines, excerpt);) text += std::string(indent, ' ') + excerpt + "\n";
  return text;
}

// Failures are red on a terminal.
std::string answer(CUresult result) {
  static const bool coloured = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  const bool failed = result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY;
  return coloured && failed ? "\033[31m" + std::string(error_name(result)) + "\033[0m" : error_name(result);
}

}  // namespace

void print_number(std::string& out, long long value) { out += std::to_string(value); }
void print_unsigned(std::string& out, unsigned long long value) { out += std::to_string(value); }

void print_real(std::string& out, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  out += text;
}

void print_pointer(std::string& out, const void* value) {
  if (value == nullptr) {
    out += "null";
    return;
  }
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(value));
  out += text;
}

// Shows the beginning of a long text, and the end of a path.
void print_text(std::string& out, const char* value) {
  if (value == nullptr) {
    out += "null";
    return;
  }
  constexpr std::size_t kShown = 40, kLongest = 4096;
  const std::string_view text(value, ::strnlen(value, kLongest));
  const bool cut = text.size() > kShown, path = text.starts_with('/') && text.find('\n') == std::string_view::npos;
  out += cut && path ? "\"…" : "\"";
  for (const char c : !cut ? text : path ? text.substr(text.size() - kShown) : text.substr(0, kShown)) {
    out += c == '\n' ? ' ' : c;
  }
  out += cut && !path ? "…\"" : "\"";
}

void print_enumerator(std::string& out, std::string_view type, long long value) {
  constexpr std::string_view kEnding = "_enum";
  if (type.ends_with(kEnding)) type.remove_suffix(kEnding.size());
  const auto name = enumerator(type, value);
  out += name.empty() ? std::to_string(value) : std::string(name);
}

void print_handle(std::string& out, std::string_view type, const void* value) {
  if (type == "CUstream_st" && value == CU_STREAM_LEGACY) {
    out += "CU_STREAM_LEGACY";
  } else if (type == "CUstream_st" && value == CU_STREAM_PER_THREAD) {
    out += "CU_STREAM_PER_THREAD";
  } else if (const std::string name = handle_names().name(type, value); !name.empty()) {
    out += name;
  } else {
    print_pointer(out, value);
  }
}

namespace {

std::string shown(std::string_view function, std::string_view name, const Argument& argument, const Argument* all,
                  bool succeeded) {
  void* pointer = nullptr;
  if (argument.is_output) std::memcpy(&pointer, argument.value, sizeof pointer);
  const bool array = std::find(std::begin(kArrays), std::end(kArrays), name) != std::end(kArrays);
  const bool written = argument.is_output && succeeded && pointer != nullptr && !array;
  std::string out = (written ? "*" : "") + std::string(name) + "=";
  if (const auto type = flags_of(function, name); !type.empty() && (written || !argument.is_output)) {
    unsigned value = 0;
    std::memcpy(&value, written ? pointer : argument.value, sizeof value);
    print_flags(out, type, value);
  } else if (succeeded && is_text(function, name)) {
    std::memcpy(&pointer, argument.value, sizeof pointer);
    out.insert(0, "*");
    print_text(out, static_cast<const char*>(pointer));
  } else if (name == "kernelParams" && function.starts_with("cuLaunch") && succeeded && pointer != nullptr) {
    CUfunction handle = nullptr;
    std::memcpy(&handle, all[function.starts_with("cuLaunchKernelEx") ? 1 : 0].value, sizeof handle);
    const auto kernel = launched(handle);
    kernel ? print_parameters(out, *kernel, static_cast<void**>(pointer)) : print_pointer(out, pointer);
  } else {
    argument.print(out, argument.value, written);
  }
  return out;
}

}  // namespace

void trace_call(const Call& call, CUresult result, const std::string& why) {
  // Who reports a problem sends this log, so it begins with the version (common/VERSION).
  static const int introduced = std::fputs("cudasim " CUDASIM_VERSION "\n", stderr);
  static_cast<void>(introduced);
  const Thread& thread = this_thread();
  const std::size_t indent = (thread.number - 1) * 4;
  std::string_view names = call.arguments;
  Line line(std::string(indent, ' ') + std::to_string(thread.number) + ": " + call.symbol + "(", indent + 7);
  for (std::size_t i = 0; i < call.count; ++i) {
    const std::string_view name = next_name(names);
    line.add(shown(call.name, name, call.values[i], call.values, result == CUDA_SUCCESS) +
             (i + 1 == call.count ? ")" : ", "));
  }
  std::string stack = "  [";
  for (const CUcontext context : thread.stack) {
    if (stack.back() != '[') stack += ' ';
    print_handle(stack, "CUctx_st", context);
  }
  line.add((call.count == 0 ? ") -> " : " -> ") + answer(result) + stack + "]");
  std::fputs((line.text() + "\n" + reason(why, indent + 7)).c_str(), stderr);
}

}  // namespace cudasim
