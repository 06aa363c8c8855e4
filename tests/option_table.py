"""Writes the tables of options in docs/options.md. `python -m` runs it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from abstractcore import CallRequest
from abstractcore.client.create_options import CreateOptions
from abstractcore.option_help import option_lines, option_types

PAGE = Path(__file__).parents[1] / "docs" / "options.md"
_TABLE = re.compile(r"(<!-- options of (\w+), by `make docs` -->\n).*?(?=<!-- end -->)", re.DOTALL)


def page() -> str:
    """The page with its tables as they are to be."""
    return _TABLE.sub(lambda found: found[1] + _table(found[2]), PAGE.read_text(encoding="utf-8"))


def _table(function: str) -> str:
    options: Any = {"generate": CallRequest, "create_llm": CreateOptions}[function]
    known: Mapping[str, str] = option_types(CallRequest) if function == "create_llm" else {}
    types, lines = option_types(options), option_lines(options)
    rows = [
        f"| `{name}` | `{_escaped(types[name].removesuffix(' | None'))}` | {_escaped(lines[name])} |"
        for name in types
        if known.get(name) != types[name]
    ]
    return "\n".join(["", "| option | type | |", "|---|---|---|", *rows, "", ""])


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
