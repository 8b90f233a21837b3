// The parser's parts: parse.cpp reads directives and declarations, parse_body.cpp the insides of functions.
#pragma once
#include "common/simulator/ptx/constant.hpp"
#include "common/simulator/ptx/cursor.hpp"

#include <array>
#include <map>
#include <optional>
#include <unordered_set>

namespace cudasim {
struct SamplerState;
}

namespace cudasim::ptx {

class Parser {
 public:
  Parser(std::string_view text, std::size_t limit);
  Parsed run();

 private:
  struct Linking {  // .extern, .visible, .weak, .common before a declaration
    Linkage linkage = Linkage::local;
    Position at;
  };
  // What the declaration of a variable or parameter says before the first name.
  struct Shape {
    Space space = Space::generic;
    Type type = Type::none;
    u32 vector = 1;
    u32 align = 0;  // 0: the natural one
    u32 bank = 0;   // .const[bank]
    bool managed = false, unified = false, pointer = false;
  };

  // Module scope.
  void header();
  void item();
  void version();
  void target();
  void address_size();
  void file();
  void section();
  void section_value(Type type);
  void pragma();
  void alias();
  void dwarf_line();
  Linking linking();
  void function(const Linking& linking, bool is_entry);
  bool tuning_directive(Function& function);
  bool calling_directive(bool& noreturn);
  void check_tuning(const Function& function);
  Dim3 dimensions(const char* directive);
  u32 count();
  u32 positive(const char* directive);
  u32 angle_count();
  static u32 checked_count(i64 value, Position at);

  // Declarations. A variable's are read into `into`, wherever that is.
  Shape shape(Space space);
  bool shape_part(Shape& shape);
  void check_declared_type(const Shape& shape, Position at);
  void attribute(Shape& shape);
  u32 alignment();
  u32 bank();
  std::optional<Space> variable_space() const;
  std::vector<Variable> variables(Space space, Linkage linkage);
  std::vector<Variable> variable(const Shape& shape, Linkage linkage);
  std::vector<u64> array(bool& open);
  void opaque_state(Variable& variable);
  void opaque_field(SamplerState& state, std::string_view field);
  void measure(Variable& variable, bool open);
  std::vector<Parameter> parameters();
  Parameter parameter();
  void check_alignment(const std::string& name, u32 align, Position at);
  void check_incomplete(const std::vector<Parameter>& results, const std::vector<Parameter>& parameters);
  void check_signature(const Function& function);
  struct Initialiser;

  // Bodies.
  void body(Function& function);
  void body_item();
  void open_scope();
  void registers();
  std::vector<Register> registers_declared();
  void refuse_module_scope(Position at, const char* space);
  bool declare(Position at, const std::string& name, u32 count = 0);
  void parameter_in_body(const Variable& variable);
  void body_variables();
  void label();
  void branch_targets(std::string name);
  void call_prototype(std::string name);
  void location();
  void statement();
  void call_operands(Statement& statement);
  Operand call_list();
  Operand operand(int depth = 0);
  Operand plain_operand(int depth);
  Operand vector_operand(int depth);
  Operand memory_operand(int depth);
  Operand named_operand();
  void recover();

  // Errors.
  void require(std::string_view word, Position at);
  bool accept_directive(std::string_view word);
  void error(Position at, std::string message, Diagnostic::Kind kind = Diagnostic::syntax);
  bool full() const { return stopped_ || parsed_.errors.size() >= limit_; }

  Cursor cursor_;
  std::size_t limit_;
  Parsed parsed_;
  u32 last_error_line_ = 0;
  bool stopped_ = false;  // by a fatal error
  std::optional<Position> debug_at_;    // of .target debug
  bool has_debug_information_ = false;  // a .section, or a line of @@DWARF
  // For the body that is being read.
  Function* function_ = nullptr;
  std::vector<u32> open_scopes_;
  SourceLine source_;
  std::map<std::array<u32, 3>, std::pair<u32, u32>> inlined_;  // .loc → the outermost call's file and line
  std::unordered_set<std::string> declared_;                   // "scope:name", to find what is declared twice
  struct Family {                                              // x<n>
    u32 scope;
    std::string name;
    u32 count;
  };
  std::vector<Family> families_;
  // Module scope, as far as it has been read: what an initialiser may name.
  std::unordered_set<std::string> known_variables_, known_functions_;
};

}  // namespace cudasim::ptx
