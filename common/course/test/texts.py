"""Checks the texts: shown output is what comes out, edits do what the text says, links and file names and make targets exist.

  ```console   $ make 02-context/03-current, then exactly what the lesson's program prints on stdout. A line of only `…` stands for any lines.
  ```diff      an edit of main.cpp (or of the file that --- and +++ lines name); hunks are separated by lines that begin with @@
  ```text      after a diff: each line is found in what the edited program prints (stdout and stderr; its status is free;
               of one that a signal ends, make prints FAILED: and what the signal is)

Comments directly above a console or text block:
  <!-- varies: NVIDIA H200 | 13.0 -->   these literals stand for any text
  <!-- varies: measured -->             so do all numbers with a decimal point, the bars of a chart, and the lines of a timeline, [11 22]
  <!-- recorded: NVIDIA H200 -->        `make walk` shows the block where the simulator's figures are others (also where the name is among what varies)
  <!-- only: simulator -->              true on this device only (gpu, simulator, or second GPU, for two GPUs and more); skipped on others
  <!-- with: CUDA_VISIBLE_DEVICES=0 --> the commands are run with this in the environment, for machines that have more
"""

import difflib
import pathlib
import re
import shlex
import shutil
import subprocess

from course import ROOT, text
from course.commands import COMMANDS, VARIABLES, takes_part
from course.lessons import meant_by
from course.process import git, how_it_ended, run_limited

LIMIT = 60  # seconds for an edited program
LONGER = 240  # for one that imports PyTorch: on a busy machine, that alone is half a minute
WORDS = 1100  # in a lesson's prose, at most; about 900 is the aim
WORDS_OF_A_LADDER = 1800  # in a lesson that measures, where each rung has its figure and its explanation
GLOSSARY = "common/glossary.md"


class Problem(Exception):
    """What a text says that is not so."""


# ---- shown output --------------------------------------------------------------------------------------------------------


def pattern(shown, varies):
    """A shown line as a regular expression: literals that vary match anything, and so do the spaces of such a line."""
    present = sorted((literal for literal in varies if literal in shown), key=len, reverse=True)
    if not present:
        return re.escape(shown.rstrip())
    pieces = re.split("(" + "|".join(re.escape(literal) for literal in present) + ")", shown.rstrip())
    return "".join(".*?" if number % 2 else re.sub(r"(?:\\ )+", r" *", re.escape(piece)) for number, piece in enumerate(pieces))


def compare(shown, printed, varies):
    """Raises Problem with a diff unless the printed lines are the shown ones."""
    for literal in varies:
        if not any(literal in line for line in shown):
            raise Problem(f"the comment above says that '{literal}' varies, but it does not occur in the block")
    # Line by line: as one expression over all of them, a line that differs would have it try every way to match those before it.
    reached = {0}  # how many printed lines the shown lines so far may stand for
    for line in shown:
        if line.strip() in ("…", "..."):
            reached = set(range(min(reached), len(printed) + 1)) if reached else set()
        else:
            wanted = re.compile(pattern(line, varies))
            reached = {at + 1 for at in reached if at < len(printed) and wanted.fullmatch(printed[at].rstrip())}
    if len(printed) in reached:
        return
    as_printed = list(printed)
    for number, line in enumerate(as_printed):  # show only real differences
        for other in shown:
            if re.fullmatch(pattern(other, varies), line.rstrip()):
                as_printed[number] = other
    raise Problem("\n".join(difflib.unified_diff(shown, as_printed, "the text", "the program", lineterm="", n=1)))


class Command:
    """A command in a console block with the output shown below it."""

    def __init__(self, readme, block, line, shown):
        words = shlex.split(line, comments=True)
        self.environment = dict(setting.split("=", 1) for setting in block.notes.get("with", []))
        while words and re.match(r"[A-Za-z_]\w*=", words[0]):
            name, _, value = words.pop(0).partition("=")
            self.environment[name] = value
        self.words, self.shown, self.line = words, shown, line
        self.name = f"{readme}:{block.number}: $ {line}"
        self.varies, self.only = block.varies(), block.notes.get("only")

    def targets(self):
        return targets_in(self.words)


