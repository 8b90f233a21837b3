// The instruction table itself: its notation, that no form is ambiguous, that every form has a function, and what is
// said of forms that do not exist.
#include "common/simulator/isa/row.hpp"
#include "common/simulator/isa/sets.hpp"
#include "common/simulator/ptx/notes.hpp"
#include "tests/catch.hpp"
#include "tests/simulator/forms.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>

using namespace cudasim;

namespace {

constexpr std::size_t kForms = 4000;  // of one row, at most

// Does the form bind with registers as wide as the types, with or without the operands that may be left out?
bool binds(const Match& found) {
  for (const bool optional : {false, true}) {
    Form form = found.form;
    std::size_t k = 0;
    for (const OperandRule& rule : *found.operands) {
      form.width.at(std::min<std::size_t>(k++, 7)) = rule.optional && !optional ? u8{0} : u8(width(rule, form));
    }
    if (found.row->bind(form).run) return true;
  }
  return false;
}

}  // namespace

// The next case runs this one in a process of its own. The handler runs after what the first find() makes would have
// been destroyed, because it was registered before.
TEST_CASE("looks up an instruction when the program has ended", "[.]") {
  std::atexit([] { _exit(find("add.u32").row && find("sub.u32").row ? 0 : 1); });
  CHECK(find("add.u32").row);
}

TEST_CASE("a program that ends can still load modules, for other threads may be at it") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    execl("/proc/self/exe", "check", "looks up an instruction when the program has ended", "-o", "/dev/null", nullptr);
    _exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("every row's syntax and operands can be read") {
  for (const Row& row : all_rows()) {
    CAPTURE(row.syntax, row.operands);
    CHECK_NOTHROW(rules(row));
    CHECK_FALSE(forms(row, kForms).empty());
    CHECK(std::string(row.syntax).find("..") == std::string::npos);
  }
}

TEST_CASE("no form belongs to two rows, and each is found, its modifiers in any order") {
  std::map<std::string, std::string> owner;  // sorted modifiers and types as written → the row
  for (const Row& row : all_rows()) {
    for (const std::string& form : forms(row, kForms)) {
      const Match found = find(form);
      CAPTURE(form);
      REQUIRE(found.row != nullptr);
      if (found.row->syntax != std::string(row.syntax))
        FAIL(form << " is in " << row.syntax << " and " << found.row->syntax);
      if (!owner.emplace(form, row.syntax).second) FAIL(form << " is twice in the table");
      // Modifiers behind the types, back to front.
      auto words = modifiers(form);
      std::stable_partition(words.begin(), words.end(),
                            [](const std::string& word) { return type_named(word) != Type::none; });
      const Match shuffled = match(form.substr(0, form.find('.')), words);
      REQUIRE(shuffled.row == found.row);
    }
  }
}

TEST_CASE("every form of a simulated target has a function") {
  for (const Row& row : all_rows()) {
    if (!row.bind) {
      CAPTURE(row.syntax);
      CHECK(row.target > 90);
      continue;
    }
    for (const std::string& form : forms(row, kForms)) {
      if (form.rfind("cvt.sat.", 0) == 0) continue;  // some of them cannot saturate
      CAPTURE(form);
      CHECK(binds(find(form)));
    }
  }
}

TEST_CASE("the class of an instruction is its row's, and that of an access to memory also its state space's") {
  const auto class_name = [](const std::string& form) -> std::string {
    return name(class_of(find(form).row, modifiers(form)));
  };
  CHECK(class_name("add.u32") == "integer");
  CHECK(class_name("add.f16x2") == "floating");
  CHECK(class_name("prmt.b32") == "move");
  CHECK(class_name("testp.finite.f32") == "compare");
  CHECK(class_name("cp.async.ca.shared.global") == "cp.async");
  CHECK(class_name("cp.async.wait_all") == "barrier");
  CHECK(class_name("cp.async.bulk.global.shared::cta.bulk_group") == "other memory");
  CHECK(class_name("mbarrier.init.b64") == "barrier");
  CHECK(class_name("prefetch.L1") == "other memory");
  CHECK(class_name("alloca.u64") == "other");
  CHECK(class_name("ld.shared::cta.u32") == "ld.shared");
  CHECK(class_name("ld.param.u32") == "ld.const");
  CHECK(class_name("st.u32") == "other memory");
  CHECK(class_name("red.global.add.u32") == "atom.global");
  CHECK(class_of(nullptr, {"uni"}) == Class::control);
}

