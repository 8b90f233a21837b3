"""The book and the films, opened in a browser: nothing fails there, nothing is requested from elsewhere, and films show what was recorded."""

import base64
import contextlib
import html
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import zlib
from unittest import mock

import pytest

from course import book as book_command
from course.facts import facts

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOOK = ROOT / "build" / "book"
SEEN = ROOT / "build" / "see"

for need in ("BOOK", "BROWSER", "CHROMIUM"):
    if not facts().get(need):
        pytest.skip(f"no {need.lower()} here: {facts().get(f'WITHOUT_{need}') or 'set-up was not asked for it'}", allow_module_level=True)

from playwright.sync_api import sync_playwright  # noqa: E402

# The contrast of every visible text's color with what is behind it (WCAG 2.2, "contrast ratio").
CONTRAST = """() => {
  const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const color = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const behind = e => { for (; e; e = e.parentElement) { const c = color(getComputedStyle(e).backgroundColor); if (c.length == 3 || c[3] == 1) return c; } return [255, 255, 255]; };
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement, box = e.getBoundingClientRect();
    if (!node.textContent.trim() || !box.width || !box.height || getComputedStyle(e).visibility != "visible" || e.closest(".ended, canvas, select")) continue;
    const [a, b] = [luminance(color(getComputedStyle(e).color)), luminance(behind(e))];
    seen.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.textContent.trim().slice(0, 40)]);
  }
  return seen.sort((x, y) => x[0] - y[0]).slice(0, 5);
}"""
ENOUGH = 4.5  # level AA