def targets_in(words):
    """The targets of a make command, else None: make walk 02-context has two."""
    if words[:1] != ["make"]:
        return None
    return [word for word in words[1:] if "=" not in word and not word.startswith("-") and word != "…"]


def commands(readme, content):
    """Every command of every console block."""
    found = []
    for block in text.blocks(content):
        if block.kind != "console":
            continue
        starts = [number for number, line in enumerate(block.lines) if line.startswith("$ ")]
        for start, end in zip(starts, starts[1:] + [len(block.lines)]):
            shown = block.lines[start + 1 : end]
            while shown and not shown[-1].strip():
                shown.pop()
            found.append(Command(readme, block, block.lines[start][2:], shown))
    return found


# ---- edits ---------------------------------------------------------------------------------------------------------------


def apply(diff, source):
    """The source with the diff's hunks applied; each hunk must fit in exactly one place."""
    lines = source.splitlines()
    hunk_before, hunk_after, at_least_one = [], [], False

    def replace():
        if not hunk_before and not hunk_after:
            return
        length = len(hunk_before)
        fits = [at for at in range(len(lines) - length + 1) if lines[at : at + length] == hunk_before]
        if not hunk_before or len(fits) != 1:
            where = "has no line to find its place by" if not hunk_before else f"fits in {len(fits)} places"
            raise Problem(f"the edit {where}:\n" + "\n".join(hunk_before or hunk_after))
        lines[fits[0] : fits[0] + length] = hunk_after

    for line in diff + ["@@"]:
        if line.startswith("@@"):
            replace()
            hunk_before, hunk_after = [], []
        elif line.startswith(("--- ", "+++ ")):
            continue
        else:
            at_least_one = True
            sign, rest = (line[0], line[1:]) if line else (" ", "")
            if sign not in " +-":
                raise Problem(f"a line of an edit begins with ' ', '+' or '-': {line}")
            if sign in " -":
                hunk_before.append(rest)
            if sign in " +":
                hunk_after.append(rest)
    if not at_least_one:
        raise Problem("the edit is empty")
    return "\n".join(lines) + "\n"


