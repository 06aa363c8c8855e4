"""How what goes wrong in a plugin is told: with the plugin's name, in an error of ours."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..errors import AbstractCoreError, PluginError, SchemaError


def told(failure: BaseException) -> str:
    """One line about `failure`, whatever its own text does."""
    try:
        text = str(failure)
    except Exception:
        text = "(its message cannot be read)"
    return text if isinstance(failure, AbstractCoreError) else f"{type(failure).__name__}: {text}".removesuffix(": ")


@contextmanager
def failures_of(what: str, expected: tuple[type[Exception], ...] = ()) -> Generator[None]:
    """What is raised inside comes out as a `PluginError` that names `what`; errors of ours and `expected` stay.

    A `SchemaError` says that the plugin made something wrong of our classes: it stays only where it is expected.
    """
    try:
        yield
    except expected:
        raise
    except Exception as failure:
        if isinstance(failure, AbstractCoreError) and not isinstance(failure, SchemaError):
            raise
        raise PluginError(f"{what} failed: {told(failure)}", hint="This is a fault of the plugin.") from failure
