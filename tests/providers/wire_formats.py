"""Writes docs/wire-formats.md: what becomes of every probe in every format. `python -m` runs it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from abstractcore_providers.formats.registered import FORMATS
from tests.providers.findings import Finding, found
from tests.providers.probes import Probe, option_probes, part_probes, probes
from tests.providers.published import spelling

PAGE = Path(__file__).parents[2] / "docs" / "wire-formats.md"
_HEAD = """# Wire formats

What each format carries. This page is written by `make docs`, which encodes one call for each line in each format and
looks at the warnings; a test says when it is out of date.

* **yes**: it is carried as it is.
* **rewritten**: it is carried in another way or in part, and a warning says how.
* **left out**: it is not sent, and a warning says so.
* **refused**: a typed error names the place, before anything is sent.

This is what a format can say. What a model takes of it is decided before, by its profile: thinking levels become
budgets or the other way round, cache points over a vendor's maximum go, and files that a model does not take are
converted or refused. The columns are the folders of `abstractcore_providers`.
"""
_WORDS = {"native": "yes"}


def page() -> str:
    """The whole page."""
    tables = [_table("Parts", part_probes), _table("Options", option_probes)]
    return "\n".join([_HEAD, *tables, "## Why\n", *map(_reasons, FORMATS)]).rstrip() + "\n"


def _table(title: str, made: Callable[[str], Mapping[str, Probe]]) -> str:
    findings = {name: _findings(name, made) for name in FORMATS}
    lines = [f"| | {' | '.join(FORMATS)} |", "|---" * (len(FORMATS) + 1) + "|"]
    for probe in next(iter(findings.values())):
        outcomes = [findings[name][probe].outcome for name in FORMATS]
        lines.append(f"| {probe} | {' | '.join(_WORDS.get(word, word) for word in outcomes)} |")
    return "\n".join([f"## {title}\n", *lines, ""])


def _findings(format: str, made: Callable[[str], Mapping[str, Probe]]) -> dict[str, Finding]:
    return {name: found(format, probe) for name, probe in made(format).items()}


def _reasons(format: str) -> str:
    """The warnings of one format with what they are for, and where requests are not spelt as its vendor prints them."""
    of: dict[str, list[str]] = {}
    for name, finding in _findings(format, probes).items():
        if finding.outcome != "refused":
            for reason in dict.fromkeys(finding.reasons):
                of.setdefault(reason, []).append(name)
    lines = [f"* {'; '.join(names)}: {reason}" for reason, names in of.items()]
    lines += [f"* `{path}`, against what is printed: {reason}" for path, reason in spelling(format).items()]
    return "\n".join([f"### {format}\n", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
