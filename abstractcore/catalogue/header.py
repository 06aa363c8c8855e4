"""`Header`: what the rows of a provider's file share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from ..errors import SchemaError
from ..registry import did_you_mean, nearest_names
from ..schema import EMPTY
from ..schema.base_error import shown
from .facts import Facts, merged
from .names import NameRules
from .rows import MAX_LIKE, like_of

_NO_RULES = NameRules()
_NONE: Any = EMPTY
_MOST_TEMPLATES = 100


@dataclass(frozen=True, slots=True)
class Header:
    """What the rows of a provider share.

    `sources` are the addresses of pages by name. `unknown` holds the facts of models without a row, `every` those of
    all others; rows name `templates` in `like`. `as_of` is the day of the facts; of two files the later one is used.
    `prices` is what the prices of the rows share.
    """

    provider: str
    as_of: date | None = None
    sources: Mapping[str, str] = _NONE
    names: NameRules = _NO_RULES
    unknown: Mapping[str, Any] = _NONE
    every: Mapping[str, Any] = _NONE
    templates: Mapping[str, Mapping[str, Any]] = _NONE
    prices: Mapping[str, Any] = _NONE

    def facts(self, own: Facts, like: Iterable[str]) -> dict[str, Any]:
        """Returns the facts of every model, then those of the templates `like`, then a row's `own`.

        Raises `SchemaError` for an unknown template or source.
        """
        facts = dict(self.every)
        for name in self.templates_of(like):
            facts = merged(facts, {key: value for key, value in self.templates[name].items() if key != "like"})
        return self.with_address(merged(facts, own))

    def templates_of(self, like: Iterable[str], within: tuple[str, ...] = ()) -> list[str]:
        """Returns templates and those that they are like, in the order in which they apply."""
        found: list[str] = []
        for name in like:
            path = f"templates.{within[-1]}.like" if within else "like"
            if len(within) > MAX_LIKE or len(found) > _MOST_TEMPLATES:
                raise SchemaError("leads to too many templates", path)
            if name in within:
                raise SchemaError(f"the templates {', '.join((*within, name))} are like each other", path)
            if name not in self.templates:
                near = nearest_names(name, self.templates)
                raise SchemaError(
                    f"no template is called {shown(name)}", path, hint=did_you_mean(near) if near else None
                )
            found += self.templates_of(like_of(self.templates[name].get("like", ())), (*within, name))
            found.append(name)
        return found

    def with_address(self, facts: Facts) -> dict[str, Any]:
        """Returns facts with the address of their source instead of its name."""
        name = facts.get("source")
        if name is None:
            return dict(facts)
        if not isinstance(name, str) or name not in self.sources:
            raise SchemaError(f"no source is called {shown(name)}", "source", hint="The header lists `sources`.")
        return {**facts, "source": self.sources[name]}
