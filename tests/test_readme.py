"""The README is true: its code runs, its tables are those of the code."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import abstractcore
from abstractcore.model_store import FileModelStore

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def first_column(header: str) -> set[str]:
    """The names in the first column of the table that begins with `header`."""
    table = README.split(f"| {header} |")[1].split("\n\n")[0]
    return set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))


def test_the_python_blocks_run_in_order(
    models: FileModelStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(models.root.parent))
    monkeypatch.chdir(ROOT)
    module = ModuleType("readme")
    monkeypatch.setitem(sys.modules, "readme", module)  # dataclasses look there
    printed: list[str] = []
    for block in BLOCK.finditer(README):
        lines_before = README.count("\n", 0, block.start(1))
        code = compile("\n" * lines_before + block[1], "README.md", "exec", dont_inherit=True)
        exec(code, vars(module))
        printed.append(capsys.readouterr().out)
    first, stream, loop, data, files, errors = printed
    answer, decision, tokens = first.splitlines()
    assert "12 euros" in answer
    assert f"\n{decision}\n" in README, "the README shows something else than its first block prints"
    assert re.fullmatch(r"\d+ \d+ 0\.0", tokens)
    assert stream.endswith(("stop\n", "length\n"))
    assert loop == "Hello. Bonjour.\nword\n by\n word\n"
    assert data == "12.0 EUR\n"
    assert files.startswith("fallback audio\n")
    assert errors == "Here I am. ['OverloadedError', None]\n"


def test_the_table_of_providers_is_the_registry() -> None:
    assert first_column("provider") == set(abstractcore.Registry.from_entry_points().providers)


def test_the_tables_of_extras_and_policies_name_what_there_is() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert first_column("extra") <= set(extras)
    assert first_column("policy") == {"auto", "native", "fallback_only", "refuse"}


def test_the_tree_of_errors_names_errors() -> None:
    tree = README.split("AbstractCoreError\n|-")[1].split("```")[0]
    named = set(re.findall(r"\w+Error\b", tree))
    assert named <= set(abstractcore.__all__)
    assert named >= {cls.__name__ for cls in abstractcore.ProviderError.__subclasses__()}


def test_the_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert targets
    assert all((ROOT / target).exists() for target in targets)