class Edit:
    """One or more diff blocks and the text block that says what then happens: a program of its own, build/texts/<lesson>/<n>/main."""

    def __init__(self, readme, lesson, number, diffs, block):
        self.name = f"{readme}:{diffs[0].number}: the edit"
        self.lesson, self.diffs, self.block = lesson, diffs, block
        self.folder = f"build/texts/{lesson}/{number}"
        self.file = lesson.main
        self.only = block.notes.get("only") if block else None
        self.problem = None

    def write(self):
        """Writes the edited sources, only where they changed, so that a second run builds nothing.

        What is not edited is not built again: make copies the lesson's program or kernels.ptx (common/make/lessons.mk), and a program in Python
        finds them where the lesson has them (common/built.py). op.cpp goes along with op.hpp.
        """
        edited = [(self.file_of(diff), diff) for diff in self.diffs]
        stems = {file.split(".")[0] for file, _ in edited}
        folders = {file.split("/")[0] for file, _ in edited if "/" in file}  # of a package, all files go along
        goes_along = (".py",) if self.lesson.is_python else (".cu", ".hpp")
        lesson = self.lesson.folder
        if not self.lesson.is_python and any(file.endswith(".hpp") for file, _ in edited):
            stems |= {"main", "kernels"}  # they include it
        if '#include "kernels.cu"' in (lesson / self.file).read_text(encoding="utf-8"):
            stems |= {"kernels"}
        sources = {
            str(path.relative_to(lesson)): path.read_text(encoding="utf-8")
            for path in [*lesson.iterdir(), *(path for folder in folders for path in (lesson / folder).rglob("*"))]
            if path.is_file() and (path.parent != lesson or path.stem in stems or path.suffix in goes_along and path.name != "kernels.cu")
        }
        for file, diff in edited:
            if file not in sources:
                raise Problem(f"the edit is of {file}, which the lesson does not have")
            sources[file] = apply(diff.lines, sources[file])
        folder, kept = ROOT / self.folder, {file.split("/")[0] for file in sources}
        others = [path for path in folder.glob("*") if path.suffix in (".py", ".cpp", ".cu", ".hpp") or (lesson / path.name).is_dir()]
        if any(path.name not in kept for path in others):  # of an edit that had this number before
            shutil.rmtree(folder)
        for file, content in sources.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text(encoding="utf-8") != content:
                path.write_text(content, encoding="utf-8")

    def targets(self):
        return self.lesson.built(self.folder)

    def file_of(self, diff):
        """The file that a diff is of: the program's, unless its +++ line names another."""
        named = [line[4:].strip() for line in diff.lines if line.startswith("+++ ")]
        return named[0] if named else self.file

    def run(self, device, run_python=run_limited):
        """Raises Problem unless the edited program prints every line of the text block. `run_python` runs a program in Python."""
        run, limit = (run_python, LONGER) if self.lesson.is_python else (run_limited, LIMIT)
        try:
            ended = run(
                self.lesson.program(self.folder),
                limit,
                env=device.environment_for(self.lesson),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except subprocess.TimeoutExpired:
            raise Problem(f"the edited program did not end within {limit} seconds") from None
        printed_lines = ended.stdout.splitlines()
        if ended.returncode:  # make tells, as course/run.py does
            printed_lines.append(f"FAILED: {self.lesson} {how_it_ended(ended.returncode)}")
        for line in self.block.lines if self.block else []:
            if line.strip() and not any(re.search(pattern(line.strip(), self.block.varies()), printed) for printed in printed_lines):
                raise Problem(f"not printed: {line}\nprinted ({how_it_ended(ended.returncode)}):\n{ended.stdout.rstrip()}")


def edits(readme, lesson, content):
    """The edits that a lesson's text suggests."""
    found, diffs = [], []
    for block in text.blocks(content):
        if block.kind == "diff":
            diffs.append(block)
        elif block.kind == "text" and diffs:
            found.append(Edit(readme, lesson, len(found) + 1, diffs, block))
            diffs = []
    if diffs:
        found.append(Edit(readme, lesson, len(found) + 1, diffs, None))
    return found


# ---- links, file names, targets ------------------------------------------------------------------------------------------

OURS = r"(?:cpp|cu|hpp|py|sh|mk|md|svg)"


def anchors(content):
    """The anchors of a text's headings, as the usual viewers make them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text.without_blocks(content), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).strip().lower()).replace(" ", "-")
        found.add(slug)
    return found


def broken_links(path, content):
    """Links and pictures that lead nowhere."""
    plain = re.sub(r"`[^`\n]*`", "", text.without_blocks(content))
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)", plain) + re.findall(r"<img[^>]*src=\"([^\"]+)\"", plain):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file) if file else path
        if not target.exists():
            broken.append(f"a link leads nowhere: {link}")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            broken.append(f"no heading for this link: {link}")
    return broken


def broken_names(path, content, files):
    """File names and folders in `code` that do not exist; `files` are all files of the repository, relative to its root."""
    broken = []
    names = {file.rsplit("/", 1)[-1] for file in files}
    folders = {"/".join(file.split("/")[:depth]) for file in files for depth in range(1, file.count("/") + 1)}
    for span in re.findall(r"`([^`\n]+)`", text.without_blocks(content)):
        is_file = re.fullmatch(rf"[\w./-]+\.{OURS}", span)
        is_lesson = re.fullmatch(r"\d\d-[\w-]+(?:/\d\d-[\w-]+)?/?", span)
        is_folder = re.fullmatch(r"(?:common|tests|\.ci)(?:/[\w.-]+)*/?", span)
        if not (is_file or is_lesson or is_folder) or span.startswith("build/"):
            continue
        if re.search(r"\b(?:NN|MM)-", span) or is_lesson and meant_by(span) != [span]:  # a pattern for names, or a short name
            continue
        here = path.parent.relative_to(ROOT) / span
        wanted = span.rstrip("/")
        exists = wanted in files or wanted in folders or str(here) in files or str(here) in folders
        if not exists and not ("/" not in span and span in names):
            broken.append(f"there is no `{span}`")
    return broken


def broken_targets(path, content, known):
    """make commands in `code` and console blocks that make would refuse. `known`: all targets, chapters and lessons."""
    said = [command.words for command in commands(path, content)]
    said += [shlex.split(span) for span in re.findall(r"`(make(?: [^`\n]*)?)`", text.without_blocks(content))]
    chapter = pathlib.Path(path).parent.name  # in its folder, a lesson goes by its own name
    broken = []
    for words in said:
        targets = targets_in(words) or []
        unknown = [target for target in targets if not known & {target.rstrip("/"), f"{chapter}/{target.rstrip('/')}", *meant_by(target.rstrip("/"))}]
        broken += [f"make has no target {target}" for target in unknown]
        broken += [f"make has no variable {word}" for word in words if targets and "=" in word and word.partition("=")[0] not in VARIABLES]
        if targets[1:] and targets[0] in COMMANDS and not takes_part(targets[0]):
            broken.append(f"make {targets[0]} takes no part of the course: {' '.join(words)}")
    return broken


def misnamed(lesson, content, chapters_content):
    """Where a lesson's text, copied from another's, names that one still: its title, its first command, and its chapter's table."""
    title = re.match(r"# (.*)", content)
    title = title.group(1) if title else ""
    wrong = [] if title.startswith(lesson.number + " ") else [f"its title is to begin with {lesson.number}: # {title}"]
    commanded = re.search(r"^\$ (?:\w+=\S* )*make (\S+)", content, re.MULTILINE)
    if not commanded or commanded.group(1) != lesson.name:
        wrong.append(f"the first command it shows is to be $ make {lesson}")
    row = f"[{title.removesuffix(' ★')}]({lesson.folder_name}/README.md)"
    if row not in chapters_content:
        wrong.append(f"the table of {lesson.chapter}/README.md is to have {row}")
    return wrong


def prose(content):
    """What counts as prose: no code, tables, folded parts, comments, or link targets."""
    plain = re.sub(r"<!--.*?-->|<details>.*?</details>", "", text.without_blocks(content), flags=re.DOTALL)
    plain = "\n".join(line for line in plain.splitlines() if not line.lstrip().startswith("|"))
    return re.sub(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|</?[a-z]+>", " ", plain)


def is_lesson_text(path):
    return bool(re.search(r"/\d\d-[\w-]+/\d\d-[\w-]+/README\.md$", str(path)))


def too_long(path, content):
    """A lesson with more words of prose than WORDS, or WORDS_OF_A_LADDER if it measures."""
    if not is_lesson_text(path):
        return []
    measures = any("measured" in block.notes.get("varies", []) for block in text.blocks(content))
    limit = WORDS_OF_A_LADDER if measures else WORDS
    count = sum(1 for word in prose(content).split() if re.search(r"\w", word))
    return [f"{count} words of prose: at most {limit} are read"] if count > limit else []


# ---- the shape of a lesson, its quotations and its terms ---------------------------------------------------------------------

SHAPE = ["Predict", "The code", "Run", "What happened", "Break it", "Exercise"]
QUOTED = ("cpp", "cuda", "python", "make", "cmake")


def is_second_edition(content):
    """Lessons of the first edition do not show their code. They are not held to the shape."""
    return "\n## The code\n" in content


def misshapen(path, content):
    """Sections of style.md's lesson that are missing or out of order, and prose without a question or references."""
    if not is_lesson_text(path) or not is_second_edition(content):
        return []
    headings = [heading for heading, _ in text.sections(content)[1:]]
    problems = []
    if headings != SHAPE:
        problems.append(f"its sections are {', '.join(headings)}; a lesson has {', '.join(SHAPE)}")
    if not re.match(r"# [^\n]+\n\n\*\*[^\n]+\?\*\*\n", content):
        problems.append("below the title, it does not begin with a question in bold")
    for part in ("**References.**", "> **For the teacher.**"):
        if part not in content:
            problems.append(f"it has no paragraph that begins with {part}")
    return problems


def unindented(lines):
    """The lines without the indentation that all of them share, and without trailing spaces. A preprocessor line has none."""
    lines = [line.rstrip() for line in lines]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line and not line.startswith("#")), default=0)
    return [line if line.startswith("#") else line[margin:] for line in lines]


