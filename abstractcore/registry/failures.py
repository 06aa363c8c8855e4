"""Turns exceptions of plugins into `PluginError`, which names the plugin."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..errors import AbstractCoreError, PluginError, SchemaError


def failure_text(failure: BaseException) -> str:
    """Returns one line about `failure`, even if its `__str__` raises."""
    try:
        text = str(failure)
    except Exception:
        text = "(its message cannot be read)"
    return text if isinstance(failure, AbstractCoreError) else f"{type(failure).__name__}: {text}".removesuffix(": ")


@contextmanager
def failures_of(what: str, expected: tuple[type[Exception], ...] = ()) -> Generator[None]:
    """Raises exceptions of its body as `PluginError`, which names `what`; `AbstractCoreError`s and `expected` pass.

    A `SchemaError` means that the plugin misused schema classes: it passes only if it is expected.
    """
    try:
        yield
    except expected:
        raise
    except Exception as failure:
        if isinstance(failure, AbstractCoreError) and not isinstance(failure, SchemaError):
            raise
        raise PluginError(f"{what} failed: {failure_text(failure)}", hint="This is a bug in the plugin.") from failure
