"""Reports errors of commands as lines or as JSON, and sets the exit code."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import typer

import abstractcore

from .exit_codes import exit_code
from .json_output import error_json
from .screen import complain, write
from .wording import rewritten


@contextmanager
def reported(*, as_json: bool = False) -> Generator[None]:
    """Runs the body of a command; reports an `AbstractCoreError` and raises `typer.Exit`."""
    try:
        yield
    except abstractcore.AbstractCoreError as error:
        code = exit_code(error)
        if as_json:
            write(error_json(error, code))
        else:
            print_error(error)
        raise typer.Exit(code) from None


@contextmanager
def usage_reported(*, as_json: bool) -> Generator[None]:
    """Wraps the parsing of arguments; with JSON, usage errors are reported like other errors."""
    try:
        yield
    except typer.TyperException as error:
        if not as_json:
            raise
        with reported(as_json=True):
            message = error.format_message()
            raise abstractcore.InvalidInputError(message, hint="Run `abstractcore --help`.") from None


def print_error(error: abstractcore.AbstractCoreError) -> None:
    """Prints an error, and its hint on a line of its own."""
    hint = error.hint
    message = str(error)
    complain(
        rewritten(error, message.removesuffix(hint).rstrip() if hint else message), hint and rewritten(error, hint)
    )
