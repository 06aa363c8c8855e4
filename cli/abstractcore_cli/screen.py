"""Terminal output: answers on stdout; notes, errors and hints on stderr; tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout, suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, TextIO

from abstractcore.schema import visible

if TYPE_CHECKING:
    from rich.console import Console

_DEFAULT_WIDTH = 80


def write(text: str, stdout: TextIO | None = None) -> None:
    """Writes text to stdout and flushes it; unchanged unless stdout is a terminal.

    `stdout` is the stream to write to in the body of `prints_to_stderr`.
    """
    out = stdout or sys.stdout
    out.write(visible(text) if out.isatty() else text)
    out.flush()


def note(line: str) -> None:
    """Prints a line to stderr."""
    _print(" ".join(line.split("\n")), "dim")


def announce(text: str) -> None:
    """Prints lines to stderr that the user must see."""
    _print(text, "bold")


def ask_line(prompt: str) -> str | None:
    """Returns the line that the user types after `prompt`; None at the end of input. Raises `KeyboardInterrupt`."""
    if not sys.stdout.isatty():  # `input` would print the prompt there
        sys.stderr.write(prompt)
        sys.stderr.flush()
        prompt = ""
    try:
        return input(prompt)
    except EOFError:
        announce("")
        return None


def prints_to_stderr() -> AbstractContextManager[object]:
    """In its body, what tools print goes to stderr: stdout is for the answer."""
    return redirect_stdout(sys.stderr)


def complain(message: str, hint: str | None) -> None:
    """Prints an error and its hint to stderr."""
    _print(f"error: {message}", "bold red")
    if hint:
        _print(hint, "")


def show_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    crop: Mapping[str, int] | None = None,
    below: Iterable[Sequence[tuple[str, str]]] = (),
) -> None:
    """Prints a table on a terminal, with whole names at any width; tab-separated lines elsewhere.

    `crop` has the columns, by their headers, that are shortened in this order where the table is too wide, with the
    width that each keeps; 0 for one that may be left out. `below` has a line of pieces for each row, as those of
    `show_lines`: it is shown below the row on a terminal.
    """
    cells = [[" ".join(visible(cell).split()) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            write("\t".join(row) + "\n")
        return
    from .layout import cropped, table_rows

    console = _console(sys.stdout)
    if crop is not None:
        headers, cells = cropped(headers, cells, console.width, crop)
    first, *groups = table_rows([visible(header) for header in headers], cells, console.width)
    for line in first:
        _print_line(console, (line, "dim"))
    for lines, pieces in zip_longest(groups, below):
        for line in lines:
            _print_line(console, (line, ""))
        if pieces:
            _print_line(console, *((visible(text), style) for text, style in pieces))


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
    from .layout import fact_lines, wrapped

    console = _console(sys.stdout)
    for line in wrapped(visible(title), console.width):
        _print_line(console, (line, "bold"))
    for name, value in fact_lines([(visible(name), visible(value)) for name, value in facts], console.width):
        _print_line(console, (name, "dim"), (value, ""))
    _print_line(console)


def show_lines(lines: Iterable[Sequence[tuple[str, str]]]) -> None:
    """Prints lines of pieces, each a text with its style, to stdout; without control characters in pipes and files too,
    since pagers pass them on. Lines are not wrapped.
    """
    if not sys.stdout.isatty():
        for line in lines:
            write("".join(visible(text) for text, _ in line) + "\n")
        return
    console = _console(sys.stdout)
    for line in lines:
        _print_line(console, *((visible(text), style) for text, style in line))


def screen_width() -> int:
    """Returns the number of columns of the terminal; 0 if stdout is none."""
    return _width(sys.stdout) if sys.stdout.isatty() else 0


def can_show(text: str) -> bool:
    """Returns whether the encoding of stdout has all characters of a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _print(text: str, style: str) -> None:
    """Prints a text to stderr; its lines are wrapped on a terminal only, so that they can be searched elsewhere."""
    console = _console(sys.stderr)
    for line in visible(text).split("\n"):
        if console.is_terminal:
            from .layout import wrapped

            for piece in wrapped(line, console.width):
                _print_line(console, (piece, style))
        else:
            _print_line(console, (line, style))


def _print_line(console: Console, *pieces: tuple[str, str]) -> None:
    from rich.text import Text

    console.print(Text.assemble(*pieces), soft_wrap=True)


def _console(stream: TextIO) -> Console:
    """Returns a console with the width of `$COLUMNS` or the terminal, which rich expects to be a decimal number."""
    from rich.console import Console

    return Console(file=stream, highlight=False, width=_width(stream), height=1)


def _width(stream: TextIO) -> int:
    with suppress(KeyError, ValueError):
        if (columns := int(os.environ["COLUMNS"])) > 0:
            return columns
    with suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    return _DEFAULT_WIDTH
