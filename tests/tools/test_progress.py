"""Tests of what is kept of a learner's work, and of make progress."""

import json
import threading

from course import environment, history, progress, reading
from course.lessons import Lesson, every, lessons

environment.use()
LESSON = "02-context/06-threads"


def test_writers_at_the_same_time_lose_nothing(own_progress):
    writers = [
        threading.Thread(target=lambda name=name: [history.note_attempt(Lesson(name, frozenset()), str(number).encode(), False) for number in range(20)])
        for name in ("a", "b", "c")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [len(history.load()["lessons"][name]["attempts"]) for name in ("a", "b", "c")] == [20, 20, 20]


def test_an_unreadable_file_is_put_aside(own_progress):
    history.note(every()[LESSON], hints=1)
    history.file().write_text("{ damaged", encoding="utf-8")
    assert history.load() == history.empty()
    assert history.file().with_suffix(".damaged").read_text(encoding="utf-8") == "{ damaged"


def test_a_lesson_with_another_number_keeps_its_progress(own_progress):
    own_progress.mkdir()
    old = {"version": 1, "at": "02-context/99-threads", "lessons": {"02-context/99-threads": {"solved": "yes"}, "02-context/98-gone": {"hints": 1}}}
    history.file().write_text(json.dumps(old), encoding="utf-8")
    assert history.load() == {"version": 1, "at": LESSON, "lessons": {LESSON: {"solved": "yes"}, "02-context/98-gone": {"hints": 1}}}


def test_progress_is_printed(own_progress, capsys):
    in_order = lessons()
    assert progress.main([]) == 0
    assert f"0 of {len(in_order)} exercises solved" in capsys.readouterr().out
    history.note_attempt(in_order[0], b"right", True)
    history.note_attempt(every()[LESSON], b"wrong", False)
    history.note_attempt(every()[LESSON], b"wrong", False)
    asks = reading.read(every()[LESSON]).asks
    history.note(every()[LESSON], hints=2, prediction="all of them", question=asks)
    with history.changing() as kept_now:
        kept_now["at"] = LESSON
    assert progress.main([]) == 0
    told = capsys.readouterr().out
    assert f"1 of {len(in_order)} exercises solved" in told and "1 attempt, 2 hints" in told and "continues with 02-06 Threads" in told, told
    assert progress.main([LESSON]) == 0
    assert "you predicted: all of them" in capsys.readouterr().out
    for another in ("a fingerprint of what was asked before", None):
        history.note(every()[LESSON], question=another)
        progress.main([LESSON])
        assert "you predicted" not in capsys.readouterr().out, another
    assert history.continues_at({"at": str(in_order[0]), "lessons": {str(in_order[0]): {"solved": "now"}}}) == in_order[1]
