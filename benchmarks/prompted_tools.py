"""The cost of reading tool calls in text, for a character, in pieces of four as a stream brings them."""

from __future__ import annotations

from collections.abc import Callable

from rounds import Row, Setup, best, cpu_seconds

from abstractcore.schema import ToolCall, ToolSpec
from abstractcore.tools.prompted import TOOL_FORMATS, tool_format

_MOST_SECONDS = 3e-6
_PIECE = 4
_TOOL = ToolSpec("weather", "", {"type": "object", "properties": {"city": {"type": "string"}}})
_PROSE = "The quick brown fox, it's <b>nice</b> [1, 2] {x} `y`.\n"


def characters(setup: Setup) -> list[Row]:
    """Prose, one call with long arguments, and many short calls, in the slowest format of each."""
    size = 8_000 if setup.quick else 32_000
    texts: dict[str, Callable[[str], str]] = {
        "prose": lambda name: _PROSE,
        "a long call": lambda name: _written(name, "lorem <b>ipsum</b> dolor\n" * (size // 25)),
        "short calls": lambda name: _written(name, "Oslo") + "\n",
    }
    rows: list[Row] = []
    for what, text in texts.items():
        batches: dict[str, Callable[[], float]] = {}
        for name in TOOL_FORMATS:
            one = text(name)
            whole = one * max(1, size // len(one))
            batches[name] = cpu_seconds(_reading(name, whole), len(whole))
        name, seconds = max(best(batches, setup.rounds).items(), key=lambda item: item[1])
        rows.append(Row(f"prompted tools, a character of {what} ({name})", seconds, goal=_MOST_SECONDS))
    return rows


def _written(name: str, city: str) -> str:
    return tool_format(name).write_calls([ToolCall.of("call_0_0", "weather", {"city": city})], [_TOOL])


def _reading(name: str, text: str) -> Callable[[], None]:
    pieces = [text[index : index + _PIECE] for index in range(0, len(text), _PIECE)]

    def read() -> None:
        parser = tool_format(name).parser([_TOOL])
        for piece in pieces:
            parser.feed(piece)
        parser.finish()

    return read
