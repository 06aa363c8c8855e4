"""`Room`: how many files and uploads an owner may have, and how large they may be together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Limit: TypeAlias = Literal["bytes", "files", "uploads"]


@dataclass(frozen=True, slots=True)
class Room:
    """The limits of one owner: of the bytes of files and of parts of uploads together, of files, and of uploads that
    are not completed.
    """

    bytes: int
    files: int
    uploads: int


class NoRoom(Exception):  # noqa: N818 - what the owner has is not wrong
    """An owner would have more than one limit, `limit`, allows."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit)
        self.limit: Limit = limit
