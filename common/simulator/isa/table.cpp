// The joined instruction table: takes the rows' notation apart, and finds the row for what a program writes.
#include "common/simulator/isa/bulk.hpp"
#include "common/simulator/isa/row.hpp"
#include "common/simulator/isa/sampling.hpp"
#include "common/simulator/isa/sets.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <stdexcept>
#include <unordered_map>

namespace cudasim {
namespace {

using Words = std::vector<std::string_view>;

Words split(std::string_view text, char separator) {
  Words words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// One modifier of a row's syntax: its alternatives.
struct Choice {
  Words alternatives;
  bool is_type = false;
  u32 group = 0;  // 0: must be there; else the optional group it belongs to, counted from 1
};

struct Syntax {
  std::string_view opcode;
  std::vector<Choice> choices;
  u32 groups = 0;
};

Choice parse_choice(std::string_view text, u32 group) {
  Choice choice;
  choice.group = group;
  for (const std::string_view word : split(text, '|')) {
    const auto* set = std::find_if(std::begin(kSets), std::end(kSets), [&](const auto& s) { return s.name == word; });
    if (set == std::end(kSets)) {
      choice.alternatives.push_back(word);
    } else {
      const Words members = split(set->members, '|');
      choice.alternatives.insert(choice.alternatives.end(), members.begin(), members.end());
    }
  }
  const auto is_type = [](std::string_view word) { return type_named(word) != Type::none; };
  choice.is_type = std::all_of(choice.alternatives.begin(), choice.alternatives.end(), is_type);
  if (choice.alternatives.empty() ||
      (!choice.is_type && std::any_of(choice.alternatives.begin(), choice.alternatives.end(), is_type))) {
    throw std::logic_error("a place of an instruction holds types or modifiers: " + std::string(text));
  }
  return choice;
}

std::string_view opcode_of(std::string_view syntax) { return syntax.substr(0, syntax.find_first_of(".{")); }

// "add{.rnd}{.ftz}.f32"
Syntax parse_syntax(std::string_view text) {
  Syntax syntax;
  syntax.opcode = opcode_of(text);
  std::size_t at = syntax.opcode.size();
  u32 group = 0;
  while (at < text.size()) {
    if (text[at] == '{' && group == 0) {
      group = ++syntax.groups;
      ++at;
    } else if (text[at] == '}' && group != 0) {
      group = 0;
      ++at;
    } else if (text[at] == '.') {
      const std::size_t end = std::min(text.find_first_of(".{}", at + 1), text.size());
      syntax.choices.push_back(parse_choice(text.substr(at + 1, end - at - 1), group));
      at = end;
    } else {
      throw std::logic_error("not the syntax of an instruction: " + std::string(text));
    }
  }
  if (group != 0 || syntax.opcode.empty()) throw std::logic_error("an open brace in: " + std::string(text));
  return syntax;
}

struct Entry {
  const Row* row;
  Syntax syntax;
  std::vector<OperandRule> operands;
};

// The rows of one opcode, taken apart when a program first has it: most programs have a few of the opcodes.
struct Opcode {
  std::vector<const Row*> rows;
  std::once_flag once;
  std::vector<Entry> entries;

  const std::vector<Entry>& taken_apart() {
    std::call_once(once, [this] {
      for (const Row* row : rows) entries.push_back({row, parse_syntax(row->syntax), rules(*row)});
    });
    return entries;
  }
};
using Table = std::unordered_map<std::string_view, Opcode>;

struct Family {
  std::span<const Row> rows;
  Class kind;
};
std::vector<Family> families() {
#define CUDASIM_ROWS_OF(family, kind) {family##_rows(), Class::kind},
  return {CUDASIM_FAMILIES(CUDASIM_ROWS_OF)};
#undef CUDASIM_ROWS_OF
}

Table& table() {
  static Table& made = *[] {  // threads may still load modules when the program ends
    auto* t = new Table;
    for (const Family& family : families()) {
      for (const Row& row : family.rows) (*t)[opcode_of(row.syntax)].rows.push_back(&row);
    }
    return t;
  }();
  return made;
}

// Whether any row of any opcode has this modifier or type.
bool is_known(std::string_view word) {
  for (auto& [name, opcode] : table()) {
    for (const Entry& entry : opcode.taken_apart()) {
      for (const Choice& choice : entry.syntax.choices) {
        if (std::find(choice.alternatives.begin(), choice.alternatives.end(), word) != choice.alternatives.end())
          return true;
      }
    }
  }
  return false;
}

constexpr std::string_view kSpaces[] = {"const",       "global", "local",       "param",          "param::entry",
                                        "param::func", "shared", "shared::cta", "shared::cluster"};

Space space_named(std::string_view word) {
  if (word == "const") return Space::constant;
  if (word == "global") return Space::global;
  if (word == "local") return Space::local;
  if (word.substr(0, 5) == "param") return Space::param;
  return word == "shared::cluster" ? Space::shared_cluster : Space::shared;
}

void note(Form& form, std::string_view word, bool is_type) {
  if (is_type) {
    form.type.at(form.types++) = type_named(word);
    return;
  }
  form.modifiers.push_back(word);
  if (word.size() == 2 && word[0] == 'v' && word[1] >= '1' && word[1] <= '8') form.vector = u32(word[1] - '0');
  if (form.space == Space::generic && std::find(std::begin(kSpaces), std::end(kSpaces), word) != std::end(kSpaces)) {
    form.space = space_named(word);
  }
}

// Gives each word the first free place that admits it; types may not go back. False if a word is left over or a place
// stays empty that must not. The form's words live in the row, not in the program's text.
bool fits(const Syntax& syntax, std::span<const std::string> words, Form* form) {
  if (words.size() > syntax.choices.size()) return false;
  std::vector<bool> taken(syntax.choices.size());
  std::size_t next_type = 0;
  for (const std::string& word : words) {
    const bool is_type = type_named(word) != Type::none;
    std::size_t i = is_type ? next_type : 0;
    std::string_view found;
    for (; i < syntax.choices.size() && found.empty(); ++i) {
      const Choice& choice = syntax.choices[i];
      if (taken[i] || choice.is_type != is_type) continue;
      const auto at = std::find(choice.alternatives.begin(), choice.alternatives.end(), word);
      if (at != choice.alternatives.end()) {
        found = *at;
        taken[i] = true;
      } else if (is_type && choice.group == 0) {
        return false;
      }
    }
    if (found.empty()) return false;
    if (is_type) next_type = i;
    if (form) note(*form, found, is_type);
  }
  std::vector<i8> groups(syntax.groups + 1, -1);  // -1: nothing known, 0: left out, 1: there
  for (std::size_t i = 0; i < taken.size(); ++i) {
    i8& group = groups[syntax.choices[i].group];
    if (syntax.choices[i].group == 0 ? !taken[i] : group >= 0 && group != i8(taken[i])) return false;
    group = i8(taken[i]);
  }
  return true;
}

std::string quoted(std::string_view word) {
  std::string text = "'";
  text += word;
  return text += '\'';
}

// Whether it is one modifier that does not go with the state space: each without the other is taken.
std::string refuse_in_space(std::string_view opcode, const std::vector<Entry>& entries,
                            std::span<const std::string> words) {
  const auto fits_without = [&](const std::string& left_out) {
    std::vector<std::string> rest(words.begin(), words.end());
    rest.erase(std::find(rest.begin(), rest.end(), left_out));
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& entry) { return fits(entry.syntax, rest, nullptr); });
  };
  for (const std::string& space : words) {
    if (std::find(std::begin(kSpaces), std::end(kSpaces), space) == std::end(kSpaces) || !fits_without(space)) continue;
    for (const std::string& word : words) {
      if (word == space || type_named(word) != Type::none || !fits_without(word)) continue;
      return "Modifier '." + word + "' cannot be applied to '." + space + "' space for instruction " + quoted(opcode);
    }
  }
  return "";
}

// Why no row of `opcode` takes these words.
std::string refuse(std::string_view opcode, const std::vector<Entry>& entries, std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (!is_known(word)) return "Unknown modifier '." + word + "'";
  }
  std::set<std::string_view> admitted;
  for (const Entry& entry : entries) {
    for (const Choice& choice : entry.syntax.choices)
      admitted.insert(choice.alternatives.begin(), choice.alternatives.end());
  }
  std::set<std::string_view> seen;
  for (const std::string& word : words) {
    const bool is_type = type_named(word) != Type::none;
    if (admitted.count(word) == 0) {
      if (is_type) return "Unexpected instruction types specified for " + quoted(opcode);
      return "Illegal modifier '." + word + "' for instruction " + quoted(opcode);
    }
    if (!is_type && !seen.insert(word).second) return "Duplicate ." + word + " modifier";
  }
  if (const std::string text = refuse_in_space(opcode, entries, words); !text.empty()) return text;
  std::vector<std::string> types;
  std::string all;
  for (const std::string& word : words) {
    if (type_named(word) != Type::none) types.push_back(word);
    all += "." + word;
  }
  const bool types_known = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    Syntax only_types;
    only_types.groups = entry.syntax.groups;
    for (const Choice& choice : entry.syntax.choices) {
      if (choice.is_type) only_types.choices.push_back(choice);
    }
    return fits(only_types, types, nullptr);
  });
  if (!types_known) return "Unexpected instruction types specified for " + quoted(opcode);
  return "Illegal modifier combination '" + all + "' for instruction " + quoted(opcode);
}

