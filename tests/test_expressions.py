"""Every regular expression of the packages takes time that grows with its text, whatever the text is: a slower one
would stop all threads of the process, since `re` keeps the interpreter's lock.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.expressions.collecting import FOLDERS, ROOT, all_written, indirect, sources
from tests.expressions.measuring import complaint
from tests.expressions.pumping import pumps

OUT_OF_SCOPE = {
    "benchmarks": "measures this tree, on texts of its own",
    "catalogue": "builds the catalogue, of rows in this repository and pages of vendors that its author reads",
    "examples": "programs for readers, on texts of their own",
    "plugins/abstracta2a/examples": "a program for readers",
    "plugins/abstractmusic/soundfont": "builds the sounds of the package, of files in this repository",
    "release": "builds and checks this tree, and reads metadata of the packages in its lock file",
    "tests": "reads this tree, and what the tests themselves have made",
}
"""Folders of code whose patterns see no text from outside. Those of all packages are walked, without exception."""
SECONDS = 1800
"""The time limit of the process: many times what it takes, and only reached by a pattern that never ends."""
SLOW = {
    "exponential": (r"([a-z]{2,3})([-_]\w+)*", "fullmatch"),
    "nested": (r"(a+)+b", "match"),
    "alternatives": (r"(?:a|a)*b", "match"),
    "two repeats": (r"\s*,?\s*x", "match"),
    "number": (r"\d+\.?\d*$", "fullmatch"),
    "from each place": (r"\s+$", "search"),
    "from each beginning": (r"<a[^>]*>", "finditer"),
    "to the end": (r"begin.*?end", "search"),
    "reference": (r"(?P<ticks>`+)[^\n]*?(?P=ticks)x", "search"),
}
FAST = {
    "possessive": (r"(?<!\s)\s++$", "search"),
    "bounded": (r"<a[^>]{0,200}>", "finditer"),
    "anchored": (r"\s*x", "match"),
    "numbers": (r"(?<![\d.])\d++(?:\.\d++)?", "findall"),
    "quoted": (r'"(?:[^"\\]|\\.)*+"', "match"),
}


@pytest.mark.process
@pytest.mark.exhaustive
def test_time_grows_with_the_text():
    """In a process of its own: `re` cannot be interrupted. It prints what it begins, and what is slow."""
    command = [sys.executable, "-m", "tests.expressions"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        printed = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        pytest.fail(f"this pattern does not end: {printed.splitlines()[-1:]}")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("slow")] == []
    assert sum(line.startswith("begin") for line in lines) == len([*all_written(sources())]) > 440


@pytest.mark.exhaustive
def test_patterns_are_where_they_are_looked_for():
    """`re` is used by its own name and called directly, and no other package has patterns."""
    assert indirect(sources()) == []


def test_each_folder_is_walked_or_out_of_scope():
    walked = {(folder / name).relative_to(ROOT) for name, folder in FOLDERS.items()}
    known = walked | {Path(name) for name in OUT_OF_SCOPE}
    tracked = (path.relative_to(ROOT) for path in ROOT.glob("[!.]*/**/*.py") if "node_modules" not in path.parts)
    assert {path for path in tracked if not known & {*path.parents}} == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SLOW)
def test_slow_pattern_is_found(name: str):
    pattern, method = SLOW[name]
    assert complaint(re.compile(pattern), frozenset({method})) is not None


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FAST)
def test_fast_pattern_is_not_reported(name: str):
    pattern, method = FAST[name]
    assert complaint(re.compile(pattern), frozenset({method})) is None


def test_pumps_reach_each_repeat():
    made = pumps(re.compile(r'key="(?:[^"\\]|\\.)*" *(\d+)'))
    starts = {pump.start for pump in made}
    assert {'key="', 'key=""', 'key="" '} <= starts
    assert {" ", "0", "\\a"} <= {pump.unit for pump in made}
