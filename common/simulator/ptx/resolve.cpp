// Turns a function's statements into instructions: in which order what is done, declarations, registers, and what comes
// out. Source: PTX ISA, "Type information for instructions and operands", "Operand size exceeding instruction-type
// size".
//
// Registers are numbered as they are met; when all instructions stand, registers whose intervals do not overlap get the
// same slot, so that a warp's frame stays in the cache.
#include "common/simulator/ptx/resolve.hpp"

#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/ptx/draft.hpp"
#include "common/simulator/ptx/flow.hpp"
#include "common/simulator/ptx/resolve_control.hpp"
#include "common/simulator/ptx/resolve_old.hpp"
#include "common/simulator/ptx/resolve_operands.hpp"

#include <algorithm>

namespace cudasim::ptx {

static void statement(Draft& draft, const Statement& written);
static void assign_slots(Body& body, const Flow& flow);

namespace {

constexpr u32 kFrameAlign = 16;
constexpr u64 kLargestParameter = u64{512} << 10;  // bytes

}  // namespace

// Translates each statement. An error ends its statement only.
static void statements(Body& body) {
  Code& code = *body.out.code;
  body.first.reserve(body.function.statements.size() + 1);
  code.statements.reserve(body.function.statements.size() + 1);
  code.instructions.reserve(body.function.statements.size() + 1);
  auto label = body.function.labels.begin();
  for (const Statement& each : body.function.statements) {
    const u32 number = static_cast<u32>(body.first.size());
    body.first.push_back(static_cast<u32>(code.instructions.size()));
    for (; label != body.function.labels.end() && label->statement <= number; ++label)
      body.indices.straight_since = body.first.back();
    SourceLine source = each.source;
    if (source.file != 0) source.file += body.file_base;
    if (source.outer_file != 0) source.outer_file += body.file_base;
    code.statements.push_back({each.at.line, source});
    body.names.enter(each.scope);
    Draft draft(body, each);
    try {
      statement(draft, each);
    } catch (const Failure& failure) {
      body.link.errors.push_back({Diagnostic::syntax, failure.at, failure.message});
    }
    if (body.notes.notes != nullptr) note(draft, each);
  }
  body.first.push_back(static_cast<u32>(code.instructions.size()));
}

static Carries carries_of(const Statement& s, const Row* row) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> opcodes) {
    return std::find(opcodes.begin(), opcodes.end(), s.opcode) != opcodes.end();
  };
  if (is_one_of({"shfl", "vote"})) return Carries::passed_bits;
  if (s.opcode == "mov" || (row != nullptr && row->is(kMovesBits))) return Carries::bits;
  if (is_one_of({"ld", "ldu"})) return Carries::loads;
  if (s.opcode == "st") return Carries::stores;
  if (is_one_of({"match", "redux", "mma", "wmma", "wgmma"})) return Carries::lanes;
  const bool exchanges = std::find(s.modifiers.begin(), s.modifiers.end(), "exch") != s.modifiers.end();
  if (row != nullptr && row->is(kAtomic)) return exchanges ? Carries::swaps : Carries::nothing;
  return row != nullptr && row->is(kMeets) ? Carries::nothing : Carries::result;
}

static void statement(Draft& draft, const Statement& written) {
  draft.row = nullptr;
  const std::optional<Statement> modern = draft.body.module.target < 20 || draft.body.module.version() < 40
                                              ? modernized(draft.body, written)
                                              : std::nullopt;
  const Statement& s = modern ? *modern : written;
  if (s.opcode == "bra") return branch(draft, s);
  if (s.opcode == "brx") return branch_indexed(draft, s);
  if (s.opcode == "ret") return leave(draft, s);
  if (s.opcode == "call") return call(draft, s);
  const Match found = match(s.opcode, s.modifiers);
  draft.row = found.row;
  StatementInfo& info = draft.body.out.code->statements.back();
  info.carries = carries_of(s, found.row);
  if (info.carries == Carries::loads || info.carries == Carries::stores)
    info.element = static_cast<u8>(bytes(found.form.type[0]));
  if (s.opcode == "cvta" && renames(draft, s)) return;
  if (!is_known_before(draft, s, found) && !(s.opcode == "mov" && special_mov(draft, s))) by_row(draft, s, found);
  if (loads_parameter(draft.body, s)) draft.body.moves.of_parameters.insert(std::get<Name>(s.operands[0].value).text);
}

