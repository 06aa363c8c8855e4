"""`TextWindow`: one text of an answer, of which a guard sees each part before it is sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from abstractcore.ports import Edit, TextKind, TextPiece

from .guards import MOST_HELD_BACK, GuardFailure

_SURROGATE = re.compile("[\ud800-\udfff]")


class TextWindow:
    """A text that arrives in pieces. Up to `hold_back` characters are held back, so that what is split over pieces is
    seen as a whole; as many that were sent before are shown again, and what an edit at their end has replaced.

    `fed` and `released` count characters of the text as it arrived. `is_fresh` is set while there is some that no guard
    has seen, `is_changed` once edits have changed it.
    """

    def __init__(self, kind: TextKind, hold_back: int) -> None:
        self.kind: TextKind = kind
        self._hold_back = hold_back
        self._sent: str = ""
        """The end of what was released, as it arrived."""
        self._held: str = ""
        self._ends_in_edit = False
        self.fed = 0
        self.released = 0
        self.is_fresh = False
        self.is_changed: bool = False

    def feed(self, text: str) -> None:
        """Adds text that has arrived."""
        self._held += text
        self.fed += len(text)
        self.is_fresh = True

    @property
    def is_empty(self) -> bool:
        """Whether nothing is held back."""
        return not self._held

    def piece(self, *, is_last: bool) -> TextPiece:
        """Returns what a guard is shown."""
        return TextPiece(self._sent + self._held, self.kind, is_last)

    def release(self, edits: Sequence[Edit], *, is_last: bool) -> str:
        """Returns the text that may be sent now, changed by the edits of the last piece.

        An edit that begins in it is done as a whole; one that begins in what is held back is done later, when its piece
        is longer. Of one that begins in what was sent, the rest is left out if the beginning was replaced already.
        """
        self.is_fresh = False
        begin = len(self._sent)
        text = self._sent + self._held
        end = len(text) if is_last else max(begin, len(text) - self._hold_back)
        written: list[str] = []
        at = begin
        in_edit, shown_from = self._ends_in_edit, 0
        for edit in edits:
            if edit.end <= begin:
                continue
            if edit.start >= end:
                break
            written.append(text[at : max(at, edit.start)])
            if edit.start >= begin or not in_edit:
                written.append(edit.text)
            at, in_edit, shown_from = edit.end, True, edit.start
            self.is_changed = self.is_changed or edit.text != text[edit.start : edit.end]
        if at < end:
            written.append(text[at:end])
            at, in_edit = end, False
        shown_from = min(shown_from, at - self._hold_back) if in_edit else at - self._hold_back
        self._sent = text[max(0, shown_from, at - MOST_HELD_BACK) : at]
        self._held = text[at:]
        self._ends_in_edit = in_edit
        self.released += at - begin
        return "".join(written)


def checked_edits(verdict: object, piece: TextPiece) -> Sequence[Edit] | None:
    """Returns the edits that a guard has returned, None if there are none; raises `GuardFailure` for anything else."""
    if not isinstance(verdict, list | tuple):
        raise GuardFailure(f"check_text returned a {type(verdict).__name__}: expected edits, a Refusal or None")
    edits: list[Edit] = []
    for edit in cast("Sequence[object]", verdict):
        if not isinstance(edit, Edit):
            raise GuardFailure(f"check_text returned a list with a {type(edit).__name__}: expected edits")
        if not _is_valid(edit, edits[-1].end if edits else 0, len(piece.text)):
            raise GuardFailure("check_text returned edits that are not in order, or outside of the text")
        edits.append(edit)
    return edits or None


def _is_valid(edit: Edit, at: int, length: int) -> bool:
    numbers: tuple[object, object] = edit.start, edit.end
    if not all(type(number) is int for number in numbers) or not is_text(edit.text):
        return False
    return at <= edit.start < edit.end <= length


def is_text(value: object) -> bool:
    """Whether a value is a text that can be sent: without halves of surrogate pairs."""
    return isinstance(value, str) and not _SURROGATE.search(value)