TEST_CASE("volatile accesses to local memory are as new as PTX 9.1") {
  REQUIRE((find("ld.volatile.local.v2.f32").row && find("st.volatile.local.u8").row));
  CHECK((find("ld.volatile.local.v2.f32").row->ptx == 91 && find("st.volatile.local.u8").row->ptx == 91));
  CHECK(find("ld.volatile.shared.f32").row->ptx == 0);
}

TEST_CASE("a row says which numbers an operand may be") {
  const auto numbers = [](const char* operand) { return rules(Row{"x.u32", operand, nullptr}).at(0).numbers.value(); };
  const auto some = numbers("u32(4|8|16)");
  CHECK((some(4) && some(8) && some(16) && !some(0) && !some(5) && !some(32)));
  CHECK(some.text() == "4 or 8 or 16");
  const auto range = numbers("imm(24-256/8)");
  CHECK((range(24) && range(256) && !range(16) && !range(25) && !range(264)));
  CHECK(range.text() == "a multiple of 8 from 24 to 256");
  CHECK(numbers("b32!(128)").text() == "128");
  for (const char* wrong : {"u32(", "u32()x", "u32(a)", "u32(4-)", "nonsense", "|"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(rules(Row{"x.u32", wrong, nullptr}), std::logic_error);
  }
}

TEST_CASE("sets have names of their own") {
  for (const ModifierSet& set : kSets) {
    CAPTURE(set.name);
    CHECK(type_named(set.name) == Type::none);
    CHECK(find("add." + std::string(set.name)).refusal == "Unknown modifier '." + std::string(set.name) + "'");
  }
}

TEST_CASE("what no row admits is refused by name") {
  CHECK(find("frobnicate.u32").refusal == "Not a name of any known instruction: 'frobnicate'");
  CHECK(find("add.foo.u32").refusal == "Unknown modifier '.foo'");
  CHECK(find("add.wide.u32").refusal == "Illegal modifier '.wide' for instruction 'add'");
  CHECK(find("add.u8").refusal == "Unexpected instruction types specified for 'add'");
  CHECK(find("add").refusal == "Unexpected instruction types specified for 'add'");
  CHECK(find("add.u32.u32").refusal == "Unexpected instruction types specified for 'add'");
  CHECK(find("add.ftz.ftz.f32").refusal == "Duplicate .ftz modifier");
  CHECK(find("add.sat.u32").refusal == "Illegal modifier combination '.sat.u32' for instruction 'add'");
  CHECK(find("add.rn.rz.f32").refusal == "Illegal modifier combination '.rn.rz.f32' for instruction 'add'");
  CHECK(find("ld.volatile.const.u32").refusal ==
        "Modifier '.volatile' cannot be applied to '.const' space for instruction 'ld'");
  CHECK(find("red.shared.L2::cache_hint.add.u32").refusal ==
        "Modifier '.L2::cache_hint' cannot be applied to '.shared' space for instruction 'red'");
  CHECK(find("ld.relaxed.gpu.local.u32").refusal ==
        "Illegal modifier combination '.relaxed.gpu.local.u32' for instruction 'ld'");
  CHECK(find("atom.exch.u32").refusal == "Illegal modifier combination '.exch.u32' for instruction 'atom'");
  CHECK(find("ld.mmio.relaxed.sys.v2.u32").refusal ==
        "Illegal modifier combination '.mmio.relaxed.sys.v2.u32' for instruction 'ld'");
  CHECK(find("tcgen05.fence").refusal == "Instruction 'tcgen05' is not simulated");
}
