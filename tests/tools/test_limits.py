"""The limits for all sources: a file has at most 600 lines, a function 60 and a test case 80, unless it is a table or a comment above it gives
the reason."""

import ast
import re

import pytest

from course import ROOT
from course.test.texts import files_of_repository

LINES_OF_A_FILE, LINES_OF_A_FUNCTION, LINES_OF_A_TEST = 600, 60, 80
CPP = (".cpp", ".hpp", ".cu", ".cuh", ".h")  # a .inc is a table
REASON = re.compile(r"\b(?:long|longer|table|lines)\b", re.IGNORECASE)  # in the comment above a function that is longer
TEST = re.compile(r"(?:TEST_CASE|FRESH_CASE|SCENARIO)\w*\s*\(")
STATEMENT = re.compile(r"(?:^|[^\w])(?:if|for|while|switch|catch|else|do|return|namespace|struct|class|union|enum|requires)\b(?!.*\boperator\b)")
SIGNATURE = re.compile(r"[\w>\])~]\s*\([^{}]*\)\s*(?:const|noexcept|override|final|mutable|&&?|->\s*[\w:<>,&*\s]+|:\s*[\w:<>]+[({].*|\s)*$", re.DOTALL)


def without_words(source):
    """C++ without comments, strings and characters, each replaced by spaces, so that lines stay."""
    pattern = r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found.group(0)), source, flags=re.DOTALL)


def functions_in_cpp(source):
    """[(first line, last line, signature)] of the functions of a file, by their braces; what is inside a function is a part of it."""
    plain, found, opened, since = without_words(source), [], [], 0
    for match in re.finditer(r"[{};]", plain):
        place, sign = match.start(), match.group()
        if sign == "{":
            before = plain[since:place]
            head = "\n".join(line for line in before.splitlines() if not line.lstrip().startswith("#")).strip()
            is_function = not any(inside for inside, *_ in opened) and bool(SIGNATURE.search(head)) and not STATEMENT.search(head.split("(")[0])
            begins = plain.count("\n", 0, since + len(before) - len(before.lstrip())) + 1
            opened.append((is_function, begins, " ".join(head.split())[:100]))
        elif sign == "}" and opened:
            is_function, begins, head = opened.pop()
            if is_function:
                found.append((begins, plain.count("\n", 0, place) + 1, head))
        since = match.end()
    return found


def functions_in_python(source):
    return [(node.lineno, node.end_lineno, node.name) for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def has_reason(lines, begins):
    """Does the comment above line `begins`, or the first comment in the function, give a reason?"""
    above = []
    for line in reversed(lines[: begins - 1]):
        if not line.lstrip().startswith(("//", "#", "///", "*")):
            break
        above.append(line)
    return bool(REASON.search("\n".join(above + lines[begins : begins + 3])))


def is_table(what, body):
    """Is it a list of cases, or another one of rows? Then few of its lines end a statement."""
    if re.search(r"\b(?:\w+_)?cases\(", what):
        return True
    statements = [line for line in body if line.rstrip().endswith((";", ":")) or re.match(r"\s*(?:if|for|while|return)\b", line)]
    return len(statements) * 5 < len(body)


def too_long(name, source):
    """A sentence for a file, and for each of its functions, that is too long."""
    lines = source.splitlines()
    problems = [f"{name} has {len(lines)} lines; a file has at most {LINES_OF_A_FILE}"] if len(lines) > LINES_OF_A_FILE else []
    functions = functions_in_python(source) if name.endswith(".py") else functions_in_cpp(source)
    for begins, ends, what in functions:
        length, most = ends - begins + 1, LINES_OF_A_TEST if TEST.match(what) else LINES_OF_A_FUNCTION
        is_excused = name.endswith(CPP) and is_table(what, without_words(source).splitlines()[begins:ends]) or has_reason(lines, begins)
        if length > most and not is_excused:
            problems.append(f"{name}:{begins}: {what} has {length} lines; at most {most} are read, unless the comment above gives a reason")
    return problems


def sources():
    return sorted(file for file in files_of_repository() if file.endswith((".py", *CPP)))


@pytest.mark.parametrize("kind", ["C++ and CUDA", "Python"])
def test_no_file_and_no_function_is_too_long(kind):
    files = [file for file in sources() if file.endswith(".py") == (kind == "Python")]
    problems = [problem for file in files for problem in too_long(file, (ROOT / file).read_text(encoding="utf-8"))]
    assert files and not problems, "\n".join(problems)


def long_body(lines, inside):
    return "".join(f"  {inside}\n" for _ in range(lines))


@pytest.mark.parametrize(
    "name, head, inside, tail",
    [
        ("a.cpp", "static std::vector<int> f(const char* text, int n = 3) {\n", 'if (n) { g("}"); }', "}\n"),
        ("a.cpp", "namespace a {\nstruct S {\n  S(int x) : x_{x}, y_(2) {\n", "run([&] { return 1; });", "  }\n};\n}\n"),
        ("a.cpp", "template <typename T>\nauto S<T>::f() const noexcept -> int {\n", "for (;;) { g(); }  // }", "}\n"),
        ("a.cu", 'extern "C" __global__ void __launch_bounds__(256) f(float* x) {\n', "x[0] = 1;  // {", "}\n"),
        ("a.cpp", 'TEST_CASE("a sentence") {\n', "CHECK(x);", "}\n"),
        ("a.py", "def f(x):\n", "x = {1: 2}", "  return x\n"),
    ],
)
def test_a_long_function_is_found_and_a_short_one_is_not(name, head, inside, tail):
    assert too_long(name, head + long_body(30, inside) + tail) == []
    most = LINES_OF_A_TEST if head.startswith("TEST") else LINES_OF_A_FUNCTION
    (problem,) = too_long(name, head + long_body(most, inside) + tail)
    assert f"at most {most} are read" in problem, problem
    comment = "# " if name.endswith(".py") else "// "
    excused = head.replace("  S(", f"  {comment}It is long because of this.\n  S(") if "  S(" in head else f"{comment}It is long because of this.\n{head}"
    assert too_long(name, excused + long_body(most, inside) + tail) == []


def test_a_long_file_is_found():
    assert too_long("a.cpp", "int a;\n" * 600) == [] and too_long("a.cpp", "int a;\n" * 601) == ["a.cpp has 601 lines; a file has at most 600"]


def test_a_table_or_a_class_is_no_function():
    assert too_long("a.cpp", "std::vector<Row> rows() {\n  return {\n" + '      {1, "a"},\n' * 100 + "  };\n}\n") == []
    assert functions_in_cpp("const int table[] = {\n" + "  f(1), {2},\n" * 100 + "};\n") == []
    assert functions_in_cpp("struct S {\n" + "  int x;\n" * 100 + "};\n") == []
    assert [head for *_, head in functions_in_cpp("struct S {\n  int f() {\n    if (a) {\n    }\n  }\n  void g() {}\n};\n")] == ["int f()", "void g()"]