// --- Declarations ----------------------------------------------------------------------------------------------------

// The value of CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES on an H200. The stack pointer is a multiple of 16, so a larger
// alignment needs extra bytes.
static u32 as_on_the_stack(u64 bytes, u32 align) {
  return static_cast<u32>(round_up(bytes, std::max(align, 8u)) + (align > 16 ? align - 16 : 0));
}

static void lay_out_parameters(Body& body) {
  Code& code = *body.out.code;
  u64 offset = 0;
  const auto place = [&](const Parameter& parameter, u32 index, bool result) {
    Code::Parameter placed;
    placed.in_register = parameter.in_register;
    placed.size = static_cast<u32>(parameter.size);
    placed.align = parameter.align;
    u32 local = kUnset;
    if (parameter.size > kLargestParameter) fail(parameter.at, "Parameter '" + parameter.name + "' is too large");
    if (parameter.in_register) {
      // The elements of a vector are handed over one by one.
      const u32 id = temporary(body, parameter.type);
      body.parameter_registers[u64{index} * 2 + (result ? 1 : 0)] = id;
      placed.slot = id;
      placed.size = bytes(parameter.type);
      for (u32 i = 1; i < parameter.vector; ++i) {
        (result ? code.results : code.parameters).push_back(placed);
        placed.slot = temporary(body, parameter.type);
      }
    } else if (body.function.is_entry) {
      offset = round_up(offset, parameter.align);
      placed.offset = static_cast<u32>(offset);
      offset += parameter.size;
    } else {
      placed.size = handed_over(parameter.size, parameter.align);
      local = place_local(body, placed.size, parameter.align, parameter.at);
      placed.local = local;
    }
    (result ? body.result_local : body.parameter_local).push_back(local);
    (result ? code.results : code.parameters).push_back(placed);
  };
  for (u32 i = 0; i < body.function.parameters.size(); ++i) place(body.function.parameters[i], i, false);
  for (u32 i = 0; i < body.function.results.size(); ++i) place(body.function.results[i], i, true);
  // PTX ISA, "Kernel Function Parameters".
  const u64 limit = body.module.version() >= 81 ? 32764 : 4352;
  if (body.function.is_entry && offset > 4352 && offset <= limit && body.module.target < 70) {
    fail(body.function.at, "Feature 'Kernel parameter size larger than 4352 bytes' requires .target sm_70 or higher");
  }
  if (body.function.is_entry && offset > limit) {
    fail(body.function.at, "Entry function '" + body.function.name + "' uses too much parameter space (" +
                               std::to_string(offset) + " bytes, " + std::to_string(limit) + " max)");
  }
  body.out.parameter_bytes = static_cast<u32>(offset);
}

// .local and .param variables are in the frame; the others join those of the module.
static void enter_variables(Body& body) {
  for (const Variable& variable : body.function.variables) {
    if (variable.space == Space::local || variable.space == Space::param) {
      const bool handed = variable.space == Space::param;
      u32& own = body.out.code->variable_bytes;
      if (!handed) {
        own = static_cast<u32>(round_up(own, variable.align) + variable.size);
        body.variable_align = std::max(body.variable_align, variable.align);
      }
      body.local.push_back(place_local(body, handed ? handed_over(variable.size, variable.align) : variable.size,
                                       variable.align, variable.at));
      if (body.out.code->local_bytes - own > kLargestParameter)
        fail(variable.at, "Variable '" + variable.name + "' is too large");
      continue;
    }
    if (variable.space == Space::shared && variable.linkage == Linkage::external) {
      // The same dynamic memory, whatever it is called; with a size, an array of this function's.
    } else if (variable.linkage == Linkage::external) {
      const Symbol* symbol = body.link.find(body.module_index, variable.name);
      if (symbol == nullptr || symbol->kind != Symbol::variable) {
        fail(variable.at, "Unresolved extern variable '" + variable.name + "'");
      }
      body.local.push_back(symbol->index);
      continue;
    }
    LinkedVariable linked;
    linked.variable = &variable;
    linked.module = body.module_index;
    linked.dynamic_shared = is_dynamic_shared(variable);
    body.local.push_back(static_cast<u32>(body.link.variables.size()));
    body.link.variables.push_back(linked);
  }
}

