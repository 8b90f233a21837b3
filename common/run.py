# make run: runs the lessons that are named, in order, each as `build/<chapter>/<lesson>/main`, and counts them.
import os
import subprocess
import sys

import course


def title(text):
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def main(lessons):
    device = course.choose_device()
    print(device.headline(), flush=True)
    failed, skipped, chapter = [], [], None
    for lesson in lessons:
        if len(lessons) > 1:
            if lesson.split("/")[0] != chapter:
                chapter = lesson.split("/")[0]
                print(f"\n==== {course.heading(chapter)} ====", flush=True)
            title(course.heading(lesson))
        program = course.ROOT / "build" / lesson / "main"
        reason = course.why_not(lesson)
        if reason:
            skipped.append(lesson)
            print(f"skipped: {lesson}: {reason}", flush=True)
            continue
        ended = subprocess.run([str(program)], env=device.environment)
        if ended.returncode != 0:
            failed.append(lesson)
            print(f"FAILED: {lesson} {course.how_it_ended(ended.returncode)}", flush=True)
    if len(lessons) > 1:
        print(f"\n{len(lessons) - len(failed) - len(skipped)} lessons ended well, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
