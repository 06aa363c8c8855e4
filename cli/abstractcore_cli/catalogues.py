"""The catalogue of models, as commands read it: entries by provider, and their facts in short."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import abstractcore

from .plugins import registry
from .screen import note

if TYPE_CHECKING:
    from abstractcore.catalogue import FileCatalogue, ModelEntry
    from abstractcore.registry import Registry

_FILES: Mapping[str, tuple[str, ...]] = {
    "image": ("image",),
    "audio": ("audio",),
    "video": ("video",),
    "pdf": ("document", "application/pdf"),
}
"""Kinds of files, each with the kinds and the beginnings of media types that it stands for."""
_PARTS = re.compile(r"[0-9]+|[a-z]+")


def open_catalogue(plugins: Registry | None = None) -> FileCatalogue:
    """Returns the catalogue of this machine's plugins and user. Prints a note about user's rows without a provider."""
    from abstractcore.catalogue import FileCatalogue
    from abstractcore.registry import did_you_mean, nearest_names

    found = plugins or registry()
    catalogue = FileCatalogue(lambda: found.catalogues, os.environ, notify=_left_to_commands)
    for name in sorted(catalogue.user_providers - found.providers.keys()):
        near = nearest_names(name, found.providers)
        note(f"{catalogue.user_path}: no provider is called {name!r}. {did_you_mean(near) if near else ''}".rstrip())
    return catalogue


def _left_to_commands(problem: str) -> None:
    """Ignores a problem of another provider: commands that read that provider report it."""


def check_provider(catalogue: FileCatalogue, name: str) -> None:
    """Raises `InvalidInputError`, with similar names, for a provider that the catalogue has no file of."""
    from abstractcore.registry import did_you_mean, nearest_names

    known = catalogue.providers
    if name not in known:
        near = nearest_names(name, known)
        hint = did_you_mean(near) if near else f"It knows models of {', '.join(known)}."
        raise abstractcore.InvalidInputError(f"the catalogue knows no models of {name!r}.", hint=hint)


def entries(catalogue: FileCatalogue, providers: Sequence[str]) -> Iterator[ModelEntry]:
    """Yields the entry of each model with a row, without aliases."""
    for provider in providers:
        models = catalogue.models(provider)
        for name in models.names:
            if models.alias(name) is None:
                yield models.entry(name)


@contextmanager
def left_out(provider: str, errors: dict[str, str] | None) -> Generator[None]:
    """Adds the error of a provider's file to `errors`, with a note, so that other providers can be read; raises it if
    `errors` is None.
    """
    try:
        yield
    except abstractcore.ConfigurationError as error:
        if errors is None:
            raise
        errors[provider] = str(error)
        note(f"{provider} is left out: {error}")


def is_retired(entry: ModelEntry, now: float) -> bool:
    """Returns whether the provider has retired a model at the time `now`."""
    retires = entry.profile.retires
    return retires is not None and retires <= time.strftime("%Y-%m-%d", time.gmtime(now))


def does_not_chat(entry: ModelEntry) -> bool:
    """Returns whether a model only transcribes, embeds or ranks, or has a price but no fact about chats, as of speech,
    images and pages.
    """
    facts = entry.profile
    if any(rules is not None for rules in (facts.transcription, facts.embedding, facts.reranking)):
        return True
    known = (facts.context_tokens, facts.max_output_tokens, facts.thinking, facts.tools, facts.structured_output)
    return bool(entry.prices) and not (facts.accepts or facts.assumed or any(fact is not None for fact in known))


def kinds_of(files: Sequence[str]) -> list[str]:
    """Returns the kinds of files among kinds and media types: image, audio, video, pdf."""
    return [kind for kind, names in _FILES.items() if any(file.startswith(names) for file in files)]


def files_of(entry: ModelEntry) -> str:
    """Returns the kinds of files that a model accepts, and with a question mark those that it is assumed to accept."""
    known = kinds_of(list(entry.profile.accepts))
    assumed = [kind for kind in kinds_of(list(entry.profile.assumed)) if kind not in known]
    return "all" if len(known) == len(_FILES) else " ".join([*known, *(f"{kind}?" for kind in assumed)]) or "-"


def thinking_of(entry: ModelEntry) -> str:
    """Returns the lowest and the highest level, or the budget, of a model's thinking."""
    thinking = entry.profile.thinking
    if thinking is None:
        return "?"
    if thinking.levels:
        ends = dict.fromkeys((thinking.levels[0], thinking.levels[-1]))
        return "-".join(ends)
    return f"{short(thinking.budget[0])}-{short(thinking.budget[1])}" if thinking.budget else "-"


def short(tokens: int | None) -> str:
    """Returns a number of tokens in at most five characters: 128k, 1.05M."""
    if tokens is None:
        return "?"
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.3g}M"
    return f"{tokens / 1_000:.3g}k" if tokens >= 1_000 else str(tokens)


def same_model(name: str) -> re.Pattern[str]:
    """Returns a pattern of the names that a model has at other providers.

    The maker may stand in front ("anthropic."), and other marks between its words and numbers.
    """
    parts = _PARTS.findall(name.lower().rpartition("/")[2])
    return re.compile(rf"^(?:.*[./])?{'[-._: ]?'.join(map(re.escape, parts))}", re.IGNORECASE)


def facts_json(entry: ModelEntry) -> dict[str, Any]:
    """Returns an entry as JSON values."""
    return {
        "provider": entry.provider,
        "model": entry.name,
        "match": entry.match,
        "facts": dict(entry.facts),
        "own_facts": sorted(entry.own_facts),
        "prices": list(entry.prices),
    }
