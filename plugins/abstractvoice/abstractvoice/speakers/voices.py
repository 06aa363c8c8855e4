"""`VoiceRow`: the voices on this machine, of `voices.json`.

`grade` is what the makers of a voice give it, by the amount and the quality of the recordings of its training. Symbols
are those of a model for what English needs. The first `create_llm` reads the file: JSON loads faster than TOML.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from abstractcore import InvalidInputError

DEFAULT_VOICE = "joe"
"""The small one, for the first minute."""


@dataclass(frozen=True, slots=True)
class VoiceRow:
    """A voice: its name, the family of its model, the name of its style there, and what is known of it."""

    name: str
    family: str
    model: str
    style: str
    gender: str
    language: str
    grade: str

    @property
    def order(self) -> tuple[str, int]:
        """The order by grade: A, A-, B+ and so on; voices without one come last."""
        return (self.grade[:1] or "Z", {"+": 0, "": 1, "-": 2}[self.grade[1:]])

    def as_json(self) -> dict[str, Any]:
        """Returns the description for users; `id` is for `voice=`."""
        about = {"id": self.name, "language": self.language, "gender": self.gender, "model": self.model}
        return {**about, "grade": self.grade} if self.grade else about


@cache
def families() -> dict[str, dict[str, Any]]:
    """Returns the families of models, each with its voices and symbols."""
    return json.loads(Path(__file__).with_name("voices.json").read_text(encoding="utf-8"))


@cache
def voices() -> dict[str, VoiceRow]:
    """Returns all voices by name."""
    rows = [
        VoiceRow(family=family, model=about["model"], **voice)
        for family, about in families().items()
        for voice in about["voices"]
    ]
    return {row.name: row for row in rows}


def voice_named(name: str) -> VoiceRow:
    """Returns a voice by its name, or by that of its style; raises `InvalidInputError` with the nearest names."""
    known = voices()
    found = known.get(name.lower()) or next((row for row in known.values() if row.style == name), None)
    if found is not None:
        return found
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    names = f"Is it {' or '.join(near)}?" if near else f"The voices are {', '.join(sorted(known))}."
    raise InvalidInputError(f"no voice on this machine is called {name!r}.", path="voice", hint=names)
