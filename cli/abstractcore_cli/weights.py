"""`abstractcore models`: lists, downloads and removes model weights."""

from __future__ import annotations

import typer

from abstractcore.stores.models import shown_size

from .plugins import model_store
from .reporting import catalogue_json, reported
from .screen import complain, note, show_table, write


def show_stored(*, as_json: bool = False) -> None:
    """Prints a table of the models, and how to download one."""
    with reported(as_json=as_json):
        store = model_store()
        kept = {model.name: model for model in store.list()}
        if as_json:
            stored = [{"name": model.name, "size": model.size, "path": str(model.path)} for model in kept.values()]
            packaged = [
                {"name": model.name, "size": model.size, "licence": model.licence, "summary": model.summary}
                for model in store.packaged
            ]
            write(catalogue_json({"stored": stored, "packaged": packaged}))
            return
        licences = {model.name: model.licence for model in store.packaged}
        rows = [
            (model.name, shown_size(model.size), licences.get(model.name, "?"), str(model.path))
            for model in kept.values()
        ]
        rows += [
            (model.name, shown_size(model.size), model.licence, f"not downloaded: {model.summary}")
            for model in store.packaged
            if model.name not in kept
        ]
        show_table(("name", "size", "licence", "path"), rows)
        note("Download a model with `abstractcore models pull NAME`; NAME may be hf:owner/repository/file.gguf.")


def pull(name: str) -> None:
    """Downloads a model and prints its path."""
    with reported():
        model = model_store().pull(name)
        write(f"{model.path}\n")


def remove(name: str) -> None:
    """Removes a model."""
    with reported():
        if not model_store().remove(name):
            complain(f"{name} is not stored.", "Run `abstractcore models list`.")
            raise typer.Exit(1)
        note(f"removed {name}")
