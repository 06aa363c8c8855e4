"""The licences of what the distributions require: read, judged, and named where they are not permissive."""

from __future__ import annotations

import pytest

from release.licences import ALLOWED, Licence, is_permissive, licence, main, problems, required
from release.projects import locked_base, locked_extra, projects


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("LGPL-2.1-only OR MIT", True),
        ("MPL-2.0 AND MIT", False),
        ("MIT OR Apache-2.0 AND GPL-3.0", True),
        ("(MIT OR Apache-2.0) AND GPL-3.0", False),
        ("(GPL-2.0 OR (BSD-3-Clause AND ISC)) AND MIT", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0 WITH Classpath-exception-2.0", False),
        ("", False),
    ],
)
def test_expression_is_permissive_if_one_may_choose_so(expression: str, expected: bool):
    assert is_permissive(expression) is expected


def test_distributions_require_what_is_permissive_or_named_with_a_reason(capsys: pytest.CaptureFixture[str]):
    needed = required()
    assert {name for name, always in needed.items() if always} >= {"httpx2", "pydantic-core", "typer"}
    assert {"av", "onnxruntime", "sqlalchemy", "symusic", "a2a-sdk"} <= needed.keys()
    assert not any(name.startswith("abstract") for name in needed)
    assert main([]) == 0, capsys.readouterr().err
    assert main(["--list"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len([row for row in rows if row.startswith(("core ", "extra "))]) == len(needed)
    assert f"with a reason: {', '.join(sorted(ALLOWED))}." in rows[-1]


def test_libraries_and_programs_in_wheels_are_found_by_their_files():
    found = licence("av")
    assert found is not None
    assert {"x264", "x265"} <= {*found.bundled}
    assert "holds x264 (GPL-2.0)" in str(found)
    assert licence("pydantic-core") == Licence("pydantic-core", "MIT")
    programs = licence("symusic")
    assert programs is not None
    assert programs.bundled == ("abc2midi", "midi2abc")


def test_problems_name_the_package_and_what_to_do():
    needed = {"base": True, "added": False, "missing": False, "good": False, "held": False}
    read = [Licence("base", "MPL-2.0"), Licence("added", ""), Licence("good", "MIT"), Licence("held", "MIT", ("x264",))]
    assert problems(needed, read, {"base": "no matter", "good": "long ago"}) == [
        "missing: not installed, so that its licence is not known",
        "base: MPL-2.0 is not permissive, and the core always requires it",
        "added: no licence in its metadata is not permissive: give a reason in ALLOWED, or do without it",
        "held: MIT, holds x264 (GPL-2.0) is not permissive: give a reason in ALLOWED, or do without it",
        "good: in ALLOWED without need",
    ]


def test_extra_all_is_the_union_of_what_the_lock_has_for_each_extra():
    core = next(each for each in projects() if each.name == "abstractcore")
    of_each = {extra: locked_extra(core.name, extra) for extra in core.extras}
    assert of_each["all"] == set().union(*(of_each[extra] for extra in of_each if extra not in ("all", "heic", "test")))
    assert "pi-heif" in of_each["heic"] - of_each["all"]
    assert "jiter" in locked_base(core.name) - of_each["video"]
