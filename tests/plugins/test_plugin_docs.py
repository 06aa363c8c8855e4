"""The page on plugins names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from abstractcore.ports import BackendRegistry
from abstractcore.registry import hooks

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "plugins.md").read_text(encoding="utf-8")


def test_page_lists_every_hook_and_nothing_else_that_registers():
    known = {name for name in vars(hooks) if name.startswith("register_")}
    methods = {name for name in vars(BackendRegistry) if name.startswith("register_")}
    assert known <= set(re.findall(r"register_\w+", PAGE)) <= known | methods


def test_page_shows_the_metadata_of_the_example():
    project = (DOCS.parent / "examples" / "plugin_hello" / "pyproject.toml").read_text(encoding="utf-8")
    shown = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert shown[0] in project


def test_links_resolve():
    targets = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert targets
    assert all((DOCS / target).exists() for target in targets)
