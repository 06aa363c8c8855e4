"""Finds credentials in texts, complete, truncated or masked, and replaces them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .forms import SHORTEST, CredentialForm, forms_of

SCRUBBED = "[scrubbed]"
_REST = re.compile(r"(?:[\w+/=~%*•●…-]|\.{2,}|\.(?=[\w+/=~%*•●…-]))*")
"""What may follow the beginning of a credential: a mask, its end, or an ellipsis."""
_MASK = re.compile(r" \[\.\.\. [\d,]+ characters \.\.\.\] |[*•●…]+|\.{3,}|[xX]{4,}")
"""What may replace the middle of a credential, also where a long message was shortened."""
_MASKS = ("*", "•", "●", "…", "...", "xxxx")
_FEWEST_BESIDE_A_MASK = 5
_FEWEST_ON_ONE_SIDE = 4
"""The number of visible characters that identify a masked credential, as in sk-ab***yz or ***wxyz."""


class SecretScanner:
    """Finds `secrets` in texts, ignoring case, which headers and logs may change."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._forms: dict[str, list[CredentialForm]] = {}
        for form in (form for secret in secrets for form in forms_of(secret)):
            lower = CredentialForm(form.beginning.lower(), form.whole.lower(), form.runs_on)
            self._forms.setdefault(lower.beginning, []).append(lower)
        self._wholes = dict.fromkeys(form.whole for forms in self._forms.values() for form in forms)
        self._longest = max(map(len, self._wholes))
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._beginnings = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)

    def scrubbed(self, text: str) -> str:
        """Returns `text` with each credential replaced by `SCRUBBED`; `text` itself if there is none."""
        lower = text.lower()
        if any(map(lower.__contains__, self._forms)):  # rarely true, and much faster than the regular expression
            text = self._without_beginnings(text)
        return self._without_masked(text) if any(map(lower.__contains__, _MASKS)) else text

    def _without_beginnings(self, text: str) -> str:
        """Replaces each form that begins in `text`, up to the end of what matches."""
        pieces: list[str] = []
        at = 0
        for match in self._beginnings.finditer(text):
            if match.start() >= at:
                pieces += text[at : match.start()], SCRUBBED
                at = self._end(text, match)
        return "".join((*pieces, text[at:])) if pieces else text

    def _end(self, text: str, match: re.Match[str]) -> int:
        """Returns the end of the credential that begins with `match`."""
        forms = self._forms.get(match[0].lower(), ())
        longest = max((len(form.whole) for form in forms), default=0)
        found = text[match.start() : match.start() + longest].lower()
        length, is_whole = len(match[0]), False
        for form in forms:
            shared = _shared(form.whole, found)
            if shared >= length:
                ends = shared == len(form.whole) and not form.runs_on
                length, is_whole = shared, ends or (is_whole and shared == length)
        end = match.start() + length
        rest = None if is_whole else _REST.match(text, end)
        return end if rest is None else rest.end()

    def _without_masked(self, text: str) -> str:
        """Replaces masked credentials: vendors show the first and last characters around a mask."""
        pieces: list[str] = []
        at = 0
        for mask in _MASK.finditer(text):
            before, after = self._shown_around(text, at, mask)
            if before >= 0:
                pieces += text[at : mask.start() - before], SCRUBBED
                at = mask.end() + after
        return "".join((*pieces, text[at:])) if pieces else text

    def _shown_around(self, text: str, at: int, mask: re.Match[str]) -> tuple[int, int]:
        """Returns how many characters of a credential are before and after `mask`; -1 if too few to identify one."""
        before = text[max(at, mask.start() - self._longest) : mask.start()].lower()
        after = text[mask.end() : mask.end() + self._longest].lower()
        for whole in self._wholes:
            shown = next((n for n in range(len(before), 0, -1) if whole.startswith(before[-n:])), 0)
            ending = next((n for n in range(len(after), 0, -1) if whole.endswith(after[:n])), 0)
            if shown + ending >= _FEWEST_BESIDE_A_MASK or max(shown, ending) >= _FEWEST_ON_ONE_SIDE:
                return shown, ending
        return -1, 0


def _shared(left: str, right: str) -> int:
    """Returns the length of the common prefix."""
    for index, (ours, theirs) in enumerate(zip(left, right, strict=False)):
        if ours != theirs:
            return index
    return min(len(left), len(right))


def is_long(secret: str) -> bool:
    """Returns whether a part of a credential identifies it."""
    return len(secret) >= SHORTEST
