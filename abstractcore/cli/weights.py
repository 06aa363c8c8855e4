"""`abstractcore models`: the weights on this machine."""

from __future__ import annotations

import typer

import abstractcore

from .reporting import reported
from .screen import complain, note, show_table, write

_MEBIBYTE = 1 << 20


def show_kept() -> None:
    """A table of the models, or what to do if there are none."""
    with reported():
        store = abstractcore.FileModelStore()
        kept = {model.name: model for model in store.list()}
        rows = [(model.name, _size(model.size), str(model.path)) for model in kept.values()]
        rows += [
            (model.name, _size(model.size), f"not fetched yet: {model.summary}")
            for model in store.catalogue
            if model.name not in kept
        ]
        show_table(("name", "size", "path"), rows)
        note("`abstractcore models pull NAME` fetches one; hf:owner/repository/file.gguf is a name too.")


def pull(name: str) -> None:
    """Fetch a model and say where it is."""
    with reported():
        model = abstractcore.FileModelStore().pull(name)
        write(f"{model.path}\n")


def remove(name: str) -> None:
    """Delete a model."""
    with reported():
        if not abstractcore.FileModelStore().remove(name):
            complain(f"{name} is not kept here.", "`abstractcore models list` shows what is.")
            raise typer.Exit(1)
        note(f"removed {name}")


def _size(size: int) -> str:
    return f"{size / _MEBIBYTE:,.1f} MiB"