def make(*words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    ran = subprocess.run(["make", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(ROOT / facts()["CHROMIUM"]), args=["--no-sandbox"])
        yield opened
        opened.close()


class Tab:
    """A page whose errors and requests are kept."""

    def __init__(self, browser, scheme="light"):
        self.page = browser.new_page(color_scheme=scheme, viewport={"width": 1300, "height": 900})
        self.errors, self.requests = [], []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, file, anchor=""):
        self.page.goto(f"file://{file}{anchor}")
        return self

    def assert_clean(self):
        assert self.errors == []
        assert [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture
def tab(browser):
    opened = Tab(browser)
    yield opened
    opened.page.close()


@pytest.fixture
def dark(browser):
    opened = Tab(browser, "dark")
    yield opened
    opened.page.close()


# ---- the book ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def book():
    make("book")
    return BOOK


def test_every_page_of_the_book_loads_without_an_error_and_without_a_request_to_elsewhere(book, tab):
    pages = [page for page in sorted(book.rglob("*.html")) if "zh_CN" not in page.parts]
    files = [page for page in pages if re.search(r"\.\w+\.html$", page.name)]  # main.cpp.html: they are all made alike
    pages = [page for page in pages if page not in files] + files[:3]
    assert len(pages) > 80 and len(files) > 80
    for page in pages:
        tab.open(page)
        assert tab.errors == [], page
    tab.assert_clean()


def test_the_search_finds_a_lesson(book, tab):
    tab.open(book / "search.html", "?q=primary+context")
    tab.page.wait_for_selector("#search-results a")
    tab.page.wait_for_function("document.querySelector('#search-results .search-summary').textContent.includes('found')")
    found = tab.page.eval_on_selector_all("#search-results a", "links => links.map(link => link.textContent)")
    assert any("primary" in title.lower() for title in found), found


def test_a_folded_prediction_opens(book, tab):
    tab.open(book / "02-context/05-primary/index.html")
    fold = tab.page.locator("details").first
    assert not fold.locator("p").first.is_visible()
    fold.locator("summary").click()
    assert fold.locator("p").first.is_visible()


def test_the_copy_button_of_a_console_block_copies_the_command_only(book, browser):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"file://{book}/02-context/03-current/index.html")
    page.locator(".highlight-console button.copybtn").first.click(force=True)
    assert page.evaluate("navigator.clipboard.readText()") == "make 02-context/03-current"
    context.close()


def test_every_error_code_and_every_taught_function_is_listed(book):
    errors = (book / "errors.html").read_text(encoding="utf-8")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in errors and "CUDA_ERROR_STREAM_CAPTURE_UNJOINED" in errors
    functions = (book / "functions.html").read_text(encoding="utf-8")
    assert "cuDevicePrimaryCtxRetain" in functions and "02-context/05-primary/index.html" in functions


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_code_of_the_book_have_enough_contrast(book, tab, dark, scheme):
    shown = dark if scheme == "dark" else tab
    for page in ("index.html", "04-kernels/21-transpose/index.html", "functions.html"):
        shown.open(book / page)
        worst = shown.page.evaluate(CONTRAST)
        assert worst[0][0] >= ENOUGH, (page, worst)


def test_figures_follow_the_dark_page(book, dark):
    dark.open(book / "04-kernels/21-transpose/index.html")
    assert dark.page.locator("main img, article img").first.evaluate("image => getComputedStyle(image).colorScheme") == "dark"


@pytest.fixture(scope="module")
def translated():
    """A book in Chinese. Pages of lessons are only a heading, so that it is built in a quarter of the time: none of them is translated yet."""

    class Shortened(book_command.Pages):
        def page(self, file):
            return "# A lesson\n" if file.count("/") == 2 and file[0].isdigit() else super().page(file)

    temporary = tempfile.TemporaryDirectory(dir=ROOT / "build")
    place = pathlib.Path(temporary.name)
    folders = {"BOOK": place / "book", "SOURCE": place / "source", "DOCTREES": place / "doctrees"}
    typed = {"LANGUAGE": "zh_CN", "MAKEFLAGS": " -- LANGUAGE=zh_CN"}
    said = io.StringIO()
    with (
        mock.patch.multiple(book_command, **folders, Pages=Shortened, record_films=list),
        mock.patch.dict(os.environ, typed),
        contextlib.redirect_stdout(said),
    ):
        assert book_command.main() == 0
    yield place / "book" / "zh_CN", said.getvalue()
    temporary.cleanup()


def test_a_translated_page_shows_the_translation_and_the_other_pages_the_original(translated, tab):
    book, said = translated
    assert re.search(r"zh_CN 01-driver-init/index.po: (\d+) of \1 paragraphs are translated, 0 have changed since, 0 are missing", said), said
    tab.open(book / "01-driver-init/index.html")
    assert "驱动程序" in tab.page.locator("h1").inner_text()
    tab.open(book / "02-context/index.html")
    assert "Contexts" in tab.page.locator("h1").inner_text()
    tab.assert_clean()


# ---- films ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def film():
    make("see", "04-21")
    return SEEN / "04-21.html"


def films_in(page):
    packed = re.search(r'id="data">([^<]*)<', page.read_text(encoding="utf-8")).group(1)
    return {each["label"]: each for each in json.loads(zlib.decompress(base64.b64decode(packed)))["films"]}


@pytest.fixture(scope="module")
def recorded(film):
    return films_in(film)


def opened(tab, file, **view):
    tab.open(file, "#" + "&".join(f"{name}={value}" for name, value in view.items()))
    tab.page.wait_for_selector("body[data-ready]")
    return tab.page


def position(page):
    return page.locator("#position").inner_text()


def values_of(step, lanes=32):
    """What the page shows in the cells of the lanes: the first register written, or what was stored."""
    _, _, mask, _, results, accesses = step
    active = [lane for lane in range(lanes) if mask >> lane & 1]
    kept = results[0][1] if results else next((access[8] for access in accesses if access[8] != ""), "")
    return {lane: kept[i] if isinstance(kept, list) else kept for i, lane in enumerate(active)}


def cells(page):
    shown = page.eval_on_selector_all(".lanes-now .cell.on", "cells => cells.map(c => [c.firstChild.textContent, c.querySelector('small').textContent])")
    return {int(lane): value for lane, value in shown}


def shortened(values):
    return {lane: "…" + value[-5:] if len(value) > 7 else value for lane, value in values.items()}


def test_a_film_is_one_small_file_that_requests_nothing(film, tab):
    assert film.stat().st_size <= 2_000_000
    page = opened(tab, film)
    assert page.evaluate("performance.now()") < 5000
    tab.assert_clean()
    assert tab.requests == [f"file://{film}"]


def test_steps_forward_and_back_show_the_recorded_values(film, recorded, tab):
    steps = recorded["tiled"]["steps"]
    page = opened(tab, film, film="tiled", step=1)
    for at in range(40):
        assert position(page) == f"step {at + 1} of {len(steps)}"
        assert cells(page) == shortened(values_of(steps[at]))
        page.keyboard.press("ArrowRight")
    for at in range(40, 0, -1):
        page.keyboard.press("ArrowLeft")
        assert cells(page) == shortened(values_of(steps[at - 1]))
    page.keyboard.press("End")
    assert position(page) == f"step {len(steps)} of {len(steps)}"
    page.keyboard.press("Home")
    assert position(page) == f"step 1 of {len(steps)}"
    tab.assert_clean()


def test_a_film_in_the_frame_of_a_notebook_follows_the_keys(film, recorded, tab, tmp_path):
    """Such a frame has no address that a script may change."""
    steps = next(iter(recorded.values()))["steps"]
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f'<iframe srcdoc="{html.escape(film.read_text(encoding="utf-8"))}" style="width: 1200px; height: 800px"></iframe>', encoding="utf-8")
    tab.open(notebook)
    frame = tab.page.frame_locator("iframe")
    frame.locator("body[data-ready] #position").click()
    tab.page.keyboard.press("ArrowRight")
    assert frame.locator("#position").inner_text() == f"step 2 of {len(steps)}"
    shown = frame.locator(".lanes-now .cell.on").evaluate_all("cells => cells.map(c => [c.firstChild.textContent, c.querySelector('small').textContent])")
    assert {int(lane): value for lane, value in shown} == shortened(values_of(steps[1]))
    tab.assert_clean()


