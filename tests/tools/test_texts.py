"""Tests of the checker of texts and pictures."""

import contextlib
import pathlib
import tempfile
from unittest import mock

from course import ROOT, text
from course.lessons import Lesson
from course.test import pictures, texts


def refuses(call, *words):
    """Calls, expects a Problem, and returns what it says."""
    try:
        call(*words)
    except texts.Problem as problem:
        return str(problem)
    raise AssertionError("it was accepted")


def accepts(call, *words):
    """Does it return, and raise no Problem?"""
    try:
        call(*words)
    except texts.Problem:
        return False
    return True


def test_an_edit_replaces_lines_where_they_stand():
    assert texts.apply(["-  b;", "+  c;", "+  d;"], "  a;\n  b;\n  a;\n") == "  a;\n  c;\n  d;\n  a;\n"


def test_an_edit_may_have_several_hunks():
    assert texts.apply(["-a", "+A", "@@", "-c", "+C"], "a\nb\nc\n") == "A\nb\nC\n"


def test_an_edit_that_fits_nowhere_or_twice_is_refused():
    assert "0 places" in refuses(texts.apply, ["-x", "+y"], "a\nb\n")
    assert "2 places" in refuses(texts.apply, ["-a", "+b"], "a\na\n")
    assert "no line to find its place by" in refuses(texts.apply, ["+b"], "a\n")


def test_shown_output_is_compared_line_by_line():
    texts.compare(["one", "two"], ["one", "two  "], [])
    assert "-two" in refuses(texts.compare, ["one", "two"], ["one", "three"], [])
    assert "+two" in refuses(texts.compare, ["one"], ["one", "two"], [])


def test_what_varies_matches_anything_and_nothing_else_does():
    texts.compare(["device | NVIDIA H200 | 1.5 ms"], ["device | Simulated H200    | 27.25 ms"], ["NVIDIA H200", "1.5"])
    assert "-device" in refuses(texts.compare, ["device | 1.5 ms"], ["device | 27.25 s"], ["1.5"])


def test_a_literal_that_varies_must_occur_in_the_block():
    assert "does not occur" in refuses(texts.compare, ["one"], ["one"], ["two"])


def test_dots_stand_for_any_number_of_lines():
    dotted = ["one", "…", "four"]
    for between in ([], ["two"], ["two", "three"], ["one", "four"]):
        assert accepts(texts.compare, dotted, ["one", *between, "four"], []), between
    for printed in (["one", "two"], ["two", "four"], ["one", "four", "five"], ["zero", "one", "four"], ["four"], []):
        assert not accepts(texts.compare, dotted, printed, []), printed
    assert accepts(texts.compare, ["…"], [], []) and accepts(texts.compare, ["one", "…"], ["one"], []) and not accepts(texts.compare, ["one", "…"], [], [])


README = """# A lesson

<!-- varies: 7 -->
```console
$ make 02-context/03-current
seven is 7
$ make check        # in this folder
```

[here](#a-lesson) [there](nowhere.md) [not there](#nowhere) `tests/nothing.py` `tests/NN-chapter` `make everything`
"""


def test_a_text_copied_from_another_lessons_is_found():
    table = "[02-04 A lesson](04-new/README.md)"
    new = Lesson("02-context/04-new", frozenset())
    copied = "# 02-03 A lesson\n$ make 02-context/03-current\n"
    assert len(texts.misnamed(new, copied, table)) == 3
    assert texts.misnamed(new, copied.replace("02-03", "02-04").replace("03-current", "04-new"), table) == []
    assert texts.misnamed(new, "# 02-04 A lesson\n$ DEVICE=simulator make 02-context/04-new\n", "") == [
        "the table of 02-context/README.md is to have [02-04 A lesson](04-new/README.md)"
    ]


def test_a_console_block_is_cut_into_commands_with_their_output():
    first, second = texts.commands("README.md", README)
    assert first.targets() == ["02-context/03-current"] and first.shown == ["seven is 7"] and first.varies == ["7"]
    assert second.targets() == ["check"] and second.shown == []


