"""What reaches the person: answers on stdout; notes, errors and hints on stderr; tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# An answer or a file name is other people's text: with escape sequences it could rewrite the screen, the window's
# title or the clipboard. They are shown as symbols instead; a carriage return, common in line ends, is left out.
_SHOWN: dict[int, int | None] = {
    **{code: 0x2400 + code for code in range(0x20)},
    **dict.fromkeys(range(0x7F, 0xA0), 0xFFFD),
    ord("\t"): ord("\t"),
    ord("\n"): ord("\n"),
    ord("\r"): None,
}


def shown(text: str) -> str:
    """`text` with its control characters made visible."""
    return text.translate(_SHOWN)


def write(text: str) -> None:
    """Put text on stdout at once; on anything but a terminal, every character as it is."""
    sys.stdout.write(shown(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def note(line: str) -> None:
    """One line beside the answer."""
    _print(" ".join(line.split("\n")), "dim")


def complain(message: str, hint: str | None) -> None:
    """An error, and what to do about it."""
    _print(f"error: {message}", "bold red")
    if hint:
        _print(hint, "")


def show_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on a terminal; elsewhere one line a row with tabs between, for other programs."""
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


def _print(text: str, style: str) -> None:
    from rich.text import Text

    console = _stderr()
    # Elsewhere than on a terminal a line stays one line, so that it can be searched for.
    console.print(Text(shown(text), style=style), soft_wrap=not console.is_terminal)


@cache
def _stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)