def test_a_key_leads_to_the_bank_conflict_of_the_unpadded_tile_and_none_in_the_padded_one(film, tab):
    page = opened(tab, film, film="tiled", step=1)
    page.keyboard.press("ArrowDown")
    assert "32-way bank conflict: 32 passes where 1 would do" in page.locator(".memory").inner_text()
    assert "tile[threadIdx.x]" in page.locator(".source .here").inner_text()
    page = opened(tab, film, film="padded", step=1)
    page.keyboard.press("ArrowDown")
    assert position(page).startswith("step 1 of")


def test_a_lane_has_registers_of_its_own(film, recorded, tab):
    page = opened(tab, film, film="tiled", step=30, lane=5)
    kept = recorded["tiled"]
    warp = kept["steps"][29][0]
    expected = {}
    for step in kept["steps"][:30]:
        if step[0] == warp and step[2] >> 5 & 1:
            for name, values in step[4]:
                active = [lane for lane in range(32) if step[2] >> lane & 1]
                expected[kept["names"][name]] = values[active.index(5)] if isinstance(values, list) else values
    shown = dict(line.split(" = ") for line in page.locator(".registers div").all_inner_texts())
    assert shown == expected


def test_the_search_finds_lines_and_enter_goes_to_one(film, tab):
    page = opened(tab, film, film="tiled", step=1)
    page.keyboard.press("/")
    page.keyboard.type("bar.sync")
    assert page.locator("#found").inner_text() == "1 line"
    page.keyboard.press("Enter")
    assert "bar.sync" in page.locator(".ptx .here").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    assert "bar.sync" not in page.locator(".ptx .here").inner_text()


def test_two_films_side_by_side_meet_at_the_same_line(film, tab):
    page = opened(tab, film, **{"film": "tiled", "step": 400, "with": "padded"})
    lines = page.locator(".source .here .n").all_inner_texts()
    assert len(lines) == 2 and lines[0] == lines[1]
    assert page.locator(".pane").count() == 2


def test_warps_wait_at_the_barrier(film, recorded, tab):
    waits = next(event for event in recorded["tiled"]["events"] if event[1] == "waits")
    page = opened(tab, film, film="tiled", step=waits[0] + 2)
    assert any(f"w{waits[2]} waits line" in text for text in page.locator(".warps .cell").all_inner_texts())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_film_has_enough_contrast(film, tab, dark, scheme):
    page = opened(dark if scheme == "dark" else tab, film, film="tiled", step=300)
    worst = page.evaluate(CONTRAST)
    assert worst[0][0] >= ENOUGH, worst


