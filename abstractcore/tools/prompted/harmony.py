"""Harmony, the format of gpt-oss: messages in channels (github.com/openai/harmony, docs/format.md)."""

from __future__ import annotations

import re
from typing import Final

from .bodies import argument_call
from .marked_parser import join_texts
from .offered import OfferedTools, ParsedReasoning, Piece
from .value_ends import ThinkingScanner, Tokens

_CONTROLS: Final = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>", "<|constrain|>")
_RECIPIENT: Final = re.compile(r"to=functions\.([^\s<]+)")
_CHANNEL: Final = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT_BEGINS: Final = "to=functions."
_LONGEST_HEADER: Final = 300


class HarmonyParser:
    """A `CallParser` for Harmony. `visits` counts the characters it has looked at.

    The final channel and comments are text, the analysis channel is reasoning. A message to `functions.NAME` is a call.
    Text outside of messages stays text.
    """

    def __init__(self, offered: OfferedTools) -> None:
        self._offered = offered
        self._out: list[Piece] = []
        self._tokens = Tokens(_CONTROLS)
        self._header: list[str] | None = None
        self._size = 0
        self._beginning: str | None = ""
        self._recipient: str | None = None
        self._channel = ""
        self._content: list[str] = []
        self._called = self._strip = False
        self._raw_header = ""
        self._thinking = ThinkingScanner()
        self.cut_at: str | None = None
        self.visits = 0

    def feed(self, text: str) -> list[Piece]:
        """Returns text that is certainly not part of a call, and complete calls."""
        index = 0
        while index < len(text) and self.cut_at is None:
            if not self._tokens.maybe:
                begin = text.find("<", index)
                begin = len(text) if begin < 0 else begin
                self._add(text[index:begin])
                self.visits += begin - index
                index = begin
                if index == len(text):
                    break
            before = self._tokens.seen + text[index]
            index += 1
            self.visits += 1
            token = self._tokens.add(before[-1])
            if token and self._thinking.inside:
                self._add(token)
            elif token:
                self._control(token)
            else:
                self._add(before[: len(before) - len(self._tokens.seen)])
        return self._take()

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        """Returns the rest."""
        if self.cut_at is None:
            seen, self._tokens = self._tokens.seen, Tokens(_CONTROLS)
            self._add(seen)
            if self._beginning:
                self._out.append(self._beginning)
            if self._recipient is not None and self._header is None:
                self._end_call(complete=False, truncated=truncated)
            elif self._header is not None:
                self._drop_header()
            self._reason()
        return self._take()

    def _take(self) -> list[Piece]:
        out, self._out = self._out, []
        return join_texts(out)

    def _control(self, token: str) -> None:
        beginning, self._beginning = self._beginning, None
        if beginning:
            self._header, self._size = [beginning], len(beginning)
        if token == "<|message|>" and self._header is not None:
            self._open("".join(self._header))
            return
        if self._header is not None and token in ("<|channel|>", "<|constrain|>", "<|start|>"):
            self._header.append(token)
            return
        if token in ("<|message|>", "<|constrain|>"):
            self._add(token)
        if token in ("<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"):
            self._close(complete=True)
        if token in ("<|start|>", "<|channel|>"):
            self._header, self._size = [token], 0

    def _open(self, header: str) -> None:
        """Begins a message with this header."""
        self._header, self._strip = None, False
        if header.startswith("<|start|>") and not header.startswith("<|start|>assistant"):
            if self._called:
                self.cut_at = "<|start|>"
            return
        recipient = _RECIPIENT.search(header)
        channel = _CHANNEL.search(header)
        self._recipient = recipient[1] if recipient is not None else None
        self._channel = channel[1] if channel is not None else "final"
        self._raw_header = header

    def _add(self, text: str) -> None:
        if not text:
            return
        if self._beginning is not None:
            self._begin(text)
        elif self._header is not None:
            self._header.append(text)
            self._size += len(text)
            if self._size > _LONGEST_HEADER:
                self._drop_header()
        elif self._recipient is not None or self._channel == "analysis":
            self._content.append(text)
        elif text := text.lstrip() if self._strip else text:
            self._strip = False
            self._thinking.follow(text)
            self._out.append(text)

    def _begin(self, text: str) -> None:
        """Holds back the beginning of a reply while it may be the rest of a header that the prompt begins."""
        beginning = (self._beginning or "") + text
        recipient = beginning.lstrip()
        if len(beginning) > _LONGEST_HEADER or not (
            _RECIPIENT_BEGINS.startswith(recipient) or recipient.startswith(_RECIPIENT_BEGINS)
        ):
            self._beginning = None
            self._add(beginning)
            return
        self._beginning = beginning

    def _drop_header(self) -> None:
        """Puts out as text what is not the header of a message."""
        header, self._header = "".join(self._header or ()), None
        self._out.append(header)

    def _close(self, *, complete: bool) -> None:
        if self._header is not None:
            self._drop_header()
        if self._recipient is not None:
            self._end_call(complete=complete, truncated=False)
        self._reason()
        self._channel = ""

    def _reason(self) -> None:
        text, self._content = "".join(self._content).strip(), []
        if text:
            self._out.append(ParsedReasoning(text))

    def _end_call(self, *, complete: bool, truncated: bool) -> None:
        text, self._content = "".join(self._content), []
        name = self._offered.named(self._recipient)
        self._recipient = None
        call = argument_call(name, text) if name is not None else None
        if call is None or truncated or (not complete and not text.strip()):
            self._out.append(f"{self._raw_header}<|message|>{text}")
            return
        self._called = self._strip = True
        self._out.append(call)