def test_links_names_and_targets_that_lead_nowhere_are_found():
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        path = pathlib.Path(folder) / "README.md"
        path.write_text(README, encoding="utf-8")
        assert texts.broken_links(path, README) == ["a link leads nowhere: nowhere.md", "no heading for this link: #nowhere"]
        assert texts.broken_names(path, README, {"tests/run.py"}) == ["there is no `tests/nothing.py`"]
        assert texts.broken_targets(path, README, {"check", "02-context/03-current"}) == ["make has no target everything"]
        shorts = "`make 02-03` `make check 02` `make 02-99` `02-03` `02-99`"
        assert texts.broken_targets(path, shorts, {"check", "02-context", "02-context/03-current"}) == ["make has no target 02-99"]
        assert texts.broken_names(path, shorts, set()) == ["there is no `02-99`"]


def test_a_text_is_cut_into_sections():
    parts = text.sections("# Title\nIntro\n\n## Run\n```sh\n# no heading\n```\n\n## Next\nend\n")
    assert parts == [("Title", "Intro"), ("Run", "```sh\n# no heading\n```"), ("Next", "end")]


def test_a_picture_is_refused_for_what_nobody_would_see_in_it():
    style = "<style>text { font: 10px monospace } .end { text-anchor: end }</style>"
    drawn = lambda inside: f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50">{style}{inside}</svg>'
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "picture.svg"

        def problems(inside):
            file.write_text(drawn(inside), encoding="utf-8")
            return pictures.problems(file)

        assert problems('<text x="0" y="20">fifteen letters</text><path id="p" d="M0 0H9"/><use href="#p"/>') == []
        assert problems('<text x="20" y="20">fifteen letters</text>') == ["this text leaves the picture: fifteen letters"]
        assert problems('<g transform="translate(60 0)"><text class="end" x="0" y="20">fifteen letters</text></g>') != []
        assert problems('<text x="0" y="50">low</text>') != []
        assert problems('<title id="t">T</title><g id="t"/>') == ["two elements have the id t"]
        assert problems('<use href="#gone"/>') == ["nothing has the id gone"]
        assert "only the last piece" in problems('<path d="M0 0H9M0 9H9" marker-end="url(#tip)"/><marker id="tip"/>')[0]
        assert "is no SVG" in problems("<g>")[0]


def test_a_lesson_of_too_many_words_is_refused():
    lesson = pathlib.Path("/course/02-context/03-current/README.md")
    said = "[one](two/README.md) <!-- three --> `four` | - ![five](six.svg)\n\n```text\nseven\n```\n"
    with mock.patch.object(texts, "WORDS", 2), mock.patch.object(texts, "WORDS_OF_A_LADDER", 3):
        assert texts.too_long(lesson, said) == []
        assert texts.too_long(lesson, said + "and more") == ["4 words of prose: at most 2 are read"]
        assert texts.too_long(lesson, said + "and more\n<!-- varies: measured -->\n```console\n```\n") == ["4 words of prose: at most 3 are read"]
        assert texts.too_long(lesson.parents[1] / "README.md", said + "and more") == []


def test_tables_and_folded_parts_are_no_prose():
    lesson = pathlib.Path("/course/02-context/03-current/README.md")
    with mock.patch.object(texts, "WORDS", 2):
        assert texts.too_long(lesson, "one two\n\n| three | four |\n\n<details><summary>Hint</summary>\n\nfive\n</details>\n") == []


A_LESSON = """# 02-03 The stack

**Which context is current?**

The top one.

## Predict

## The code

```cpp
{code}
```

## Run

## What happened

## Break it

## Exercise

**References.** None.

> **For the teacher.** 5 minutes.
"""


@contextlib.contextmanager
def a_lesson_beside(source):
    """The path of a lesson's text in a course of its own, whose main.cpp is `source`."""
    with tempfile.TemporaryDirectory() as folder:
        lesson = pathlib.Path(folder) / "02-context" / "03-current"
        lesson.mkdir(parents=True)
        (pathlib.Path(folder) / "common").mkdir()
        (lesson / "main.cpp").write_text(source, encoding="utf-8")
        with mock.patch.object(texts, "ROOT", pathlib.Path(folder)):
            yield lesson / "README.md"


