# make check: judges the learner's exercises, lesson by lesson, and says in a sentence what is still wrong.
import sys

import checks
import course


def indented(text, by="      "):
    return "\n".join(by + line for line in text.splitlines())


def judge(lesson, build, device):
    """Prints the verdict on one exercise; true if it is solved."""
    binary = checks.binary_of(lesson, "exercise")
    place = checks.answers(lesson)["exercise"].relative_to(course.ROOT)
    if binary in build.failed:
        print(f"{lesson}   does not compile yet: {place}")
        print(indented(build.complaints(f"build/tests/{lesson}/exercise/") or build.complaints()))
        return False
    failing = [case for case in checks.run_cases(course.ROOT / binary, device.environment) if case.failure]
    if not failing:
        print(f"{lesson}   solved")
        return True
    print(f"{lesson}   not yet: {place}")
    for case in failing:
        print(f"   - {case.name}\n{indented(case.failure)}")
    return False


def main(chosen):
    lessons = [lesson for lesson in chosen if "exercise" in checks.answers(lesson)]
    without = [lesson for lesson in lessons if course.why_not(lesson, for_check=True)]
    course.wished_device()
    able = [lesson for lesson in lessons if lesson not in without]
    build = course.Build(able and ["build/simulator/libcuda.so"] + [checks.binary_of(lesson, "exercise") for lesson in able])
    if "build/simulator/libcuda.so" in build.failed:
        sys.exit("The simulated GPU was not built, so nothing can be linked:\n" + build.complaints())
    device = course.choose_device()
    print(device.headline(), flush=True)
    solved = 0
    for lesson in lessons:
        if lesson in without:
            print(f"skipped: {lesson}: {course.why_not(lesson, for_check=True)}")
        else:
            solved += judge(lesson, build, device)
    if len(lessons) > 1:
        print(f"\n{solved} of {len(lessons) - len(without)} exercises are solved")
    return 0 if solved == len(lessons) - len(without) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
