"""make book: the course as a site, in build/book/index.html. LANGUAGE=zh_CN on the command line takes a catalog of translations.

The READMEs are the only source. They are written to build/book/source as pages of the same folders, and Sphinx turns them into HTML. Besides,
each file that a text links to becomes a page, and two indexes are derived from the texts: error codes and driver functions.

A catalog is common/book/locale/LANGUAGE/LC_MESSAGES/…/index.po, one per page. UPDATE=01-driver-init brings the catalogs of a folder's pages up
to date with the texts, and begins those that are missing: a paragraph that has changed since is marked as fuzzy, and appears in English until
its translation is reviewed.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Iterable

from course import ROOT, build, environment, history, see, text
from course.facts import facts
from course.lessons import Lesson, called, chapters, lessons
from course.possible import why_not

HERE = ROOT / "common" / "book"
LOCALE = HERE / "locale"
BOOK = ROOT / "build" / "book"
SOURCE = ROOT / "build" / "book-source"
DOCTREES = ROOT / "build" / "book-doctrees"
FILMS = ["who-am-i", "vector-add", "shared-memory", "warps", "reduction", "transpose", "matmul-warps"]  # the lessons that have one, by name
BEHIND = ["common/glossary.md", "common/README.md", "common/simulator/README.md", "common/runtime/README.md", "tests/README.md"]
LANGUAGES = {"cpp": "cpp", "cuda": "cuda", "python": "python", "make": "make", "cmake": "cmake"}
SUFFIXES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".py": "python", ".mk": "make", ".sh": "bash", ".toml": "toml"}
ERROR = re.compile(r"\bCUDA_ERROR_[A-Z0-9_]+\b")


def page_of(file: str) -> str:
    """The page that a Markdown file becomes, from the root: 02-context/README.md is 02-context/index.md."""
    return re.sub(r"README\.md$", "index.md", file)


# ---- pages -----------------------------------------------------------------------------------------------------------------


class Pages:
    """Writes the pages, and remembers the files that they link to."""

    def __init__(self, films: list[Lesson]):
        self.films = films  # the lessons that have one
        self.linked: dict[str, pathlib.Path] = {}
        shutil.rmtree(SOURCE, ignore_errors=True)
        self.texts = ["README.md", *(f"{folder}/README.md" for chapter in chapters() for folder in (chapter, *lessons([chapter])))]
        self.texts += [file for file in BEHIND if (ROOT / file).exists()]
        self.made = {page_of(file) for file in self.texts}

    def write(self, page: str, content: str) -> None:
        path = SOURCE / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def target(self, folder: pathlib.Path, link: str, base: pathlib.Path) -> str | None:
        """What a link relative to a folder becomes on a page in `base`, or None if it leads to something that is not in the book."""
        file, hash_, anchor = link.partition("#")
        if not file:
            return link
        path = pathlib.Path(os.path.normpath(ROOT / folder / file))
        if not path.is_relative_to(ROOT) or not path.exists():
            return None
        if path.is_dir():
            path = path / "README.md"
        name = str(path.relative_to(ROOT))
        if path.suffix == ".md":
            if page_of(name) not in self.made:
                return None
            return os.path.relpath(page_of(name), base) + hash_ + anchor
        if path.suffix in (".svg", ".png"):
            return link
        if not path.is_file():
            return None
        self.linked[name] = path
        return os.path.relpath(f"{name}.md", base)

    def relink(self, folder: pathlib.Path, line: str, base: pathlib.Path | None = None) -> str:
        def replaced(match):
            shown, link = match.groups()
            if re.match(r"[a-z]+:", link):
                return match.group(0)
            to = self.target(folder, link, folder if base is None else base)
            return f"[{shown}]({to})" if to else shown

        return re.sub(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)", replaced, line)

    def quoted_from(self, folder: pathlib.Path, block: text.Block) -> str | None:
        """The file that a block of code is quoted from, if it is one of the lesson's or of common/."""
        if block.kind not in LANGUAGES:
            return None
        lines = [line.strip() for line in block.lines if line.strip()]
        for place in (ROOT / folder, ROOT / "common"):
            for file in sorted(place.glob("*")):
                if file.is_file() and file.suffix in SUFFIXES or file.name == "Makefile":
                    held = [line.strip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
                    if any(held[at : at + len(lines)] == lines for at in range(len(held) - len(lines) + 1)):
                        return str(file.relative_to(ROOT))
        return None

    def page(self, file: str) -> str:
        """A README as a page: comments and the links to its neighbors go, folded parts become directives, quoted code names its file."""
        folder = pathlib.Path(file).parent
        content = (ROOT / file).read_text(encoding="utf-8")
        if file.endswith("glossary.md"):
            content = content.replace("\n### ", "\n## ")
        if re.match(r"\d\d-", file):
            content = re.sub(r"\n---\n[^\n]*[←→][^\n]*\n?\Z", "\n", content)
        blocks = {block.number: block for block in text.blocks(content)}
        lines, inside = [], False
        for at, line in enumerate(content.splitlines(), start=1):
            if block := blocks.get(at):
                inside = True
                source = self.quoted_from(folder, block)
                if source:
                    self.linked[source] = ROOT / source
                    link = os.path.relpath(f"{source}.md", folder)
                    line = f'```{{code-block}} {LANGUAGES[block.kind]}\n:caption: "[{pathlib.Path(source).name}]({link})"\n'
                lines.append(line)
            elif inside:
                inside = line.strip() != "```"
                lines.append(line)
            else:
                lines.append(self.relink(folder, line))
        plain = self.folds("\n".join(lines))
        film = next((lesson for lesson in self.films if lesson.name == str(folder)), None)
        if film:
            shown = f'<iframe class="film" loading="lazy" title="The film" src="../../films/{film.number}.html"></iframe>'
            plain = plain.replace("\n## Break it\n", f"\n:::{{fold}} The film\n```{{raw}} html\n{shown}\n```\n:::\n\n## Break it\n")
        return re.sub(r"^<!--.*?-->\n", "", plain, flags=re.MULTILINE) + "\n"

    @staticmethod
    def folds(content: str) -> str:
        def opened(match):
            heading = re.sub(r"</?code>", "`", " ".join(match.group(1).split()))
            return f":::{{fold}} {heading.replace('&lt;', '<').replace('&gt;', '>')}"

        content = re.sub(r"<details>\s*<summary>(.*?)</summary>", opened, content, flags=re.DOTALL)
        return re.sub(r"^</details>", ":::", content, flags=re.MULTILINE)

    def copy_pictures(self) -> None:
        for file in self.texts:
            folder = pathlib.Path(file).parent
            for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / file).read_text(encoding="utf-8")):
                (SOURCE / folder / picture).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / folder / picture, SOURCE / folder / picture)

    def write_all(self) -> None:
        for file in self.texts:
            content = self.page(file)
            if file == "README.md":
                content = content.partition("\n## Run your own CUDA program")[0] + "\n" + contents(self)
            elif file.count("/") == 1 and file[:1].isdigit():
                names = "\n".join(f"{lesson.folder_name}/index" for lesson in lessons([file.split("/")[0]]))
                content += f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```\n"
            self.write(page_of(file), content)
        self.write("errors.md", errors())
        self.write("functions.md", functions(self))
        for name, path in self.linked.items():
            language = SUFFIXES.get(path.suffix, "make" if path.name == "Makefile" else "text")
            quoted = path.read_text(encoding="utf-8", errors="replace")
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", quoted)), default=0))
            self.write(f"{name}.md", f"---\norphan: true\n---\n# `{name}`\n\n{fence}{{code-block}} {language}\n:linenos:\n\n{quoted}\n{fence}\n")
        self.copy_pictures()


def contents(pages: Pages) -> str:
    behind = "\n".join(page_of(file).removesuffix(".md") for file in pages.texts if file in BEHIND and file != "common/glossary.md")
    listed = "\n".join(f"{chapter}/index" for chapter in chapters())
    return (
        f"```{{toctree}}\n:hidden:\n:caption: Chapters\n\n{listed}\n```\n\n"
        "```{toctree}\n:hidden:\n:caption: To look up\n\ncommon/glossary\nerrors\nfunctions\n```\n\n"
        f"```{{toctree}}\n:hidden:\n:caption: Behind the course\n\n{behind}\n```\n"
    )


# ---- indexes ----------------------------------------------------------------------------------------------------------------


def link_to(lesson: Lesson) -> str:
    return f"[{lesson.number}]({lesson}/index.md)"


def results() -> dict[str, int]:
    """Every CUresult by name, from cuda.h."""
    header = (ROOT / facts()["CUDA_INCLUDE"] / "cuda.h").read_text(encoding="utf-8", errors="replace")
    return {name: int(value) for name, value in re.findall(r"^\s*(CUDA_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+)", header, re.MULTILINE)}


def errors() -> str:
    shown: dict[str, list[Lesson]] = {}
    named: dict[str, list[Lesson]] = {}
    for lesson in lessons():
        content = lesson.text
        printed = "\n".join("\n".join(block.lines) for block in text.blocks(content) if block.kind in ("console", "text"))
        for kept, found in ((shown, set(ERROR.findall(printed))), (named, set(ERROR.findall(content)) - set(ERROR.findall(printed)))):
            for name in found:
                kept.setdefault(name, []).append(lesson)
    rows = [
        f"| {value} | `{name}` | {', '.join(map(link_to, shown.get(name, []))) or '–'} | {', '.join(map(link_to, named.get(name, []))) or '–'} |"
        for name, value in sorted(results().items(), key=lambda item: item[1])
        if name != "CUDA_SUCCESS"
    ]
    return (
        "# Error codes\n\nEvery `CUresult` of this toolkit's `cuda.h`, with the lessons whose programs or edits produce it, and those whose texts explain or "
        "mention it.\n\n| value | name | produced in | mentioned in |\n| --- | --- | --- | --- |\n" + "\n".join(rows) + "\n"
    )


def functions(pages: Pages) -> str:
    taught: dict[str, tuple[Lesson, str]] = {}
    used: dict[str, list[Lesson]] = {}
    for lesson in lessons():
        for cell, what in re.findall(r"^\| (`cu[A-Z][^|]*) \| ([^|]*) \|", lesson.text, re.MULTILINE):
            for name in re.findall(r"\bcu[A-Z]\w*", cell):
                taught.setdefault(name, (lesson, pages.relink(pathlib.Path(lesson.name), what.strip(), pathlib.Path())))
        called = {name for path in lesson.sources for name in re.findall(r"\b(cu[A-Z][A-Za-z0-9]+)\s*\(", path.read_text(encoding="utf-8"))}
        for name in called:
            used.setdefault(name, []).append(lesson)
    declared = set(re.findall(r"CUDAAPI\s+(cu[A-Z]\w*?)(?:_v\d+)?\s*\(", (ROOT / facts()["CUDA_INCLUDE"] / "cuda.h").read_text(errors="replace")))
    rows = []
    for name in sorted((set(taught) | set(used)) & declared):
        callers = used.get(name, [])
        lesson, what = taught.get(name) or (callers[0], "")
        others = [each for each in callers if each != lesson]
        shown = ", ".join(map(link_to, others[:4])) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
        rows.append(f"| `{name}` | {link_to(lesson)} | {what} | {shown or '–'} |")
    return (
        "# Driver functions\n\nEvery function of the driver API that the course calls, with the lesson that teaches it.\n\n"
        "| function | taught in | what it does | also called in |\n| --- | --- | --- | --- |\n" + "\n".join(rows) + "\n"
    )