def test_quoted_code_is_equal_to_the_file_but_for_its_indentation():
    with a_lesson_beside("int main() {\n  if (a) {\n    b();\n  }\n}\n") as readme:
        assert texts.misquoted(readme, A_LESSON.format(code="if (a) {\n  b();\n}")) == []
        assert "line 11" in texts.misquoted(readme, A_LESSON.format(code="if (a) {\n  c();\n}"))[0]
        assert texts.misquoted(readme, A_LESSON.format(code="if (a) {\n}")) != []  # a line was left out


def test_code_may_be_quoted_from_a_subfolder_and_from_a_linked_file():
    with a_lesson_beside("") as readme:
        for folder in readme.parent / "package", readme.parents[1] / "04-other":
            folder.mkdir()
            (folder / "op.cpp").write_text(f"of_{folder.name[-5:]}();\n", encoding="utf-8")
        assert texts.misquoted(readme, A_LESSON.format(code="of_ckage();")) == []
        other = A_LESSON.format(code="of_other();")
        assert texts.misquoted(readme, other) != []
        assert texts.misquoted(readme, other + "[op](../04-other/op.cpp)\n") == []


def test_the_answer_to_an_exercise_is_not_quoted():
    with a_lesson_beside("") as readme:
        (readme.parent / "solution.cpp").write_text("answer();\n", encoding="utf-8")
        assert texts.misquoted(readme, A_LESSON.format(code="answer();") + "[one](solution.cpp)\n") != []


def test_a_lesson_has_its_sections_in_order():
    with a_lesson_beside("") as readme:
        assert texts.misshapen(readme, A_LESSON) == []
        assert "its sections are" in texts.misshapen(readme, A_LESSON.replace("## Run\n", ""))[0]
        assert texts.misshapen(readme, A_LESSON.replace("**Which context is current?**", "Contexts.")) == [
            "below the title, it does not begin with a question in bold"
        ]
        assert texts.misshapen(readme, A_LESSON.replace("**References.**", "See")) == ["it has no paragraph that begins with **References.**"]


def test_a_bold_term_links_to_the_glossary():
    with a_lesson_beside("") as readme:
        assert texts.unknown_terms(readme, A_LESSON + "**A lead-in.** A [**term**](../../common/glossary.md#term).\n") == []
        assert texts.unknown_terms(readme, A_LESSON + "A **term**.\n") == ["the bold term term does not link to common/glossary.md"]


def test_the_glossary_is_in_order_and_names_lessons():
    with a_lesson_beside(""):
        glossary = texts.ROOT / texts.GLOSSARY
        entry = "### {}\n\nA thing. Introduced in [02-03](../02-context/03-current/README.md).\n\n"
        assert texts.disordered_glossary(glossary, entry.format("b") + entry.format("c")) == []
        assert texts.disordered_glossary(glossary, entry.format("c") + entry.format("b")) == ["b comes after c"]
        assert texts.disordered_glossary(glossary, "### a\n\nA thing.\n") == ["a names no lesson"]


def test_a_part_beside_a_target_is_known():
    said = "`make walk 02-context` `make check 03-current` `make walk 02-contexts`"
    path = ROOT / "02-context" / "README.md"
    known = {"walk", "check", "02-context", "02-context/03-current"}
    assert texts.broken_targets(path, said, known) == ["make has no target 02-contexts"]


def test_what_make_would_refuse_is_not_shown():
    path = ROOT / "02-context" / "README.md"
    said = '`make book 02-context` `make 02-03 DEVICE=gpu` `make 02-03 COLOR=red` `make see 02-03 ONLY="kernel=a block=3"`'
    known = {"book", "see", "02-context", "02-context/03-current"}
    assert texts.broken_targets(path, said, known) == ["make book takes no part of the course: make book 02-context", "make has no variable COLOR=red"]
