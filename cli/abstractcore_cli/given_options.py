"""Options that say where things are kept, repeated in the commands that hints name: without them, these would look
elsewhere.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

import abstractcore


@contextmanager
def repeated_in_hints(group: str, option: str, value: str | None, variable: str) -> Generator[None]:
    """In its body, hints with a command of a group name an option that was given, as in `abstractcore runs list --store
    team.db`; unless the environment `variable` sets it, which the next command reads too.
    """
    try:
        yield
    except abstractcore.AbstractCoreError as error:
        if error.hint and value and value != os.environ.get(variable):
            error.hint = with_option(error.hint, group, f"{option} {_shown(value)}")
        raise


def with_option(text: str, group: str, option: str) -> str:
    """Returns a text with an option at the end of a command of the group: before a backtick, or the text's end."""
    before, found, after = text.partition(f"abstractcore {group} ")
    if not found or option.partition(" ")[0] in after.split():
        return text
    command, backtick, rest = after.partition("`")
    arguments = command.rstrip(" .")
    return f"{before}{found}{arguments} {option}{command[len(arguments) :]}{backtick}{rest}"


def _shown(value: str) -> str:
    """Returns the value of an option as a shell takes it; "URL" for one with a password."""
    try:
        return "URL" if urlsplit(value).password else shlex.quote(value)
    except ValueError:
        return "URL"
