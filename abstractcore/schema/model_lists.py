"""`ModelList`: a page of the list of a provider's models."""

from __future__ import annotations

from dataclasses import dataclass

from .immutable import Immutable
from .json_values import check_items, check_text


@dataclass(frozen=True, slots=True)
class ModelList(Immutable):
    """The ids of a provider's models, in the provider's order. `next` is where the next page begins, None on the last.

    Which models it holds is the provider's choice: those of the key, or all.
    """

    names: tuple[str, ...]
    next: str | None = None

    def __post_init__(self) -> None:
        names = check_items(self.names, str, "names")
        object.__setattr__(self, "names", tuple(check_text(name, f"names[{i}]") for i, name in enumerate(names)))
        if self.next is not None:
            check_text(self.next, "next")
