"""A lesson's README as the trainer shows it: the question, the prediction, the exercise, the hints one by one."""

import dataclasses
import re

from course import history, text
from course.lessons import Lesson
from course.text import folded

# Where one hint ends and the next begins inside a paragraph: a full stop, not one of "e.g." or of a number, before a capital or code.
SENTENCE = re.compile(r"(?<=[a-z0-9`)*\]][.?!])\s+(?=[A-Z`*\"(])")


def plain(markdown: str) -> str:
    """Markdown without what a terminal cannot show: a link becomes its text, a picture a note. Blocks of code stay as they are."""
    lines, inside = [], False
    for line in markdown.splitlines():
        fence = re.match(r"\s*```", line)
        inside = inside != bool(fence)
        if not inside and not fence:
            line = re.sub(r"^#+ (.*)", r"**\1**", text.without_links(line))  # a heading would be put into the middle
        lines.append(line)
    return "\n".join(lines).strip("\n")


def first_of(sections: list[tuple[str, str]], heading: str) -> str:
    """The body of the first section whose heading begins with a word."""
    return next((body for name, body in sections if name.startswith(heading)), "")


def without_ending(body: str) -> str:
    """The exercise without `make check`, which the trainer replaces, and without what follows: a question about the film,
    references, notes for the teacher, navigation."""
    body = re.split(r"^(?:\*\*In the film|\*\*References|> \*\*For the teacher|---\s*$)", body, maxsplit=1, flags=re.MULTILINE)[0]
    body, found = re.subn(r"^```console\n\$ make check.*?^```\n?", "", body, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(?:^|\s)[A-Z][^.:?\n]*:\s*(?=\s*(?:<details|$))", "\n\n", body).strip() if found else body.strip()


def steps(hint: str) -> list[str]:
    """A folded hint, in the order in which it is shown: sentence by sentence. A block of code belongs to the sentence before it."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n(?=(?:[^`]*```[^`]*```)*[^`]*$)", hint.strip()):
        if re.match(r"\s*```", paragraph) and found:
            found[-1] += "\n\n" + paragraph
        elif "```" in paragraph or re.match(r"\s*(?:[-*|]|\d+\.) ?", paragraph):
            found.append(paragraph.strip())
        else:
            found += [sentence.strip() for sentence in SENTENCE.split(" ".join(paragraph.split())) if sentence.strip()]
    return found


@dataclasses.dataclass
class Reading:
    """The parts of a lesson's text; each is Markdown, and empty if the text does not have it."""

    title: str
    question: str  # the bold line
    idea: str  # what follows it
    predict: str
    results: list[tuple[str, str]]  # [(summary, what is folded)]
    exercise: str
    hints: list[str]
    whole: str  # without what is folded
    whole_with_results: str

    @property
    def asks(self) -> str:
        """A fingerprint of the question, kept with the prediction: it changes with the words of the question, not with the lines."""
        return history.fingerprint(" ".join(self.predict.split()).encode())

    @property
    def first_result(self) -> str:
        """The first sentence of the first result, without Markdown's marks."""
        return re.sub("[`*]", "", steps(self.results[0][1])[0]) if self.results and self.results[0][1] else ""


def read(lesson: Lesson) -> Reading:
    """The parts of a lesson's README; a text that is missing or has other sections leaves parts empty."""
    content = lesson.text or f"# {lesson}\n"
    (title, head), *sections = text.sections(content)
    found = re.match(r"\s*\*\*(.+?)\*\*\s*(.*)", head, re.DOTALL)
    question, idea = (found.group(1), found.group(2)) if found else ("", head)
    predict, results = folded(first_of(sections, "Predict"))
    exercise, hints = folded(without_ending(first_of(sections, "Exercise")))
    unfolded = text.FOLDED.sub(r"**\1:** \2", content)
    before_exercise, exercise_heading, after = unfolded.partition("\n## Exercise")
    return Reading(
        title=title.removesuffix(" ★"),
        question=question,
        idea=plain(idea),
        predict=plain(predict),
        results=[(summary, plain(body)) for summary, body in results],
        exercise=plain(exercise),
        hints=[step for _, body in hints for step in steps(plain(body))],
        whole=plain(folded(content)[0]),
        whole_with_results=plain(before_exercise + exercise_heading + folded(content.partition("\n## Exercise")[2])[0]),
    )
