"""docs/configuration.md: its tables of TOML are valid, and it names every setting and every variable."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from abstractcore import Services
from abstractcore.configuration import (
    ConfiguredAuto,
    ConfiguredBudget,
    ConfiguredLimits,
    ConfiguredLLM,
    ConfiguredProvider,
    ConfiguredRouting,
)
from tests.documents import ROOT

PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_tables_of_the_page_are_valid(block: str, tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text(block)
    services = Services(environment={"ABSTRACTCORE_CONFIG": str(path)})
    configuration = services.configuration
    assert any((configuration.llms, configuration.providers, configuration.media_policy, configuration.auto.models))
    services.close()


@pytest.mark.parametrize(
    "table", [ConfiguredLLM, ConfiguredBudget, ConfiguredLimits, ConfiguredRouting, ConfiguredProvider, ConfiguredAuto]
)
def test_every_setting_is_on_the_page(table: type):
    assert [each.name for each in fields(table) if f"`{each.name}`" not in PAGE] == []


def test_every_variable_that_the_code_reads_is_on_the_page():
    read = set[str]()
    for folder in ("abstractcore", "cli", "media", "providers", "plugins", "packages"):
        for file in (ROOT / folder).rglob("*.py"):
            read |= set(re.findall(r'"(ABSTRACTCORE_[A-Z_]*[A-Z])"', file.read_text(encoding="utf-8")))
    assert {"ABSTRACTCORE_CONFIG", "ABSTRACTCORE_CACHE"} <= read
    assert [
        name for name in sorted(read) if f"`{name}`" not in PAGE and not name.startswith("ABSTRACTCORE_SERVER")
    ] == []
