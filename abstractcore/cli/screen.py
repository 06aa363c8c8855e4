"""Terminal output: answers on stdout; notes, errors and hints on stderr; tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# Answers and file names are untrusted: escape sequences could change the screen, the window title or the clipboard.
# Control characters are shown as symbols; carriage returns, common in line ends, are removed.
_SHOWN: dict[int, int | None] = {
    **{code: 0x2400 + code for code in range(0x20)},
    **dict.fromkeys(range(0x7F, 0xA0), 0xFFFD),
    ord("\t"): ord("\t"),
    ord("\n"): ord("\n"),
    ord("\r"): None,
}


def shown(text: str) -> str:
    """Returns `text` with visible control characters."""
    return text.translate(_SHOWN)


def write(text: str) -> None:
    """Writes text to stdout and flushes it; unchanged unless stdout is a terminal."""
    sys.stdout.write(shown(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def note(line: str) -> None:
    """Prints a line to stderr."""
    _print(" ".join(line.split("\n")), "dim")


def complain(message: str, hint: str | None) -> None:
    """Prints an error and its hint to stderr."""
    _print(f"error: {message}", "bold red")
    if hint:
        _print(hint, "")


def show_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table on a terminal; tab-separated lines elsewhere."""
    if not sys.stdout.isatty():
        for row in rows:
            write("\t".join(" ".join(shown(cell).split()) for cell in row) + "\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    Console(highlight=False).print(table)


def show_group(title: str, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table whose first column has a title on a terminal; elsewhere lines that begin with the title."""
    if sys.stdout.isatty():
        show_table((title, *headers), rows)
        write("\n")
    else:
        show_table((), ((title, *row) for row in rows))


def show_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """Prints names and values below a title on a terminal; elsewhere tab-separated lines that begin with the title.

    On a terminal, a name that is repeated is shown once.
    """
    if not sys.stdout.isatty():
        show_table((), ((title, name, value) for name, value in facts))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    last = ""
    for name, value in facts:
        table.add_row(Text("" if name == last else shown(name)), Text(shown(value)))
        last = name
    console = Console(highlight=False)
    console.print(Text(shown(title), style="bold"))
    console.print(table)
    console.print()


def _print(text: str, style: str) -> None:
    from rich.text import Text

    console = _stderr()
    # Lines are not wrapped unless on a terminal, so that they can be searched.
    console.print(Text(shown(text), style=style), soft_wrap=not console.is_terminal)


@cache
def _stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)
