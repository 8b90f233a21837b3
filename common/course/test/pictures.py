# Checks the pictures: every reference in an SVG finds what it means, each line that has a tip shows it, and no text leaves the picture.
#
# Text is measured as if its font were the widest of those that the pictures name: 0.602 of its size a character.
import re
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
ADVANCE = 0.602  # of the size of a font: a character of Menlo or DejaVu Sans Mono


def problems(path):
    """What is wrong with the picture, a sentence each. What a program has drawn is only looked through for its references."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except xml.etree.ElementTree.ParseError as error:
        return [f"is no SVG: {error}"]
    elements = list(root.iter())
    found = references(elements)
    for line in elements:
        if line.get("marker-end") and len(re.findall("[Mm]", line.get("d", ""))) > 1:
            found.append(f"only the last piece of this line has a tip: {line.get('d')}")
    style = rules(root)
    if "font" in style.get("text", {}):  # drawn by hand, as all of ours are
        view = [float(number) for number in root.get("viewBox").split()]
        found += outside(root, style, view[2], view[3])
    return found


def references(elements):
    """An id that two elements have leads to the first of them, and one that none has to nothing."""
    ids = [element.get("id") for element in elements if element.get("id")]
    found = [f"two elements have the id {name}" for name in sorted(set(ids)) if ids.count(name) > 1]
    for element in elements:
        wanted = [element.get("href", "")] + [f"#{name}" for name in re.findall(r"url\(#([^)]+)\)", " ".join(element.attrib.values()))]
        found += [f"nothing has the id {name[1:]}" for name in wanted if name.startswith("#") and name[1:] not in ids]
    return found


def rules(root):
    """{selector: {property: value}} of the picture's style, as it is on a light page."""
    text = "".join(style.text or "" for style in root.iter(SVG + "style")).split("@media")[0]
    found = {}
    for selectors, body in re.findall(r"([^{}]+)\{([^}]*)\}", text):
        for selector in selectors.split(","):
            found.setdefault(selector.strip(), {}).update(declarations(body))
    return found


def declarations(body):
    return {name.strip(): value.strip() for name, _, value in (part.partition(":") for part in body.split(";")) if value}


def outside(element, style, width, height, x=0.0, y=0.0):
    """The texts that begin or end outside of the picture; x and y are where this element has been moved to."""
    if element.tag == SVG + "defs":
        return []
    moved = re.match(r"translate\(\s*([-\d.]+)[ ,]*([-\d.]*)\s*\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2] or 0)
    if element.tag == SVG + "text":
        left, right, top, bottom = box_of(element, style, x, y)
        is_inside = left >= 0 and right <= width and top >= 0 and bottom <= height
        return [] if is_inside else [f"this text leaves the picture: {''.join(element.itertext())}"]
    return [problem for child in element for problem in outside(child, style, width, height, x, y)]


def box_of(element, style, x, y):
    """Left, right, top and bottom of a text."""
    look = dict(style.get("text", {}))
    for name in element.get("class", "").split():
        look.update(style.get("." + name, {}))
    look.update(declarations(element.get("style", "")))
    size = float(re.search(r"([\d.]+)px", look.get("font-size") or look["font"])[1])
    length = len("".join(element.itertext())) * size * ADVANCE
    before = {"middle": length / 2, "end": length}.get(element.get("text-anchor") or look.get("text-anchor"), 0)
    left, baseline = x + float(element.get("x", 0)) - before, y + float(element.get("y", 0))
    return left, left + length, baseline - 0.7 * size, baseline + 0.15 * size
