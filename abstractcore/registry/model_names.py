"""Hints for a model's name that was given in place of a provider's."""

from __future__ import annotations

from collections.abc import Mapping

from ..ports import HasModelExamples, Provider

_VERY_NEAR = 0.8


def whose_model(name: str, model: str | None, providers: Mapping[str, Provider]) -> str | None:
    """Returns a hint for `name`, which is not a provider's: calls with the providers that have models of that name.

    `model` is the model given with it. Returns None if no provider has such models. For a provider and a model joined
    by a colon, as other libraries write them, the hint has a slash.
    """
    head, colon, rest = name.partition(":")
    if colon and head in providers:
        named = rest if model is None else f"{rest}/{model}"
        return f'Use a slash instead of the colon: create_llm("{head}/{named}").'
    calls = _calls(name, model, providers)
    if not calls:
        return None
    import difflib  # here, as a program without an error does not need it

    near = difflib.get_close_matches(name, providers, n=1, cutoff=_VERY_NEAR)
    hint = f"name its provider first: {' or '.join(calls)}."
    return f"Did you mean {near[0]}? Or, if that is a model, {hint}" if near else f"If that is a model, {hint}"


def _calls(name: str, model: str | None, providers: Mapping[str, Provider]) -> list[str]:
    """Returns calls for the longest prefix of the name that any provider's models have."""
    given = name if model is None else f"{name}/{model}"
    found: list[tuple[int, str]] = []
    for provider_name, provider in providers.items():
        if not isinstance(provider, HasModelExamples):
            continue
        for beginning, example in provider.model_examples.items():
            if given.lower().startswith(beginning):
                shown = _model(given, model, beginning, example)
                found.append((len(beginning), f'create_llm("{provider_name}/{shown}")'))
    longest = max((length for length, _ in found), default=0)
    return [call for length, call in found if length == longest]


def _model(given: str, model: str | None, beginning: str, example: str) -> str:
    """Returns the model to write: the given one, or an example if only the prefix was given."""
    if model is not None and model.lower().startswith(beginning):
        return model
    return example if given.lower().strip("-/") == beginning.strip("-/") else given