# ---- translations -----------------------------------------------------------------------------------------------------------


def sphinx(builder: str, out: pathlib.Path, language: str, locale: pathlib.Path, without: Iterable[str] = ()) -> int:
    """Builds the book, or the messages of its pages, without some pages. Links to these are then unknown, which is no fault."""
    command = [str(ROOT / "build/python/bin/python3"), "-m", "sphinx", "-q", "-j", "auto", "-b", builder]
    command += ["-D", "exclude_patterns=" + ",".join(without), "-Q"] if builder == "gettext" else ["-W", "--keep-going"]
    command += ["-c", str(HERE), "-d", str(DOCTREES / f"{builder}-{language}"), str(SOURCE), str(out)]
    environment = {**os.environ, "BOOK_LANGUAGE": language, "BOOK_LOCALE": str(locale), "PYTHONPATH": str(HERE)}
    return subprocess.run(command, env=environment, check=False).returncode


def merge_catalogs(language: str, updated: str) -> pathlib.Path | None:
    """Merges the texts' messages into the catalogs, and keeps those whose names begin with `updated`. Returns the folder of the merged
    ones, or None if Sphinx failed."""
    environment.use()
    from babel.messages import mofile, pofile

    templates, merged = ROOT / "build" / "book-messages", ROOT / "build" / "book-locale"
    shutil.rmtree(templates, ignore_errors=True)
    # Only the pages that have a catalog, or are to have one; the book's root must be among them.
    catalogs = LOCALE / language / "LC_MESSAGES"
    wanted = {"index"} | {str(path.relative_to(catalogs).with_suffix("")) for path in catalogs.rglob("*.po")}
    pages = [str(path.relative_to(SOURCE).with_suffix("")) for path in SOURCE.rglob("*.md")]
    others = [f"{page}.md" for page in pages if page not in wanted and (not updated or not page.startswith(updated) or pathlib.Path(page).suffix)]
    if sphinx("gettext", templates, "en", LOCALE, others):
        return None
    shutil.rmtree(merged, ignore_errors=True)
    for template in sorted(templates.rglob("*.pot")):
        name = template.relative_to(templates).with_suffix(".po")
        kept = catalogs / name
        begin = bool(updated) and str(name).startswith(updated)
        if not kept.exists() and not begin:
            continue
        with open(template, "rb") as file:
            texts = pofile.read_po(file)
        catalog = texts
        if kept.exists():
            with open(kept, "rb") as file:
                catalog = pofile.read_po(file, locale=language)
            catalog.update(texts, no_fuzzy_matching=False)
        catalog.locale = language
        stale = sum(1 for message in catalog if message.id and message.fuzzy)
        missing = sum(1 for message in catalog if message.id and not message.string)
        if kept.exists():
            print(
                f"{language} {name}: {len(catalog) - stale - missing} of {len(catalog)} paragraphs are translated, {stale} have changed since, {missing} are missing"
            )
        out = merged / language / "LC_MESSAGES" / name
        out.parent.mkdir(parents=True, exist_ok=True)
        with open(out, "wb") as file:
            pofile.write_po(file, catalog, width=120, ignore_obsolete=True)
        with open(out.with_suffix(".mo"), "wb") as file:
            mofile.write_mo(file, catalog)
        if begin:
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(out, kept)
    return merged


