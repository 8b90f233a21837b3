// What a function's text says, for those who look on while it runs (ptx/notes.hpp).
#include "common/simulator/ptx/draft.hpp"

namespace cudasim::ptx {
// As it is written, up to the semicolon, with one blank for any number of them.
static std::string text_of(Body& body, const Statement& s) {
  const std::string& text = body.module.text;
  if (s.at.line < body.notes.text_line) body.notes.text_at = 0, body.notes.text_line = 1;
  for (; body.notes.text_line < s.at.line && body.notes.text_at < text.size(); ++body.notes.text_line)
    body.notes.text_at = text.find('\n', body.notes.text_at) + 1;
  std::string out;
  if (!s.guard.empty()) out = std::string(s.guard_negated ? "@!" : "@") + s.guard + " ";
  bool blank = false;
  for (std::size_t i = body.notes.text_at + s.at.column - 1; i < text.size() && text[i] != ';'; ++i) {
    if (text.compare(i, 2, "//") == 0) i = std::min(text.find('\n', i), text.size() - 1);
    if (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
      blank = true;
      continue;
    }
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
    blank = false;
    out += text[i];
  }
  return out;
}

void note(const Draft& draft, const Statement& s) {
  Notes::Statement statement;
  statement.text = text_of(draft.body, s);
  statement.kind = class_of(draft.row, s.modifiers);
  for (const std::string& modifier : s.modifiers) {
    if (statement.type == Type::none) statement.type = type_named(modifier);
  }
  statement.branches = (s.opcode == "bra" || s.opcode == "brx") && (s.opcode == "brx" || !s.guard.empty());
  statement.barrier = row_is(draft, kMeets);
  const Immediate* last = s.operands.empty() ? nullptr : std::get_if<Immediate>(&s.operands.back().value);
  const bool adds = std::find(s.modifiers.begin(), s.modifiers.end(), "add") != s.modifiers.end();
  statement.quiet = row_is(draft, kAtomic);  // unless the old value is read: finish_notes()
  statement.adds_one = adds && last != nullptr && !is_float(last->type) && last->bits == 1;
  const bool a_in_registers = s.operands.size() > 1 && s.operands[1].is_vector;
  statement.operand_bytes = operand_bytes(s.opcode, s.modifiers, a_in_registers);
  const u32 end = static_cast<u32>(draft.body.out.code->instructions.size());
  if (end != draft.body.first.back()) statement.instruction = end - 1;
  draft.body.notes.notes->statements.push_back(std::move(statement));
}

// Numbers of registers become names and slots. Registers without a name are left out.
void finish_notes(Body& body, const SlotMap& slots) {
  std::unordered_map<u32, std::string> names;
  for (u32 r = 0; r < body.function.registers.size(); ++r) {
    const Register& declared = body.function.registers[r];
    for (u32 number = 0; number < body.register_ids[r].size(); ++number) {
      if (body.register_ids[r][number] == kUnset) continue;
      const std::string name = declared.count == 0 ? declared.name : declared.name + std::to_string(number);
      constexpr const char* kParts[] = {".x", ".y", ".z", ".w"};
      for (u32 part = 0; part < declared.vector; ++part)
        names[body.register_ids[r][number] + part] = declared.vector == 1 ? name : name + kParts[part % 4];
    }
  }
  for (const auto& [key, id] : body.parameter_registers)
    names[id] = ((key & 1) != 0 ? body.function.results : body.function.parameters)[key / 2].name;
  std::vector<bool> read(body.registers.size());
  for (const u32 id : body.notes.read) read[id] = true;
  std::vector<Notes::Result> kept;
  for (Notes::Result& result : body.notes.notes->results) {
    const u32 statement = body.out.code->instructions[result.instruction].statement;
    if (statement < body.notes.notes->statements.size() && read[result.slot])
      body.notes.notes->statements[statement].quiet = false;
    const auto found = names.find(result.slot);
    if (found == names.end()) continue;
    result.name = found->second;
    result.slot = slots.slot[result.slot];
    // Compilers declare registers as so many bits; the instruction says what is in them.
    const Type type = body.notes.notes->statements[body.out.code->instructions[result.instruction].statement].type;
    if (type != Type::none && bytes(type) == bytes(result.type) && result.type != Type::pred) result.type = type;
    kept.push_back(std::move(result));
  }
  body.notes.notes->results = std::move(kept);
  Notes::Statement last;  // the ret at which all meet
  last.text = "ret";
  last.kind = Class::control;
  last.instruction = static_cast<u32>(body.out.code->instructions.size() - 1);
  body.notes.notes->statements.push_back(std::move(last));
  body.out.code->notes = body.notes.notes;
}

}  // namespace cudasim::ptx
