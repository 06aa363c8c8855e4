"""How a command ends: errors as lines or as JSON, and the exit code."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import typer

import abstractcore

from .exit_codes import exit_code
from .json_output import error_json
from .screen import complain, write
from .wording import in_options


@contextmanager
def reported(*, as_json: bool = False) -> Generator[None]:
    """Run the body of a command; ends it with `typer.Exit` for our errors."""
    try:
        yield
    except abstractcore.AbstractCoreError as error:
        code = exit_code(error)
        if as_json:
            write(error_json(error, code))
        else:
            complain_of(error)
        raise typer.Exit(code) from None


@contextmanager
def usage_reported(*, as_json: bool) -> Generator[None]:
    """Where the command line is read; what is wrong with it is told as any other error is, if JSON is wanted."""
    try:
        yield
    except typer.TyperException as error:
        if not as_json:
            raise
        with reported(as_json=True):
            message = error.format_message()
            raise abstractcore.InvalidInputError(message, hint="`abstractcore --help` says what there is.") from None


def complain_of(error: abstractcore.AbstractCoreError) -> None:
    """Show an error with its hint on a line of its own."""
    hint = error.hint
    message = str(error)
    complain(in_options(message.removesuffix(hint).rstrip() if hint else message), hint and in_options(hint))
