"""The operators' table on the page of chapter 01 against the doctor's catalog of errors and the lessons."""

import re

import pytest

from course import ROOT
from course.doctor import catalog

CHAPTER = ROOT / "01-driver-init"
DOCTOR = ROOT / "common/course/doctor"


def rows():
    """[(symptom, cause, lessons)] of the table under "From a symptom to its cause"."""
    text = (CHAPTER / "README.md").read_text(encoding="utf-8")
    section = text.split("## From a symptom to its cause")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines[2:]]


ROWS = rows()


def folders(lessons):
    """The folders of the lessons that a cell links."""
    return [(CHAPTER / link).resolve() for link in re.findall(r"\]\(([^)]*)/README\.md\)", lessons)]


def test_the_table_has_three_columns():
    assert len(ROWS) > 15 and all(len(row) == 3 for row in ROWS), ROWS


@pytest.mark.parametrize("code", catalog.ERRORS)
def test_the_table_has_a_row_for_each_error_in_the_catalog(code):
    name, lesson = catalog.ERRORS[code]
    found = [row for row in ROWS if re.search(rf"\b{code}\b", row[0])]
    assert found, f"no row for {code} {name}"
    assert any(name in row[0] and f"[{lesson}" in row[2] for row in found), found


def test_every_error_in_the_table_is_in_the_catalog():
    for symptom, _, _ in ROWS:
        for code, name in re.findall(r"(\d+), `(CUDA_ERROR_\w+)`", symptom):
            assert catalog.ERRORS.get(int(code), ("", ""))[0] == name, symptom


def test_every_error_that_the_doctor_distinguishes_is_in_the_catalog():
    text = "".join((DOCTOR / file).read_text(encoding="utf-8") for file in ("verdicts.py", "driver.py"))
    codes = {int(code) for compared in re.findall(r"result (?:==|!=|in|not in) \(?([\d, ]+)", text) for code in re.findall(r"\d+", compared)}
    assert len(codes) > 5 and codes - {0} <= catalog.ERRORS.keys(), codes


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_lesson_of_the_row_explains_what_the_row_names(row):
    symptom, _, lessons = row
    texts = [(folder / "README.md").read_text(encoding="utf-8") for folder in folders(lessons)]
    assert texts, row
    for term in re.findall(r"`([^`]+)`", symptom):
        assert any(term in text for text in texts), f"{term} is not in {lessons}"
