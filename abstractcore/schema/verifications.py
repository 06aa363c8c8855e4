"""`Verification`: the figures, names and dates of an answer, read back from the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .immutable import Immutable
from .json_values import check_items
from .sources import Source

CheckKind = Literal["number", "date", "name"]
"""What a check is of: a number with its unit, also a time of day; a date; a name, also a code, an address."""
Verdict = Literal["agreed", "differs", "not_found"]
"""Whether what the answer says stands in the texts: it does; something else stands at the same words; neither."""


@dataclass(frozen=True, slots=True)
class Check(Immutable):
    """One figure, name or date of an answer: `text`, at `start` to `end` of `response.content`.

    `source` is where it stands, the first of its places; of one that differs, where `instead` stands, which is what the
    text has there. `reason` says why a check is not agreed, or what to know of one that is. `seen` says whether it is
    also read on the image of its page, which hidden or wrong text of a PDF is not; None where nobody looked. `heard`
    says whether a second transcriber hears it at its place in the recording, of a check that differs too; None where
    nobody listened.
    """

    kind: CheckKind
    text: str
    start: int
    end: int
    verdict: Verdict
    source: Source | None = None
    instead: str | None = None
    reason: str | None = None
    seen: bool | None = None
    heard: bool | None = None


@dataclass(frozen=True, slots=True)
class Verification(Immutable):
    """The checks of an answer, in its order. `problems` are files that could not be read, and what was not checked.

    "agreed" says that a text has this figure, name or date: not that it is about the same thing, nor that it is true.
    """

    checks: tuple[Check, ...] = ()
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "checks", check_items(self.checks, Check, "checks"))
        object.__setattr__(self, "problems", check_items(self.problems, str, "problems"))

    @property
    def agreed(self) -> tuple[Check, ...]:
        """What stands in the texts."""
        return tuple(each for each in self.checks if each.verdict == "agreed")

    @property
    def doubtful(self) -> tuple[Check, ...]:
        """What deserves a look: each has a `reason`."""
        return tuple(each for each in self.checks if each.reason is not None)

    @property
    def differs(self) -> tuple[Check, ...]:
        """What the texts state otherwise."""
        return tuple(each for each in self.checks if each.verdict == "differs")

    @property
    def not_found(self) -> tuple[Check, ...]:
        """What stands nowhere, such as a sum that the model computed."""
        return tuple(each for each in self.checks if each.verdict == "not_found")