# ---- the command ------------------------------------------------------------------------------------------------------------


def record_films() -> list[Lesson]:
    """The lessons whose films could be recorded. They are recorded again if the program has changed."""
    found = [lesson for lesson in filter(None, map(called, FILMS)) if not why_not(lesson)]
    build.build([build.SIMULATOR, *(target for lesson in found for target in build.program_targets(lesson))], show_commands=False)
    for lesson in list(found):
        film = see.SEEN / f"{lesson.number}.html"
        newest = max((file.stat().st_mtime for file in (ROOT / "build" / lesson.name).glob("*") if file.is_file()), default=0)
        if not (film.exists() and film.stat().st_mtime > newest) and see.main([lesson.name]):
            found.remove(lesson)
    return found


def mark_solved() -> None:
    """Tells the book which lessons are solved, in a file that its pages load."""
    solved = [lesson.name for lesson in history.solved(history.load())]
    for static in BOOK.rglob("_static"):
        (static / "progress.js").write_text(f"window.solved = {json.dumps(solved)};\n", encoding="utf-8")


def main(words=()) -> int:
    language = os.environ.get("LANGUAGE", "") if "LANGUAGE" in build.given_variables() else ""
    updated = os.environ.get("UPDATE", "")
    if language and not re.fullmatch(r"[a-z]{2,3}(_[A-Za-z]{2,4})?", language):
        print(f"LANGUAGE={language} is not a language: it is a code such as de, or zh_CN")
        return 1
    if language and not (LOCALE / language).exists() and not updated:
        known = " ".join(sorted(path.name for path in LOCALE.iterdir() if path.is_dir()))
        print(
            f"There is no catalog for {language} in common/book/locale, only for: {known}. To begin one, type: make book LANGUAGE={language} UPDATE=01-driver-init"
        )
        return 1
    if missing := facts().get("WITHOUT_BOOK"):
        print(f"The book cannot be built: {missing}")
        return 1
    films = record_films()
    Pages(films).write_all()
    out, locale = BOOK / language, LOCALE
    if language:
        locale = merge_catalogs(language, updated)
    if locale is None or sphinx("html", out, language or "en", locale):
        print("The book could not be built. Sphinx printed the reason above; the error is in a text or in common/course/book.py.")
        return 1
    for lesson in films:
        (out / "films").mkdir(exist_ok=True)
        shutil.copyfile(see.SEEN / f"{lesson.number}.html", out / "films" / f"{lesson.number}.html")
    mark_solved()
    print(f"The book is in {(out / 'index.html').relative_to(ROOT)}. Open it in a browser.")
    return 0