def test_an_access_out_of_bounds_is_pinned_to_its_step(tab, tmp_path):
    make("see", "04-03", "ONLY=kernel=add_unguarded launch=2 block=4")
    page = opened(tab, SEEN / "04-03.html")
    page.keyboard.press("ArrowDown")
    assert "illegal address" in page.locator(".findings").inner_text()
    assert "sum[i]" in page.locator(".source .here").inner_text()
    make("see", "04-03")


# What the texts say that their films show: a kernel, and what to count in its recording.
def passes(film):
    return sum(access[5] for step in film["steps"] for access in step[5] if access[0] == "shared")


def costs_of_shared_loads(film):
    """{(passes, fewest possible passes)} of all loads from shared memory."""
    return {tuple(access[5:7]) for step in film["steps"] for access in step[5] if access[:2] == ["shared", "read"]}


def lanes_that_store(film):
    return [bin(step[2]).count("1") for step in film["steps"] if any(access[:2] == ["global", "write"] for access in step[5])]


ANSWERS = [
    (
        "02-who-am-i",
        "",
        "record_thread",
        lambda film: {access[5] for step in film["steps"] for access in step[5] if access[1] == "write"} == {5},
        "Each store touches 5 sectors",
    ),
    (
        "03-vector-add",
        "kernel=add block=3",
        "add",
        lambda film: lanes_that_store(film) == [32] * 7 + [8],
        "Warps 0 to 6 store their sums with all 32 lanes, and warp 7 with only 8",
    ),
    (
        "07-shared-memory",
        "",
        "reverse_static",
        lambda film: [event[2] for event in film["events"] if event[1] == "waits"] == list(range(8)),
        "Warp 0 is the first to wait",
    ),
    ("08-warps", "", "part", lambda film: lanes_that_store(film) == [24, 8, 32], "The `else` side runs first, with 24 active lanes"),
    ("20-reduction", "", "interleaved", lambda film: passes(film) == 150, "The kernel `interleaved` needs 150 passes"),
    ("21-transpose", "", "tiled", lambda film: max(access[5] for step in film["steps"] for access in step[5]) == 32, "takes 32 passes instead of 1"),
    ("23-matmul-warps", "", "transposed", lambda film: costs_of_shared_loads(film) == {(2, 2), (8, 4)}, "takes 8 passes instead of 4"),
    ("23-matmul-warps", "", "warp_tiled", lambda film: costs_of_shared_loads(film) == {(2, 2), (4, 4)}, "The same load takes fewer passes there"),
]


def films_of(book, number, only):
    if not only:
        return films_in(book / "films" / f"{number}.html")
    make("see", number, f"ONLY={only}")
    films = films_in(SEEN / f"{number}.html")
    (SEEN / f"{number}.html").unlink()
    return films


@pytest.mark.parametrize("lesson, only, label, holds, sentence", ANSWERS, ids=[f"{answer[0]}-{answer[2]}" for answer in ANSWERS])
def test_a_text_says_what_its_film_shows(book, lesson, only, label, holds, sentence):
    assert sentence in (ROOT / "04-kernels" / lesson / "README.md").read_text(encoding="utf-8")
    assert holds(films_of(book, f"04-{lesson[:2]}", only)[label])


def test_what_cannot_be_shown_is_a_sentence():
    for words, sentence in [
        (["see"], "Which lesson?"),
        (["see", "01-01"], "has no kernel of its own"),
        (["see", "04-03", "ONLY=nonsense"], "'nonsense' is not understood"),
        (["see", "04-03", "ONLY=kernel=there_is_none"], "launched no kernel to show"),
        (["see", "PROGRAM=/nonexistent"], "cannot be started: No such file"),
        (["book", "LANGUAGE=xx"], "There is no catalog for xx"),
        (["book", "LANGUAGE=../.."], "is not a language"),
    ]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        ran = subprocess.run(["make", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode != 0 and sentence in ran.stdout + ran.stderr, (words, ran.stdout, ran.stderr)
        assert "Traceback" not in ran.stderr
