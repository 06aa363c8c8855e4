"""Suggestions for unknown names, and for paths that do not exist.

Hints for a model's name that was given in place of a provider's.
"""

from __future__ import annotations

import heapq
import os
import shlex
from collections.abc import Iterable, Mapping
from itertools import islice

from ..ports import HasModelExamples, Provider

_LEAST_ALIKE = 0.55
_NEARLY_AS_ALIKE = 0.9
_FEWEST_LETTERS = 3
_LONGEST_LIST = 250
_MOST_LOOKED_AT = 10_000
"""The names of a folder that are looked at."""
_MOST_COMPARED = 100
_LONGEST_COMPARED = 100


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """Returns up to three names similar to `name`, the best first: those that begin with it, else similar ones.

    Names that are much less similar than the best one are left out.
    """
    by_lower = {each.lower(): each for each in known}
    given = name.lower()
    if len(given) >= _FEWEST_LETTERS and given not in by_lower:
        longer = sorted(each for each in by_lower if each.startswith(given))
        if len(longer) == 1:
            return [by_lower[longer[0]]]
    import difflib  # here, as a program without an error does not need it

    near = difflib.get_close_matches(given, by_lower, n=3, cutoff=_LEAST_ALIKE)
    if not near:
        return []
    least = _NEARLY_AS_ALIKE * _likeness(given, near[0])
    return [by_lower[each] for each in near if _likeness(given, each) >= least]


def did_you_mean(names: list[str]) -> str:
    """Returns "Did you mean ...?" with one name, or several with "or" before the last."""
    *others, last = names
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def name_hint(name: object, known: Iterable[str], what: str, described: str) -> str:
    """Returns a hint for an unknown name: similar names, else all of them; if these are too many for a message, where
    they are `described`. `what` is what the names are of, in the plural.
    """
    names = list(known)
    near = nearest_names(str(name), names)
    if near:
        return did_you_mean(near)
    listed = ", ".join(names)
    return f"The {what} are {listed}." if len(listed) <= _LONGEST_LIST else f"{described} lists the {what}."


def _likeness(name: str, other: str) -> float:
    """Returns the similarity from 0 to 1, as `difflib.get_close_matches` computes it."""
    import difflib

    return difflib.SequenceMatcher(None, other, name).ratio()


def similar_path(path: str) -> str | None:
    """Returns "Did you mean ...?" for a path that does not exist, with what is beside it under a similar name; if one
    of its folders is missing, with similar folders. Returns None if it exists, or nothing is similar. Blocks.

    Hidden files are named for a hidden one only, and names that a terminal would not show as they are never.
    """
    if os.path.lexists(path):
        return None
    folder, name = os.path.split(path.rstrip(os.sep))
    below = ""
    while folder and not os.path.isdir(folder):
        below = os.path.join(name, below) if below else name
        folder, name = os.path.split(folder)
    names = nearest_names(name, _names_like(name, folder, folders=bool(below)))
    near = [os.path.join(folder, each) for each in names if nearest_names(_stem(name), [_stem(each)])]
    whole = [os.path.join(each, below) for each in near] if below else []
    found = [each for each in whole if os.path.exists(each)] or near
    return did_you_mean(found) if found else None


def missing_path_hint(path: str) -> str | None:
    """Returns a hint for a path that does not exist: what is similar, and where a relative path was looked for; for
    another one without anything similar, how to see what is there. Returns None for one that exists. Blocks.
    """
    if os.path.lexists(path):
        return None
    similar = similar_path(path)
    if not os.path.isabs(path):
        return " ".join(filter(None, (f"Looked in {os.getcwd()}.", similar)))
    return similar or f"See what is there: ls {shlex.quote(_nearest_folder(path))}"


def _nearest_folder(path: str) -> str:
    """Returns the innermost folder of an absolute path that exists."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _names_like(name: str, folder: str, *, folders: bool) -> list[str]:
    """Returns the names in a folder that share most characters with `name` at the beginning and the end: few enough
    for a closer comparison. `folders`: those of folders only.
    """
    given = name.lower()
    if not 0 < len(given) <= _LONGEST_COMPARED:
        return []
    try:
        with os.scandir(folder or ".") as entries:
            names = [
                each.name
                for each in islice(entries, _MOST_LOOKED_AT)
                if each.name.isprintable()
                and each.name.startswith(".") == given.startswith(".")
                and (each.is_dir() or not folders)
            ]
    except OSError:  # the folder may not be listed
        return []
    if len(names) <= _MOST_COMPARED:
        return names
    return heapq.nlargest(_MOST_COMPARED, names, key=lambda each: _shared(given, each.lower()))


def _stem(name: str) -> str:
    """Returns a name without its ending: one that many share makes no two names alike."""
    return os.path.splitext(name)[0]


def _shared(name: str, other: str) -> int:
    """Returns how many characters two names share at the beginning and at the end."""
    return sum(
        next((index for index, (first, second) in enumerate(pairs) if first != second), min(len(name), len(other)))
        for pairs in (zip(name, other, strict=False), zip(reversed(name), reversed(other), strict=False))
    )


_VERY_NEAR = 0.8


def is_weights(model: str) -> bool:
    """Returns whether a model's name with a slash is one of weights, so that it does not begin with a provider:
    `hf:...`, or a path that exists or is written as one.
    """
    if model.startswith((".", "~", "/", "hf:")) or "\\" in model:
        return True
    return model.lower().endswith(".gguf") or os.path.exists(model)


def is_misspelt_provider(name: str, rest: str, providers: Iterable[str]) -> bool:
    """Returns whether `name/rest` is a model with a typo in the name of its provider."""
    import difflib  # here, as a program without an error does not need it

    near = difflib.get_close_matches(name.lower(), providers, n=1, cutoff=_VERY_NEAR)
    return bool(near) and not is_weights(f"{name}/{rest}")


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