// --- The end ---------------------------------------------------------------------------------------------------------

static void finish(Body& body) {
  Code& code = *body.out.code;
  code.statements.push_back({body.function.at.line, {}});
  if (!body.function.statements.empty()) code.statements.back() = code.statements[code.statements.size() - 2];
  Instruction last;
  last.run = run_return;
  Step step;
  step.falls_through = false;
  emit(body, last, {}, {}, step);
  find_origins(body);
  leave_out_unread(body);
  Flow flow;
  flow.is_entry = body.function.is_entry;
  for (u32 i = 0; i < code.instructions.size(); ++i) {
    Step& each = body.steps[i];
    if (each.target == kUnset) continue;
    each.target = code.instructions[i].target = body.first[each.target];
  }
  for (auto& table : code.tables) {
    for (u32& target : table) target = body.first[target];
  }
  flow.steps = std::move(body.steps);
  flow.tables = code.tables;
  code.reconverge = reconvergence(flow);
  defer_unfinished(body, flow);
  assign_slots(body, flow);
  code.local_bytes = static_cast<u32>(round_up(code.local_bytes, kFrameAlign));
  if (code.variable_bytes != 0) code.variable_bytes = as_on_the_stack(code.variable_bytes, body.variable_align);
}

// Virtual registers become slots.
static void assign_slots(Body& body, const Flow& flow) {
  Code& code = *body.out.code;
  // What the caller copies in and out must not be used for anything else before or after.
  const u32 last = static_cast<u32>(code.instructions.size() - 1);
  for (const auto& parameter : code.parameters) {
    if (parameter.in_register) body.mentions.insert(body.mentions.begin(), {0, parameter.slot, false});
  }
  for (const auto& result : code.results) {
    if (result.in_register) body.mentions.push_back({last, result.slot, false});
  }
  const u32 count = static_cast<u32>(body.registers.size());
  SlotMap slots = allot(intervals(flow, body.mentions, count), body.registers);
  for (const auto& [id, constant] : body.moves.of_launch) slots.slot[id] = constant;
  for (auto& [id, index] : body.moves.of_block) {
    index.slot = slots.slot[id] = static_cast<Slot>(round_up(slots.bytes, 64));
    slots.bytes = index.slot + kWarpSize * 4;
    code.indices.push_back(index);
  }
  for (const Mention& each : body.mentions) {
    const u8 size = static_cast<u8>(bytes(body.registers[each.reg]));
    code.uses.push_back({each.instruction, slots.slot[each.reg], !each.read, each.address, size});
  }
  code.frame_bytes = slots.bytes;
  code.registers_32bit = slots.words;
  const auto map = [&](Slot& slot) {
    if (slot != kNoSlot && (slot & kConstant) == 0) slot = slots.slot[slot];
  };
  for (u32 i = 0; i < code.instructions.size(); ++i) {
    Instruction& instruction = code.instructions[i];
    for (Slot& slot : instruction.slot) map(slot);
    if (instruction.guard == kNoSlot) continue;
    map(instruction.guard);
    if (body.function.statements[instruction.statement].guard_negated) instruction.guard |= 1;
  }
  for (auto& wide : code.wide) {
    for (Slot& slot : wide) map(slot);
  }
  for (CallSite& site : code.calls) {
    map(site.pointer);
    for (auto& argument : site.arguments) map(argument.slot);
    for (auto& result : site.results) map(result.slot);
  }
  for (auto& parameter : code.parameters) map(parameter.slot);
  for (auto& result : code.results) map(result.slot);
  if (body.notes.notes != nullptr) finish_notes(body, slots);
}

Resolved resolve(const Module& module, const LinkedFunction& linked, u32 file_base, Link& link) {
  Body body(module, linked, file_base, link);
  body.out.code->name = body.function.name;
  try {
    lay_out_parameters(body);
    enter_variables(body);
  } catch (const Failure& failure) {
    link.errors.push_back({Diagnostic::syntax, failure.at, failure.message});
    return std::move(body.out);
  }
  body.register_ids.resize(body.function.registers.size());
  body.table_of.assign(body.function.tables.size(), kUnset);
  if (body.function.is_entry && body.notes.notes == nullptr) count_writes(body);
  statements(body);
  finish(body);
  return std::move(body.out);
}

}  // namespace cudasim::ptx