// What PTX has and a device up to sm_90a does not, or this simulator does not: refused by name all the same.
constexpr std::string_view kNotSimulated[] = {"tcgen05", "clusterlaunchcontrol", "istypep"};

Match search(std::string_view opcode, std::span<const std::string> words) {
  Match match;
  const auto found = table().find(opcode);
  if (found == table().end()) {
    const bool known = std::find(std::begin(kNotSimulated), std::end(kNotSimulated), opcode) != std::end(kNotSimulated);
    match.not_simulated = known;
    match.refusal = known ? "Instruction " + quoted(opcode) + " is not simulated"
                          : "Not a name of any known instruction: " + quoted(opcode);
    return match;
  }
  const std::vector<Entry>& entries = found->second.taken_apart();
  for (const Entry& entry : entries) {
    Form form;
    form.opcode = entry.syntax.opcode;
    if (!fits(entry.syntax, words, &form)) continue;
    match.row = entry.row;
    match.operands = &entry.operands;
    match.form = std::move(form);
    return match;
  }
  match.refusal = refuse(opcode, entries, words);
  return match;
}

u64 parse_number(std::string_view text) {
  u64 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::logic_error("not a number: " + std::string(text));
  return number;
}

// "4|8", "24-256/8"
OperandRule::Numbers parse_numbers(std::string_view text) {
  OperandRule::Numbers numbers;
  if (const std::size_t slash = text.find('/'); slash != text.npos) {
    numbers.step = parse_number(text.substr(slash + 1));
    text = text.substr(0, slash);
  }
  if (const std::size_t dash = text.find('-'); dash != text.npos) {
    numbers.from = parse_number(text.substr(0, dash));
    numbers.to = parse_number(text.substr(dash + 1));
  } else {
    for (const std::string_view word : split(text, '|')) numbers.some.push_back(parse_number(word));
  }
  return numbers;
}

