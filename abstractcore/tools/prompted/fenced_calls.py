"""`FencedCalls`: reads calls that a model writes as JSON in code blocks among its text, in place of its format.

`RescueParser`: reads a reply that is nothing but calls of offered tools, in any format that is unmistakable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ...schema import ToolSpec
from .formats import tool_format
from .lenient_values import UnreadableError, as_json, read_json
from .offered import CallParser, OfferedTools, ParsedCall, Piece, json_type
from .value_ends import ThinkingScanner, Tokens

_OPENING: Final = re.compile(r"`{1,2}|`{3,20}[\w+-]{0,20}[ \t]{0,4}\r?")
_HEADS: Final = ('{"name"', '[{"name"', '{"arguments"', '[{"arguments"', '{"parameters"', '[{"parameters"')
_LONGEST_HEAD: Final = len('[{"parameters"')
_ARGUMENTS: Final = ("arguments", "parameters")
_LONGEST_SHOWN: Final = 40
_REPAIR: Final = "written in a code block among text"


class FencedCalls:
    """A `CallParser` that looks for code blocks in the text that `inner` leaves.

    A block is calls if it is nothing but JSON objects of exactly a name and arguments, of offered tools that are
    `read_only`, with arguments that fit their schemas. Text behind them is what the model expects of the results, and
    is dropped. `shown` has the names of offered tools in other such blocks: they stay text, since an answer may show an
    example of a call.
    """

    def __init__(self, tools: Sequence[ToolSpec], inner: CallParser) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._offered = OfferedTools(tools)
        self._inner = inner
        self._thinking = ThinkingScanner()
        self._out: list[Piece] = []
        self._spaces: list[str] = []
        self._fence = ""
        self._closing: Tokens | None = None
        self._ticks = 0
        self._block: list[str] | None = None
        self._head = ""
        self._called = False
        self._expected = ""
        self.shown: list[str] = []

    @property
    def cut_at(self) -> str | None:
        """The marker at which the inner parser cut the text, or the beginning of the text behind calls."""
        return self._inner.cut_at or self._expected or None

    def feed(self, text: str) -> list[Piece]:
        """Returns text that is certainly not part of a call, and complete calls."""
        self._read(self._inner.feed(text))
        return self._take()

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        """Returns the rest. A block without its end is a call if it is complete."""
        self._read(self._inner.finish(truncated=truncated))
        self._leave(truncated=truncated)
        if self._spaces:
            self._out.append("".join(self._spaces))
            self._spaces = []
        return self._take()

    def _take(self) -> list[Piece]:
        out, self._out = self._out, []
        return out

    def _read(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self._read_text(piece)
                continue
            # Of a block before a call with a marker, the inner parser may have taken the end as the opening of another.
            self._leave(truncated=False)
            self._spaces = []
            self._out.append(piece)

    def _leave(self, *, truncated: bool) -> None:
        """Ends what is being read."""
        fence, self._fence, self._closing = self._fence, "", None
        self._emit(fence)
        if self._block is not None:
            self._end_block(0, truncated=truncated)

    def _read_text(self, text: str) -> None:
        index = 0
        while index < len(text):
            if self._closing is not None:
                index = self._read_block(self._closing, text, index)
            elif self._fence:
                index = self._read_fence(text, index)
            else:
                index = self._read_outside(text, index)

    def _read_outside(self, text: str, index: int) -> int:
        """Reads text up to a backtick, or reasoning."""
        if self._thinking.inside:
            end = self._thinking.end(text, index)
            self._emit(text[index:end])
            return end
        end = text.find("`", index)
        end = len(text) if end < 0 else end
        before = text[index:end]
        self._thinking.follow(before)
        self._emit(before)
        if self._thinking.inside or end == len(text):
            return end
        self._thinking.follow("`")
        self._fence = "`"
        return end + 1

    def _read_fence(self, text: str, index: int) -> int:
        """Reads the line that opens a block."""
        if text[index] == "\n" and self._fence.startswith("```"):
            self._ticks = len(self._fence) - len(self._fence.lstrip("`"))
            self._closing = Tokens(("\n" + "`" * self._ticks,))
            self._closing.add("\n")
            self._block, self._head, self._fence = [self._fence + "\n"], "", ""
            return index + 1
        longer = self._fence + text[index]
        if _OPENING.fullmatch(longer) is None:
            fence, self._fence = self._fence, ""
            self._emit(fence)
            return index
        self._fence = longer
        return index + 1

    def _read_block(self, closing: Tokens, text: str, index: int) -> int:
        """Reads a block up to its end."""
        end, ended = index, False
        while end < len(text) and not ended:
            if len(self._head) < _LONGEST_HEAD:
                self._head += text[end].strip()
            elif not closing.maybe:
                newline = text.find("\n", end)
                end = newline if newline >= 0 else len(text)
            if end < len(text):
                ended = bool(closing.add(text[end]))
                end += 1
        if self._block is None:
            self._emit(text[index:end])
        else:
            self._block.append(text[index:end])
            if not any(head.startswith(self._head) or self._head.startswith(head) for head in _HEADS):
                self._give_up()
        if ended:
            self._closing = None
            self._end_block(self._ticks, truncated=False)
        return end

    def _give_up(self) -> None:
        """Puts out a block that is not a call."""
        block, self._block = "".join(self._block or ()), None
        self._emit(block)

    def _end_block(self, ticks: int, *, truncated: bool) -> None:
        if self._block is None:
            return
        block = "".join(self._block)
        content = block[block.index("\n") : len(block) - ticks]
        calls = None if truncated else self._calls(content)
        if calls is None:
            self._give_up()
            return
        self._block, self._spaces, self._called = None, [], True
        self._out += calls

    def _calls(self, content: str) -> list[ParsedCall] | None:
        """Returns the calls in a block; None if it has none that are run."""
        try:
            value, repair = read_json(content, complete=False)
        except UnreadableError:
            return None
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        named = [name for item in items if (name := self._name(item)) is not None]
        if not named or len(named) < len(items):
            return None
        calls = [self._call(cast("Mapping[str, Any]", item)) for item in items] if repair is None else []
        found = [call for call in calls if call is not None]
        if len(found) < len(items):
            self.shown += named
            return None
        return found

    def _name(self, item: object) -> str | None:
        """Returns the name of the offered tool that an object calls, if it has nothing but a name and arguments."""
        if not isinstance(item, Mapping):
            return None
        fields = cast("Mapping[str, Any]", item)
        name = fields.get("name")
        is_call = len(fields) == 2 and any(key in fields for key in _ARGUMENTS)
        return name if is_call and isinstance(name, str) and name in self._tools else None

    def _call(self, fields: Mapping[str, Any]) -> ParsedCall | None:
        name = fields["name"]
        arguments = next(fields[key] for key in _ARGUMENTS if key in fields)
        if not self._tools[name].read_only or not self._fit(name, arguments):
            return None
        return ParsedCall(name, as_json(arguments), _REPAIR)

    def _fit(self, name: str, arguments: object) -> bool:
        """Returns whether arguments have the required names, no others, and values of the types of the schema."""
        if not isinstance(arguments, Mapping):
            return False
        given, schema = cast("Mapping[str, Any]", arguments), self._tools[name].parameters
        known = set(self._offered.parameters(name))
        required = cast("Sequence[str]", schema.get("required") or ())
        if not set(required) <= set(given):
            return False
        if not known.issuperset(given) and not schema.get("additionalProperties"):
            return False
        return all(self._is_of(name, key, value) for key, value in given.items())

    def _is_of(self, name: str, key: str, value: object) -> bool:
        types, kind = self._offered.types(name, key), json_type(value)
        return not types or kind in types or (kind == "integer" and "number" in types)

    def _emit(self, text: str) -> None:
        """Puts out text, and holds back white space at its end, which is dropped before a call."""
        if self._called:
            self._expected = (self._expected + text).lstrip()[:_LONGEST_SHOWN]
            return
        content = text.rstrip()
        if content:
            self._out.append("".join([*self._spaces, content]))
            self._spaces = []
        if len(content) < len(text):
            self._spaces.append(text[len(content) :])


ALL_FORMATS: Final = (
    "hermes",
    "qwen_coder",
    "glm",
    "mistral",
    "kimi_k2",
    "deepseek",
    "minimax",
    "gemma4",
    "llama3",
    "pythonic",
)
JSON_FORMATS: Final = ("llama3",)
"""The format of calls as JSON without a marker, in a code fence or not."""


class RescueParser:
    """A `CallParser` that holds back a reply while all of it may be calls. Any other reply goes to `inner`, the parser
    of the format that the model was asked to write, or is text. `rescued` says whether calls were found.
    """

    def __init__(
        self, tools: Sequence[ToolSpec], inner: CallParser | None = None, formats: Sequence[str] = ALL_FORMATS
    ) -> None:
        self._names = frozenset(tool.name for tool in tools)
        self._inner = inner
        self._candidates = [(tool_format(name).parser(tools), list[Piece]()) for name in formats]
        self._raw: list[str] = []
        self.rescued = False

    @property
    def cut_at(self) -> str | None:
        """The marker at which the inner parser cut the text."""
        return self._inner.cut_at if self._inner is not None else None

    @property
    def shown(self) -> Sequence[str]:
        """The names of offered tools in calls that the text shows in code blocks."""
        return self._inner.shown if isinstance(self._inner, FencedCalls) else ()

    def feed(self, text: str) -> list[Piece]:
        """Returns text that is certainly not part of a call."""
        if not self._candidates:
            return self._pass_on(text)
        self._raw.append(text)
        self._candidates = [
            (parser, found)
            for parser, found in self._candidates
            if self._still_calls(found, parser.feed(text)) and parser.cut_at is None
        ]
        return [] if self._candidates else self._release()

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        """Returns the calls if the reply is nothing else; else the rest of the text."""
        pieces: list[Piece] = []
        if self._candidates and not truncated:
            for parser, found in self._candidates:
                if self._still_calls(found, parser.finish()) and any(isinstance(piece, ParsedCall) for piece in found):
                    self.rescued = True
                    return [piece for piece in found if isinstance(piece, ParsedCall)]
        if self._candidates:
            pieces = self._release()
        return pieces + (self._inner.finish(truncated=truncated) if self._inner is not None else [])

    def _still_calls(self, found: list[Piece], new: list[Piece]) -> bool:
        """Adds new pieces of a candidate; returns whether all are calls of offered tools."""
        found += new
        return all(
            piece.name in self._names if isinstance(piece, ParsedCall) else isinstance(piece, str) and not piece.strip()
            for piece in new
        )

    def _release(self) -> list[Piece]:
        raw, self._raw, self._candidates = "".join(self._raw), [], []
        return self._pass_on(raw)

    def _pass_on(self, text: str) -> list[Piece]:
        if self._inner is not None:
            return self._inner.feed(text)
        return [text] if text else []
