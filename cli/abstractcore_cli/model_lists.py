"""`abstractcore models list --provider X`: the models that a provider offers, live, with what the catalogue knows.

The weights on this machine: listed, downloaded (`models pull`) and removed.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import abstractcore
from abstractcore.schema.amounts import counted

from .catalogues import facts_json, is_retired, open_catalogue
from .interruptions import when_interrupted
from .model_search import COLUMNS, summary_row
from .plugins import model_store, registry
from .reporting import catalogue_json, reported, rewritten
from .screen import note, show_group, show_table, write

if TYPE_CHECKING:
    from abstractcore.catalogue import ModelEntry
    from abstractcore.registry import Registry
    from abstractcore.schema import ModelList

_LIST_MODELS = "list_models"
_MOST_PAGES = 100
_LEGEND = (
    "Prices are in dollars per million tokens; ? is unknown; row: whether the catalogue has the model, or its family."
)
_NO_MODEL = "any"
"""A name for sessions that list models: the list is the same for every model."""


def show_models(provider: str, base_url: str | None, timeout: float | None, *, offline: bool, as_json: bool) -> None:
    """Prints the models that the provider lists; those of the catalogue if it cannot be asked."""
    with reported(as_json=as_json):
        plugins = registry()
        plugins.provider(provider)
        catalogue = open_catalogue(plugins)
        reason = "--offline was given"
        names: list[str] | None = None
        if not offline:
            names, reason = _live(provider, base_url, timeout, plugins)
        live = names is not None
        if names is None:
            models = catalogue.models(provider)
            names = [name for name in models.names if models.alias(name) is None]
        listed = [(name, catalogue.entry(provider, name)) for name in names]
        if as_json:
            models_json = [{**facts_json(entry), "name": name} for name, entry in listed]
            write(catalogue_json({"provider": provider, "live": live, "models": models_json}))
            return
        now = time.time()
        rows = [(*summary_row(catalogue, entry, now, name), _how_known(name, entry, now)) for name, entry in listed]
        show_group(provider, (*COLUMNS, "row"), rows)
        origin = "listed by the provider" if live else f"of the catalogue; the provider was not asked: {reason}"
        note(f"{counted(len(listed), 'model')} {origin}")
        note(_LEGEND)


def _live(
    provider: str, base_url: str | None, timeout: float | None, plugins: Registry
) -> tuple[list[str] | None, str]:
    """Returns the names that the provider lists; or None, and why it cannot be asked.

    Raises other errors of a provider: a rejected key, for example.
    """
    options: dict[str, Any] = {"base_url": base_url, "timeout": timeout}
    given = {name: value for name, value in options.items() if value is not None}
    services = abstractcore.Services(registry=plugins)
    try:
        with (
            _errors_of_no_model(),
            abstractcore.create_llm(provider, _NO_MODEL, services=services, max_retries=1, **given) as llm,
        ):
            return _all_pages(llm), ""
    except abstractcore.AuthenticationError as error:
        if error.attempts or error.status is not None:
            raise
        return None, _why(error)
    except abstractcore.UnsupportedOptionError:
        return None, "it has no list of models"
    except abstractcore.NotFoundError as error:
        return None, f"it has no list of models ({error.message})"
    except abstractcore.ConfigurationError as error:
        if base_url is not None:
            raise
        return None, _why(error)
    except abstractcore.ConnectionFailedError as error:
        return None, _why(error)
    finally:
        services.close()


@contextmanager
def _errors_of_no_model() -> Generator[None]:
    """In its body, errors do not name the model of the session."""
    try:
        yield
    except abstractcore.AbstractCoreError as error:
        error.model = None
        raise


def _all_pages(llm: abstractcore.LLM) -> list[str]:
    """Returns the names on all pages of the list, each once."""
    names: dict[str, None] = {}
    after: str | None = None
    for _ in range(_MOST_PAGES):
        page: ModelList = llm.operate(_LIST_MODELS, arguments={"after": after} if after else {}).value
        names |= dict.fromkeys(page.names)
        if page.next is None or page.next == after:
            break
        after = page.next
    return list(names)


def _how_known(name: str, entry: ModelEntry, now: float) -> str:
    """Returns how the catalogue knows a model: by its own name, by another, by its family, or not at all; and
    whether it is retired.
    """
    if entry.match == "model":
        row = "yes" if entry.name == name else entry.name
        return f"{row}, retired" if is_retired(entry, now) else row
    return f"family {entry.name}" if entry.match == "family" else "no"


def _why(error: abstractcore.AbstractCoreError) -> str:
    return rewritten(error, f"{error.message.rstrip('.')}. {error.hint or ''}".strip())


def show_stored(*, as_json: bool = False) -> None:
    """Prints a table of the models, and how to download one."""
    with reported(as_json=as_json):
        from abstractcore.stores.models import shown_size

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


def pull(name: str, *, as_json: bool) -> None:
    """Downloads a model and prints its path."""
    hint = "Run the same command again: the download goes on where it was."
    with reported(as_json=as_json), when_interrupted(hint):
        model = model_store().pull(name)
        facts = {"name": model.name, "size": model.size, "path": str(model.path)}
        write(catalogue_json(facts) if as_json else f"{model.path}\n")


def remove(name: str, *, as_json: bool) -> None:
    """Removes a model; one that is not stored is an error."""
    with reported(as_json=as_json):
        if not model_store().remove(name):
            raise abstractcore.ModelStoreError(f"{name} is not stored.", hint="Run `abstractcore models list`.")
        if as_json:
            write(catalogue_json({"removed": name}))
        else:
            note(f"removed {name}")
