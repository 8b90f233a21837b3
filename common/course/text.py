# A lesson's README taken apart: its sections, and its fenced blocks with the comments that stand above them.
import re


class Block:
    """A fenced block: ```kind, its lines, the line number of the fence, and the notes from the HTML comments directly above it.

    notes: {'varies': ['NVIDIA H200', '13.0'], 'only': ['simulator']} from <!-- varies: NVIDIA H200 | 13.0 --> and the like.
    The literal "measured" among those that vary means every number with a decimal point, every bar of a chart, and every line of
    a timeline, [111 222  333].
    """

    def __init__(self, kind, number, notes):
        self.kind, self.number, self.notes, self.lines = kind, number, notes, []

    def varies(self):
        literals = self.notes.get("varies", [])
        if "measured" not in literals:
            return literals
        measured = set(re.findall(r"\d+\.\d+|█+|\[[\d ]+\]", "\n".join(self.lines)))
        return [literal for literal in literals if literal != "measured"] + sorted(measured)


def notes_above(lines, fence):
    """The comments in the lines directly above line `fence` (counted from 0)."""
    notes = {}
    above = fence - 1
    while above >= 0:
        comment = re.fullmatch(r"\s*<!--\s*(\w+):\s*(.*?)\s*-->\s*", lines[above])
        if not comment:
            break
        notes[comment.group(1)] = [literal.strip() for literal in comment.group(2).split(" | ")]
        above -= 1
    return notes


def blocks(text):
    """All fenced blocks of a text, in order."""
    lines = text.splitlines()
    found, block = [], None
    for number, line in enumerate(lines):
        fence = re.match(r"\s*```+\s*([\w+-]*)", line)
        if fence and block is None:
            block = Block(fence.group(1), number + 1, notes_above(lines, number))
        elif fence:
            found.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
    return found


def without_blocks(text):
    """The text with its fenced blocks blanked, so that line numbers stay."""
    inside, kept = False, []
    for line in text.splitlines():
        fence = re.match(r"\s*```", line)
        kept.append("" if inside or fence else line)
        inside = inside != bool(fence)
    return "\n".join(kept)


def sections(text):
    """[(heading, body)]: the part before the first '## ' has the '# ' heading."""
    parts, heading, body, inside = [], "", [], False
    for line in text.splitlines():
        inside = inside != bool(re.match(r"\s*```", line))
        found = None if inside else re.match(r"(#{1,2}) (.*)", line)
        if found and (found.group(1) == "##" or not parts and not heading):
            if heading:
                parts.append((heading, "\n".join(body).strip("\n")))
            heading, body = found.group(2).strip(), []
        else:
            body.append(line)
    parts.append((heading, "\n".join(body).strip("\n")))
    return parts


FOLDED = re.compile(r"<details><summary>(.*?)</summary>\s*(.*?)</details>", re.DOTALL)


def folded(body):
    """(the section without its <details>, [(summary, what is folded)])."""
    return FOLDED.sub("", body), FOLDED.findall(body)


def recorded(body):
    """The lines that a GPU printed, where its figures are in the text and the simulator's are others; without the command."""
    shown = [block for block in blocks(body) if "recorded" in block.notes or any(literal.startswith("NVIDIA H200") for literal in block.varies())]
    return shown[0].lines[1:] if shown else []


def without_links(line):
    """A line of Markdown as a terminal shows it: a link becomes its text, a picture a note, a comment nothing."""
    line = re.sub(r"!\[([^\]]*)\]\(([^)]*)\)", r"(picture \2: \1)", line)
    line = re.sub(r"\[((?:`[^`]*`|[^\]`])*)\]\([^)]*\)", r"\1", line)
    return re.sub(r"<!--.*?-->", "", line)
