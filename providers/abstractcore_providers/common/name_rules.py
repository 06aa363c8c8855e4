"""The names that vendors accept, and valid names in place of others."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

_DIGITS = 8
"""Hexadecimal digits of the hash in a replacement."""


@dataclass(frozen=True, slots=True)
class NameRule:
    """The names that a vendor accepts: at most `longest` characters of `alphabet` (regular expression syntax), the
    first from `first`. `described` is the rule in words.
    """

    described: str
    alphabet: str = "a-zA-Z0-9_-"
    longest: int = 64
    first: str = "a-zA-Z0-9_-"

    def allow(self, name: str) -> bool:
        """Whether the vendor accepts the name."""
        return _is_allowed(name, self.first, self.alphabet, self.longest)

    def replacements(self, names: Iterable[str]) -> Mapping[str, str]:
        """Returns a valid name for each invalid one of `names`; all names stay different.

        It depends on the name alone, unless it is itself one of `names`: prompts and their caches stay the same.
        """
        given = dict.fromkeys(names)
        found: dict[str, str] = {}
        taken = set(given)
        for name in given:
            if not self.allow(name):
                found[name] = self._replacement(name, taken)
                taken.add(found[name])
        return found

    def shortens(self, name: str) -> bool:
        """Whether a replacement of `name` has all of its characters but those at the end."""
        return self.allow(name[: self.longest])

    def _replacement(self, name: str, taken: Collection[str]) -> str:
        """Returns the characters of `name` that are valid, `_` for others, and a hash of all of it."""
        valid = re.sub(f"[^{self.alphabet}]", "_", name)
        valid = valid if re.match(f"[{self.first}]", valid) else f"_{valid}"
        hashed = name
        while (unused := f"{valid[: self.longest - _DIGITS - 1]}_{_digits_of(hashed)}") in taken:
            hashed += "\0"
        return unused


def _digits_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]


@lru_cache(maxsize=1024)
def _is_allowed(name: str, first: str, alphabet: str, longest: int) -> bool:
    return re.fullmatch(f"[{first}][{alphabet}]{{0,{longest - 1}}}", name) is not None


OPENAI = NameRule("up to 64 letters, digits, underscores and dashes")
ANTHROPIC = NameRule("up to 128 letters, digits, underscores and dashes", longest=128)
BEDROCK = OPENAI
GEMINI = NameRule(
    "up to 128 letters, digits, underscores, dots, colons and dashes, the first a letter or an underscore",
    alphabet="a-zA-Z0-9_.:-",
    longest=128,
    first="a-zA-Z_",
)
ANTHROPIC_PROPERTIES = NameRule(
    "up to 64 letters, digits, underscores, dots and dashes", alphabet="a-zA-Z0-9_.-", first="a-zA-Z0-9_.-"
)
"""The names of properties in the schemas of tools. Its error: `tools.0.custom.input_schema.properties: Property keys
should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`; Bedrock gives the same.
"""
