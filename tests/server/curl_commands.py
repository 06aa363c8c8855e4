"""Commands of curl as vendors' documentation has them, in tests/server/data/curl; and what curl sends for one.

A comment before a command says what comes of it: `# STATUS TEXT`, the status and a part of the body, by default 200;
`# keep NAME` keeps the id of the response, for the `$NAME` of later commands.
"""

from __future__ import annotations

import re
import shlex
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.backend_doubles import PNG
from tests.documents import ROOT
from tests.server.multipart import form

FOLDER = Path(__file__).parent / "data" / "curl"
FILES: Mapping[str, bytes] = {
    "dot.png": PNG,
    "lines.jsonl": b'{"line": "first"}',
    "meeting.wav": (ROOT / "examples/media/meeting.wav").read_bytes(),
}
"""The files that commands upload."""
_ADDRESS = re.compile(r"https?://[a-z0-9.:]+(?=/)")
_NO_REQUEST = {"-s": 0, "--no-buffer": 0, "--max-time": 1, "--output": 1}
"""Options that change nothing in the request, and how many values they take."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and what comes of it: the status, a text in the body, and the name under which its id is kept."""

    text: str
    status: int = 200
    shows: str = ""
    keep: str = ""

    def arguments(self, url: str, values: Mapping[str, str]) -> list[str]:
        """The arguments of curl for a server at `url`; `values` are those of the variables."""
        text = string.Template(self.text).substitute(values).replace("\\\n", " ")
        program, *arguments = shlex.split(text)
        assert program == "curl"
        return [_ADDRESS.sub(url, each) if each.startswith("http") else each for each in arguments]


@dataclass(slots=True)
class Sent:
    """The request that curl sends."""

    url: str = ""
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


def commands(file: str) -> list[Command]:
    """The commands of a file."""
    text = (FOLDER / file).read_text(encoding="utf-8")
    return [
        Command(found[4].strip(), int(found[1] or 200), found[2] or "", found[3] or "")
        for found in re.finditer(r"^(?:# (?:(\d+) (.*)|keep (\w+))\n)?(curl (?:.+\n)+)", text, re.MULTILINE)
    ]


def sent_by_curl(arguments: list[str]) -> Sent:
    """The request of curl with these arguments, with the headers that it adds itself."""
    sent, parts = Sent(headers={"accept": "*/*", "user-agent": "curl/8.14.1"}), list[tuple[str, str | None, bytes]]()
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-X", "--request"):
            sent.method = next(rest)
        elif argument in ("-H", "--header"):
            name, _, value = next(rest).partition(":")
            sent.headers[name.strip().lower()] = value.strip()
        elif argument in ("-d", "--data"):
            sent.body = next(rest).encode()
            sent.headers.setdefault("content-type", "application/x-www-form-urlencoded")
            sent.method = "POST" if sent.method == "GET" else sent.method
        elif argument in ("-F", "--form"):
            name, _, value = next(rest).partition("=")
            value = value.partition(";")[0]  # what follows is for curl itself
            is_file = value.startswith("@")
            parts.append((name, value[1:] if is_file else None, FILES[value[1:]] if is_file else value.encode()))
        elif argument in _NO_REQUEST:
            for _ in range(_NO_REQUEST[argument]):
                next(rest)
        else:
            sent.url = argument if argument != "--url" else next(rest)
    if parts:
        sent.method = "POST"
        sent.body, sent.headers["content-type"] = form(parts)
    return sent
