"""The tiers of this suite: what is selected, and what is reported of a test that is in the wrong one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import quick
from tests.tiers import TIERS, is_fast, may_be_selected

WHOLE_MODULE = "pytestmark = pytest.mark.{}\n\ndef test_it(): ...\n"
ONE_OF_TWO = "def test_one(): ...\n\n@pytest.mark.{}\ndef test_other(): ...\n"
SUITE = """
import subprocess, sys, time
import pytest

def test_cheap(): ...

def test_starts_a_process():
    subprocess.run([sys.executable, "-c", ""], check=True)

@pytest.mark.process
def test_starts_a_process_with_a_mark():
    subprocess.run([sys.executable, "-c", ""], check=True)

@pytest.mark.process
@pytest.mark.smoke
def test_starts_a_process_and_is_fast():
    subprocess.run([sys.executable, "-c", ""], check=True)

def test_costly():
    while time.process_time() < 0.6 + BEFORE: ...

BEFORE = time.process_time()
"""
MIRRORED = {
    "abstractcore/files/routes.py": ["tests/core/files"],
    "providers/abstractcore_providers/formats/gemini/encode.py": ["tests/providers/formats/gemini"],
    "media/abstractcore_media/video/reader.py": ["tests/media/video"],
    "plugins/abstractmusic/abstractmusic/remote/suno.py": ["tests/plugins/music/remote"],
    "tests/core/test_errors.py": ["tests/core/test_errors.py"],
    "docs/tools.md": ["tests/test_docs.py", "tests/test_readme.py"],
    "CHANGELOG.md": [],
    "tests/chaos_server.py": [],
    "uv.lock": [],
}


@pytest.mark.parametrize("tier", sorted(TIERS))
def test_fast_tests_are_those_without_a_tier_and_those_that_are_smoke(tier: str):
    assert is_fast(set())
    assert is_fast({"parametrize"})
    assert not is_fast({tier})
    assert is_fast({tier, "smoke"})


@pytest.mark.parametrize("tier", sorted(TIERS))
def test_module_is_collected_if_one_of_its_tests_may_be_selected(tier: str):
    whole, one = WHOLE_MODULE.format(tier), ONE_OF_TWO.format(tier)
    plain = "def test_it(): ..."
    both = f"pytestmark = [pytest.mark.{tier}]\n@pytest.mark.smoke\ndef test_it(): ...\ndef test_other(): ...\n"
    assert [may_be_selected(text, "fast") for text in (plain, whole, one, both)] == [True, False, True, True]
    assert [may_be_selected(text, "not fast") for text in (plain, whole, one, both)] == [True, True, True, True]
    assert [may_be_selected(text, tier) for text in (plain, whole, one, both)] == [True, True, True, True]


def test_expressions_with_other_marks_leave_out_no_module():
    assert may_be_selected(WHOLE_MODULE.format("process"), "fast and parametrize")


@pytest.mark.process
def test_run_reports_tests_in_the_wrong_tier(tmp_path: Path):
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.tiers"]\n', encoding="utf-8")
    marks = "".join(f"\n    {mark}" for mark in (*sorted(TIERS), "smoke"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {quick.ROOT}\nmarkers ={marks}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "fast", "-rA"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "4 passed, 1 deselected, 1 error" in result.stdout, result.stdout + result.stderr
    assert "ERROR test_suite.py::test_starts_a_process - " in result.stdout
    assert "This test starts a process: it needs the mark `process`." in result.stdout
    named = result.stdout.partition("over 0.5 s of processor time, and without a mark")[2].splitlines()
    assert [line.split()[-1] for line in named if " s  " in line] == ["test_suite.py::test_costly"]


@pytest.mark.process
@pytest.mark.exhaustive
def test_each_process_collects_the_same_tests():
    """Workers that collect other tests end a run: names may not depend on the time or on the order of a set."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    outputs = [
        subprocess.run(command, cwd=quick.ROOT, env=each, capture_output=True, text=True) for each in environments
    ]
    first, second = ([line for line in output.stdout.splitlines() if "::" in line] for output in outputs)
    assert len(first) > 20_000, outputs[0].stdout[-2000:]
    assert first == second


def test_changed_files_have_the_tests_of_their_mirrored_folder():
    assert {path: quick.tests_of(path) for path in MIRRORED} == MIRRORED
    assert "tests/core/test_errors.py" in quick.tests_of("abstractcore/errors.py")
    assert "tests/server/test_routes.py" in quick.tests_of("server/abstractcore_server/routes.py")
    assert quick.tests_of("server/abstractcore_server/access/admission.py") == ["tests/server/access"]
    assert "tests/plugins/voice/test_local.py" in quick.tests_of("plugins/abstractvoice/pyproject.toml")


def test_each_folder_of_source_with_tests_is_known():
    """A package without a test folder of its own is covered by what is directly in the folder above it."""
    sources = [
        *quick.ROOT.glob("abstractcore/*/__init__.py"),
        *quick.ROOT.glob("providers/abstractcore_providers/*/__init__.py"),
        *quick.ROOT.glob("media/abstractcore_media/*/__init__.py"),
        *quick.ROOT.glob("packages/*/*/__init__.py"),
        *quick.ROOT.glob("plugins/*/*/__init__.py"),
    ]
    without = [str(path) for path in sources if not quick.tests_of(str(path.relative_to(quick.ROOT)))]
    assert without == []
