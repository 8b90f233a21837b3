// What a function's text says, for those who look on while it runs (ptx/notes.hpp).
#include "common/simulator/ptx/resolver.hpp"

namespace cudasim::ptx {
// As it is written, up to the semicolon, with one blank for any number of them.
std::string Resolver::text_of(const Statement& s) {
  const std::string& text = module_.text;
  if (s.at.line < text_line_) text_at_ = 0, text_line_ = 1;
  for (; text_line_ < s.at.line && text_at_ < text.size(); ++text_line_) text_at_ = text.find('\n', text_at_) + 1;
  std::string out;
  if (!s.guard.empty()) out = std::string(s.guard_negated ? "@!" : "@") + s.guard + " ";
  bool blank = false;
  for (std::size_t i = text_at_ + s.at.column - 1; i < text.size() && text[i] != ';'; ++i) {
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

void Resolver::note(const Statement& s) {
  Notes::Statement statement;
  statement.text = text_of(s);
  statement.kind = class_of(s.opcode, s.modifiers);
  for (const std::string& modifier : s.modifiers) {
    if (statement.type == Type::none) statement.type = type_named(modifier);
  }
  statement.branches = (s.opcode == "bra" || s.opcode == "brx") && (s.opcode == "brx" || !s.guard.empty());
  statement.barrier = row_is(kMeets);
  const Immediate* last = s.operands.empty() ? nullptr : std::get_if<Immediate>(&s.operands.back().value);
  const bool adds = std::find(s.modifiers.begin(), s.modifiers.end(), "add") != s.modifiers.end();
  statement.quiet = row_is(kAtomic);  // unless the old value is read: finish_notes()
  statement.adds_one = adds && last != nullptr && !is_float(last->type) && last->bits == 1;
  const u32 end = static_cast<u32>(out_.code->instructions.size());
  if (end != first_.back()) statement.instruction = end - 1;
  notes_->statements.push_back(std::move(statement));
}

// Numbers of registers become names and slots. Registers without a name are left out.
void Resolver::finish_notes(const SlotMap& slots) {
  std::unordered_map<u32, std::string> names;
  for (u32 r = 0; r < function_.registers.size(); ++r) {
    const Register& declared = function_.registers[r];
    for (u32 number = 0; number < register_ids_[r].size(); ++number) {
      if (register_ids_[r][number] == kUnset) continue;
      const std::string name = declared.count == 0 ? declared.name : declared.name + std::to_string(number);
      constexpr const char* kParts[] = {".x", ".y", ".z", ".w"};
      for (u32 part = 0; part < declared.vector; ++part)
        names[register_ids_[r][number] + part] = declared.vector == 1 ? name : name + kParts[part % 4];
    }
  }
  for (const auto& [key, id] : parameter_registers_)
    names[id] = ((key & 1) != 0 ? function_.results : function_.parameters)[key / 2].name;
  std::vector<bool> read(registers_.size());
  for (const u32 id : read_) read[id] = true;
  std::vector<Notes::Result> kept;
  for (Notes::Result& result : notes_->results) {
    const u32 statement = out_.code->instructions[result.instruction].statement;
    if (statement < notes_->statements.size() && read[result.slot]) notes_->statements[statement].quiet = false;
    const auto found = names.find(result.slot);
    if (found == names.end()) continue;
    result.name = found->second;
    result.slot = slots.slot[result.slot];
    // Compilers declare registers as so many bits; the instruction says what is in them.
    const Type type = notes_->statements[out_.code->instructions[result.instruction].statement].type;
    if (type != Type::none && bytes(type) == bytes(result.type) && result.type != Type::pred) result.type = type;
    kept.push_back(std::move(result));
  }
  notes_->results = std::move(kept);
  Notes::Statement last;  // the ret at which all meet
  last.text = "ret";
  last.kind = Class::control;
  last.instruction = static_cast<u32>(out_.code->instructions.size() - 1);
  notes_->statements.push_back(std::move(last));
  out_.code->notes = notes_;
}

}  // namespace cudasim::ptx
