"""`MarkedParser`: finds calls that begin with a marker, for formats that are rows of data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from .bodies import CallBody
from .offered import OfferedTools, ParsedCall, Piece
from .value_ends import MORE, TAGS, Marker, Markers, ThinkingScanner

FENCE: Final = "```"
_VALUE: Final = re.compile(r"[{\[(]")


class Grammar(Protocol):
    """The grammar of what follows a marker."""

    def body(self, marker: str, offered: OfferedTools) -> CallBody:
        """Returns the reader of what follows `marker`."""
        ...


@dataclass(frozen=True, slots=True)
class Marking:
    """How calls are marked in text.

    `begins` holds the grammar behind each marker. `ends` are markers behind a call, which are dropped; with `must_end`,
    a call without one is reported. `separators` may stand between calls. `invented` begin what the model may not write:
    results of calls, and other turns.
    """

    begins: Mapping[str, Grammar]
    ends: tuple[str, ...] = ()
    must_end: bool = False
    separators: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    markers: tuple[str, ...] = field(init=False)
    between: tuple[str, ...] = field(init=False)
    """What is dropped between calls."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "markers", (*self.begins, *TAGS))
        object.__setattr__(self, "between", (*self.ends, *self.separators))


class MarkedParser:
    """A `CallParser` for one reply. `visits` counts the characters it has looked at."""

    def __init__(self, marking: Marking, offered: OfferedTools) -> None:
        self._marking, self._offered = marking, offered
        self._markers = Markers(marking.markers)
        self._after_calls: Markers | None = None
        self._out: list[Piece] = []
        self._spaces: list[str] = []
        self._held = ""
        self._body: CallBody | None = None
        self._thinking = ThinkingScanner()
        self._raw = ""
        self._pieces: list[str] = []
        self._found: list[ParsedCall] | None = None
        self._fenced = False
        self.cut_at: str | None = None
        self.own_visits = 0

    @property
    def visits(self) -> int:
        """The number of characters looked at so far."""
        return self.own_visits + self._markers.visits

    def feed(self, text: str) -> list[Piece]:
        """Returns text that is certainly not part of a call, and complete calls."""
        todo = [(text, 0)]
        while todo:
            text, index = todo.pop()
            while index < len(text) and self.cut_at is None:
                if self._body is not None:
                    again, index = self._read_body(self._body, text, index)
                elif self._thinking.inside:
                    again, index = "", self._read_thinking(text, index)
                elif self._found is not None:
                    again, index = self._read_between(text, index)
                else:
                    again, index = self._read_text(text, index)
                if again:
                    todo += [(text, index), (again, 0)]
                    break
        return self._take()

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        """Returns the rest."""
        if self._body is not None:
            self._end_body(self._body, at_end=True, truncated=truncated)
        if self._found is not None:
            held = self._held
            self._leave(closed=not truncated and self._is_end_begun(held))
            self._held = "" if self._is_end_begun(held) else held
        if self._held and self.cut_at is None:
            self._emit(self._held)
        if self.cut_at is None and self._spaces:
            self._out.append("".join(self._spaces))
        self._held, self._spaces = "", []
        return self._take()

    def _is_end_begun(self, text: str) -> bool:
        return bool(text) and any(end.startswith(text) for end in (*self._marking.ends, FENCE))

    def _take(self) -> list[Piece]:
        out, self._out = self._out, []
        return join_texts(out)

    def _read_text(self, text: str, index: int) -> tuple[str, int]:
        """Reads text up to a marker."""
        if not self._held:
            begin = self._markers.first(text, index)
            if begin > index:
                self._emit(text[index:begin])
                return "", begin
        while index < len(text):
            self._held += text[index]
            index += 1
            while self._held and not self._markers.may_begin(self._held):
                marker = self._markers.found(self._held)
                if marker is not None:
                    self._held = ""
                    self._begin(marker)
                    return "", index
                self._emit(self._held[0])
                self._held = self._held[1:]
            if not self._held:
                return "", index
        return "", index

    def _read_thinking(self, text: str, index: int) -> int:
        """Puts out reasoning as text. Returns the index behind it."""
        end = self._thinking.end(text, index)
        self.own_visits += end - index
        self._emit(text[index:end])
        return end

    def _begin(self, marker: Marker) -> None:
        if marker.text in TAGS:
            self._thinking.open(marker.text)
            self._emit(marker.raw)
            return
        grammar = self._marking.begins.get(marker.text)
        if grammar is None:
            self.cut_at = marker.text
            self._spaces = []
            return
        self._raw, self._pieces = marker.raw, []
        self._body = grammar.body(marker.text, self._offered)

    def _read_body(self, body: CallBody, text: str, index: int) -> tuple[str, int]:
        """Reads the body of a call. Returns text to read again, and the index behind the body."""
        end = body.feed(text, index)
        stop = len(text) if end == MORE else end
        self.own_visits += stop - index
        self._pieces.append(text[index:stop])
        if end == MORE:
            return "", stop
        if body.failed:
            self._body = None
            self._emit(self._raw + "".join(self._pieces))
            return "", stop
        again = body.unread
        self._end_body(body, at_end=False, truncated=False)
        return again, stop

    def _end_body(self, body: CallBody, *, at_end: bool, truncated: bool) -> None:
        """Turns the text of the body into calls, or into text."""
        self._body = None
        text = "".join(self._pieces)
        read = None if truncated else body.read(text, at_end=at_end)
        if read is None:
            self._emit(self._raw + text.removesuffix(body.unread) if body.unread else self._raw + text)
            return
        self._spaces = []
        before_the_value = _VALUE.split(self._raw + text, maxsplit=1)[0]
        self._fenced = FENCE in before_the_value and body.marker != FENCE
        self._found, self._held = read.calls, ""
        if body.marker:
            self._leave_found(closed=True)
            self._found = []
        if read.rest:
            self._leave(closed=True)
            self._emit(read.rest)

    def _read_between(self, text: str, index: int) -> tuple[str, int]:
        """Reads what is between calls: white space, end markers, separators, the end of a code fence."""
        marking = self._marking
        while index < len(text):
            tokens = (*marking.between, FENCE) if self._fenced else marking.between
            character = text[index]
            index += 1
            self.own_visits += 1
            if character.isspace() and not self._held:
                continue
            self._held += character
            if self._held in tokens:
                self._fenced = self._fenced and self._held != FENCE
                if self._held in marking.ends:
                    self._leave_found(closed=True)
                    self._found = []
                self._held = ""
            elif not any(token.startswith(self._held) for token in tokens):
                held, self._held = self._held, ""
                self._leave(closed=False)
                return held, index
        return "", index

    def _leave(self, *, closed: bool) -> None:
        self._leave_found(closed=closed)
        self._found = None
        if self._after_calls is None and self._marking.invented:
            self._after_calls = Markers((*self._marking.markers, *self._marking.invented))
            self._after_calls.visits = self._markers.visits
            self._markers = self._after_calls

    def _leave_found(self, *, closed: bool) -> None:
        """Puts out the calls that were found."""
        for call in self._found or ():
            if closed or not self._marking.must_end:
                self._out.append(call)
                continue
            missing = f"missing {self._marking.ends[0]}"
            self._out.append(replace(call, repair=f"{call.repair}, {missing}" if call.repair else missing))

    def _emit(self, text: str) -> None:
        """Puts out text, and holds back white space at its end, which is dropped before a call."""
        content = text.rstrip()
        if content:
            self._out.append("".join([*self._spaces, content]))
            self._spaces = []
        if len(content) < len(text):
            self._spaces.append(text[len(content) :])


def join_texts(pieces: list[Piece]) -> list[Piece]:
    """Returns the pieces with adjacent texts joined."""
    if len(pieces) < 2:
        return pieces
    found: list[Piece] = []
    texts: list[str] = []
    for piece in [*pieces, None]:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        found += ["".join(texts)] if texts else []
        texts = []
        if piece is not None:
            found.append(piece)
    return found