def occurs_in(quoted, lines):
    length = len(quoted)
    return any(unindented(lines[at : at + length]) == quoted for at in range(len(lines) - length + 1))


def misquoted(path, content):
    """Quoted code that is in no file of the lesson's folder, its subfolders, or common/, and in no file that the text links to, as it is shown. Answers to exercises are not quoted."""
    if not is_lesson_text(path) or not is_second_edition(content):
        return []
    sources = [file for file in path.parent.rglob("*") if file.is_file() and file.suffix != ".md" and file.stem != "solution"]
    sources += [file for file in (ROOT / "common").iterdir() if file.is_file() and file.suffix != ".md"]
    linked = [path.parent / link for link in re.findall(r"\]\(([^)#:\s]+)\)", content)]
    sources += [file for file in linked if file.is_file() and file.suffix not in (".md", ".svg") and file.stem != "solution"]
    contents = None
    problems = []
    for block in text.blocks(content):
        if block.kind not in QUOTED:
            continue
        contents = contents or [file.read_text(encoding="utf-8", errors="replace").splitlines() for file in sources]
        if not any(occurs_in(unindented(block.lines), lines) for lines in contents):
            problems.append(
                f"line {block.number}: this code is in no file of the lesson or of common/, and in none that the text links to:\n" + "\n".join(block.lines)
            )
    return problems


