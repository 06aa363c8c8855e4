"""Suggestions for unknown names."""

from __future__ import annotations

from collections.abc import Iterable

_LEAST_ALIKE = 0.55
_NEARLY_AS_ALIKE = 0.9
_FEWEST_LETTERS = 3
_LONGEST_LIST = 250


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
