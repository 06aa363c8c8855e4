"""What the Tab key completes beside commands and options: providers, models, weights and sessions. Nothing is sent."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr
from io import StringIO

import typer

import abstractcore

_SPECIAL = re.compile(r"[^\w@%+=:,./-]")
"""Characters that a shell would not take as they are."""


def _quietly(names: Callable[[], Iterable[str]], incomplete: str) -> list[str]:
    """Returns the names that begin so. A shell shows what a completion prints amid the line that is being typed:
    problems, such as a broken file of models, are left to the command itself.
    """
    with redirect_stderr(StringIO()):
        try:
            return [_in_bash(name) for name in names() if name.startswith(incomplete)]
        except (abstractcore.AbstractCoreError, OSError):
            return []


def _in_bash(name: str) -> str:
    """Returns a name as bash has to insert it, which quotes nothing itself; unchanged in a word that begins with a
    quotation mark, and in other shells.
    """
    words = os.environ.get("COMP_WORDS", "").split("\n")
    if not words[-1] or words[-1].startswith(("'", '"')):
        return name
    return _SPECIAL.sub(r"\\\g<0>", name)


def providers(incomplete: str) -> list[str]:
    """Returns the providers; after a slash, the models of one."""
    return _quietly(lambda: _models(incomplete) if "/" in incomplete else _providers(), incomplete)


def models(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the models of `--provider`; without it, providers with a slash, and after that their models."""
    provider = context.params.get("provider")
    if provider:
        return _quietly(lambda: _names(provider.partition("/")[0]), incomplete)
    return _quietly(
        lambda: _models(incomplete) if "/" in incomplete else (f"{name}/" for name in _providers()), incomplete
    )


def weights(incomplete: str) -> list[str]:
    """Returns the models that can be downloaded by name."""
    return _quietly(_weights, incomplete)


def sessions(incomplete: str) -> list[str]:
    """Returns the named sessions."""
    return _quietly(_sessions, incomplete)


def _providers() -> list[str]:
    from .plugins import registry

    return sorted(registry().providers)


def _models(incomplete: str) -> Iterator[str]:
    provider = incomplete.partition("/")[0]
    return (f"{provider}/{name}" for name in _names(provider))


def _names(provider: str) -> list[str]:
    from .catalogues import open_catalogue

    catalogue = open_catalogue()
    return list(catalogue.models(provider).names) if provider in catalogue.providers else []


def _weights() -> list[str]:
    from .plugins import model_store

    return [model.name for model in model_store().packaged]


def _sessions() -> list[str]:
    from .sessions.names import name_of, stored_paths

    return [name_of(path) for path in stored_paths()]