// Long because it reads the notation's marks from the outside in, a line or two for each.
OperandRule parse_operand(std::string_view text, const Row& row) {
  const auto wrong = [&] {
    return std::logic_error("operand '" + std::string(text) + "' of " + row.syntax + " is none");
  };
  OperandRule rule;
  const auto skip = [&text](std::string_view mark, bool front) {
    const bool there = front ? text.starts_with(mark) : text.ends_with(mark);
    if (there && front) text.remove_prefix(mark.size());
    if (there && !front) text.remove_suffix(mark.size());
    return there;
  };
  rule.written = skip("=", true);
  if (skip("+", true)) rule.written = rule.updated = true;
  if (skip("|", true)) rule.second = rule.written = rule.optional = true;
  if (rule.second && text == "-") {
    rule.never = true;
    text = "pred";
  }
  if (skip("?", false)) rule.optional = true;
  if (skip("_", false)) rule.discardable = true;
  if (text.ends_with(')')) {
    const std::size_t open = text.find('(');
    if (open == text.npos) throw wrong();
    rule.numbers = parse_numbers(text.substr(open + 1, text.size() - open - 2));
    text = text.substr(0, open);
  }
  if (skip("!", false)) {
    rule.must = true;
    if (rule.second) rule.optional = false;
  }
  rule.or_predicate = skip("^pred", false);
  rule.or_fragment = skip("^{b32}4", false);
  rule.selected = skip(".sel", false);
  if (skip("{", true)) {
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos || close + 1 >= text.size()) throw wrong();
    const std::string_view count = text.substr(close + 1);
    rule.vector = true;
    rule.elements = count == "v" ? OperandRule::kVector : 0;
    for (const char c : count == "v" ? "" : count) {
      if (c < '0' || c > '9') throw wrong();
      rule.elements = rule.elements * 10 + u32(c - '0');
    }
    text = text.substr(0, close);
  }
  rule.wider = skip("~", false);
  if (text == "[m]") {
    rule.kind = OperandRule::memory;
  } else if (text == "label") {
    rule.kind = OperandRule::label;
  } else if (text == "func") {
    rule.kind = OperandRule::function;
  } else if (text == "imm") {
    rule.kind = OperandRule::immediate;
  } else if (text == "barrier" || text == "threads") {
    rule.type = Type::u32;
    rule.means = text == "barrier" ? OperandRule::barrier : OperandRule::threads;
  } else if (text.size() == 2 && (text[0] == 't' || text[0] == 'w') && text[1] >= '0' && text[1] <= '3') {
    rule.of = i8(text[1] - '0');
    rule.twice = text[0] == 'w';
  } else {
    rule.type = type_named(text);
    if (rule.type == Type::none) throw wrong();
  }
  return rule;
}

