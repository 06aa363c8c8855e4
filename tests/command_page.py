"""Writes docs/commands.md: every command with its examples and options, and the exit codes. `python -m` runs it."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

import abstractcore
from abstractcore.schema import visible
from abstractcore_cli.app import app
from abstractcore_cli.exit_codes import EPILOG, exit_code

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
PROGRAM = "abstractcore"
_PART = re.compile(r"(<!-- (exit codes|all commands|each command), by `make docs` -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEADING = "Examples:"
_INDENT = "    "
_CODE = re.compile(r"^ {2}(\d+) +(.+)$", re.MULTILINE)
_ENDS_COMMAND = ("|", "||", "&&", ";", ">")


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command that can be run: its words, without `abstractcore`, and its context."""

    words: tuple[str, ...]
    context: Any

    @property
    def name(self) -> str:
        return " ".join((PROGRAM, *self.words))

    @property
    def paragraphs(self) -> list[str]:
        """The help: text, and lines that can be typed, each with an indent of four."""
        return (self.context.command.help or "").split("\n\n")

    @property
    def examples(self) -> list[str]:
        """The lines of the help that can be typed."""
        return [each.strip() for each in self.paragraphs if each.startswith(_INDENT)]

    @property
    def own_examples(self) -> list[list[str]]:
        """The arguments of each example that runs this command, its words included."""
        found = [arguments_of(each) for each in self.examples]
        return [each for each in found if each is not None and tuple(each[: len(self.words)]) == self.words]

    @property
    def has_json(self) -> bool:
        return any("--json" in each.opts for each in self.context.command.params)


def arguments_of(line: str) -> list[str] | None:
    """Returns the arguments of the first `abstractcore` in a line of a shell; None if there is no such command."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;>")
    lexer.whitespace_split = True
    words = list(lexer)
    if PROGRAM not in words:
        return None
    rest = words[words.index(PROGRAM) + 1 :]
    ends = [rest.index(end) for end in _ENDS_COMMAND if end in rest]
    return rest[: min(ends, default=len(rest))]


def commands() -> list[CommandEntry]:
    """Returns all commands that can be run, those of other packages as well."""
    return list(_commands(get_command(app), None, ()))


def _commands(command: Any, parent: Any, words: tuple[str, ...]) -> Iterator[CommandEntry]:
    context = command.context_class(command, info_name=words[-1] if words else PROGRAM, parent=parent)
    if not isinstance(command, TyperGroup) or command.invoke_without_command:
        yield CommandEntry(words, context)
    if isinstance(command, TyperGroup):
        for name in sorted(command.list_commands(context)):
            yield from _commands(command.get_command(context, name), context, (*words, name))


def page() -> str:
    """The page with its parts as they are to be."""
    parts = {"exit codes": _exit_codes, "all commands": _all_commands, "each command": _each_command}
    return _PART.sub(lambda found: f"{found[1]}\n{parts[found[2]]()}\n\n", PAGE.read_text(encoding="utf-8"))


def _exit_codes() -> str:
    errors = [getattr(abstractcore, name) for name in abstractcore.__all__ if name.endswith("Error")]
    kinds = [kind for kind in errors if issubclass(kind, abstractcore.AbstractCoreError)]
    names = dict[int, list[str]]()
    for kind in kinds:
        names.setdefault(exit_code(kind("")), []).append(f"`{kind.__name__}`")
    rows = [(code, meaning, ", ".join(sorted(names.get(int(code), [])))) for code, meaning in _CODE.findall(EPILOG)]
    return _table(("code", "meaning", "errors"), rows)


def _all_commands() -> str:
    rows = [
        (f"[`{each.name}`](#{each.name.replace(' ', '-')})", _first_sentence(each), "yes" if each.has_json else "")
        for each in commands()
    ]
    return _table(("command", "what it does", "`--json`"), rows)


def _first_sentence(entry: CommandEntry) -> str:
    return re.split(r"(?<=[.:]) ", entry.paragraphs[0])[0].rstrip(".:")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _each_command() -> str:
    return "\n\n".join(_section(each) for each in commands())


def _section(entry: CommandEntry) -> str:
    context = entry.context
    formatter = context.make_formatter()
    formatter.width = 100
    context.command.format_options(context, formatter)
    usage = " ".join(context.command.collect_usage_pieces(context))
    options = _without_commands(formatter.getvalue())
    parts = [
        f"## {entry.name}",
        *_description(entry),
        f"```text\n{entry.name} {usage}\n\n{options}\n```",
    ]
    return "\n\n".join(parts)


def _description(entry: CommandEntry) -> Iterator[str]:
    """Yields the help as Markdown: text as it is, and the lines that can be typed as blocks."""
    for is_typed, group in itertools.groupby(entry.paragraphs, lambda each: each.startswith(_INDENT)):
        if is_typed:
            yield "\n".join(["```sh", *(each.strip() for each in group), "```"])
        else:
            yield from (" ".join(each.split()).replace("<", "\\<") for each in group if each != _HEADING)


def _without_commands(options: str) -> str:
    """Returns the options of a group without its commands, which have sections of their own."""
    return visible(options).partition("\nCommands:")[0].rstrip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