def unknown_terms(path, content):
    """Bold terms that do not link to the glossary. A bold span that ends like a sentence is a lead-in, not a term."""
    if not is_lesson_text(path) or not is_second_edition(content):
        return []
    plain = re.sub(r"`[^`\n]*`", "X", text.without_blocks(content))
    return [
        f"the bold term {term} does not link to {GLOSSARY}"
        for before, term, after in re.findall(r"(\[?)\*\*([^*]+)\*\*(\]\([^)]*\))?", plain)
        if term[-1] not in ".?!:" and f"/{GLOSSARY}#" not in after
    ]


def disordered_glossary(path, content):
    """Terms of the glossary that are out of order, twice there, or without a lesson that introduces them."""
    if path != ROOT / GLOSSARY:
        return []
    terms = [(heading, body) for heading, body in re.findall(r"^### (.*)\n((?:(?!###).*\n?)*)", content, re.MULTILINE)]
    names = [heading.lower() for heading, _ in terms]
    problems = [f"{after} comes after {before}" for before, after in zip(names, names[1:]) if after <= before]
    return problems + [f"{heading} names no lesson" for heading, body in terms if not re.search(r"\]\(\.\./\d\d-[^)]*README\.md\)", body)]


def files_of_repository():
    """All files that belong to the repository: tracked, or new and not ignored; without git, all but build/."""
    listed = git(["ls-files", "-co", "--exclude-standard"], ROOT)
    if listed is not None:
        return {file for file in listed.decode().splitlines() if (ROOT / file).exists()}
    everything = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return {str(path) for path in everything if path.parts[0] not in ("build", ".git")}


def markdown(files):
    return sorted(pathlib.Path(file) for file in files if file.endswith(".md"))