void expand(const Syntax& syntax, std::size_t place, u32 groups, std::string text, std::size_t limit,
            std::vector<std::string>& out) {
  if (out.size() >= limit) return;
  if (place == syntax.choices.size()) {
    out.push_back(std::move(text));
    return;
  }
  const Choice& p = syntax.choices[place];
  if (p.group != 0 && (groups >> p.group & 1) == 0) return expand(syntax, place + 1, groups, text, limit, out);
  for (const std::string_view word : p.alternatives) {
    expand(syntax, place + 1, groups, text + "." + std::string(word), limit, out);
  }
}

}  // namespace

bool Form::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

u32 width(const OperandRule& rule, const Form& form) {
  const Type type = rule.of < 0 ? rule.type : form.type[std::size_t(rule.of)];
  return bytes(type) * (rule.twice ? 2 : 1);
}

bool OperandRule::Numbers::operator()(u64 number) const {
  if (!some.empty()) return std::find(some.begin(), some.end(), number) != some.end();
  return number >= from && number <= to && number % step == 0;
}
std::string OperandRule::Numbers::text() const {
  std::string all;
  for (const u64 each : some) all += (all.empty() ? "" : " or ") + std::to_string(each);
  if (!all.empty()) return all;
  if (is_range()) return "[" + std::to_string(from) + ".." + std::to_string(to) + "]";
  return "a multiple of " + std::to_string(step) + " from " + std::to_string(from) + " to " + std::to_string(to);
}

std::vector<OperandRule> rules(const Row& row) {
  std::vector<OperandRule> result;
  for (const std::string_view word : split(row.operands, ' ')) result.push_back(parse_operand(word, row));
  return result;
}

// Programs repeat a few hundred forms tens of thousands of times, so what was found once is kept. Only what a row
// admits is kept, which bounds the memory whatever programs write.
Match match(std::string_view opcode, std::span<const std::string> modifiers) {
  static std::shared_mutex mutex;
  static auto& known = *new std::unordered_map<std::string, Match>;
  std::string key(opcode);
  for (const std::string& word : modifiers) {
    key += '.';
    key += word;
  }
  {
    const std::shared_lock lock(mutex);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
  }
  Match result = search(opcode, modifiers);
  if (result.row) {
    const std::unique_lock lock(mutex);
    known.emplace(std::move(key), result);
  }
  return result;
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const Family& family : families()) rows.insert(rows.end(), family.rows.begin(), family.rows.end());
  return rows;
}

Class own_class(const Row& row) {
  if (row.traits >= kClass) return static_cast<Class>(row.traits / kClass - 1);
  for (const Family& family : families()) {
    const Row* begin = family.rows.data();
    if (!std::less<>()(&row, begin) && std::less<>()(&row, begin + family.rows.size())) return family.kind;
  }
  return Class::other;
}

std::vector<std::string> forms(const Row& row, std::size_t limit) {
  const Syntax syntax = parse_syntax(row.syntax);
  std::vector<std::string> result;
  for (u32 groups = 0; groups < 1u << syntax.groups; ++groups) {
    expand(syntax, 0, groups << 1, std::string(syntax.opcode), limit, result);
  }
  return result;
}

std::vector<Alternatives> alternatives(const Row& row) {
  std::vector<Alternatives> result;
  for (Choice& choice : parse_syntax(row.syntax).choices)
    result.push_back({std::move(choice.alternatives), choice.is_type});
  return result;
}

}  // namespace cudasim
