"""`ServerAddress`: where a server is, and what opens a transport to it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ..errors import InvalidInputError
from ..schema.base_error import shown
from ..scrubbing import Secrets, credentials_of

if TYPE_CHECKING:
    import httpx2

    from .connections import TransportNotes

_LAUNCHERS = frozenset({"bun", "bunx", "deno", "node", "npx", "pipx", "python", "python3", "uvx"})
"""Programs that run others: the server is named by what they run."""
_PORTS = {"http": 80, "https": 443}
_KIND_OF = {"env": "command", "cwd": "command", "headers": "url", "auth": "url"}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A program (`command`, `env`, `cwd`), an address (`url`, `auth`), or a `server` object of the SDK."""

    server: Any = None
    command: tuple[str, ...] | None = None
    url: str | None = None
    env: Mapping[str, str] | None = field(default=None, repr=False)
    cwd: str | None = None
    auth: httpx2.Auth | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls, server: object, command: object, url: object, env: object, cwd: object, headers: object, auth: object
    ) -> ServerAddress:
        """Returns an address; raises `InvalidInputError` for arguments of other types, or that do not fit together."""
        _check_one(server, command, url)
        given = {"env": env, "cwd": cwd, "headers": headers, "auth": auth}
        present = {"command": command, "url": url}
        for name, value in given.items():
            if value is not None and present[_KIND_OF[name]] is None:
                raise InvalidInputError(f"is for servers with {_KIND_OF[name]}= only", path=name)
        folder = None if cwd is None else _path(cwd, "cwd")
        made = cls(server, _command(command), _url(url), _texts(env, "env"), folder, cast("httpx2.Auth | None", auth))
        if auth is not None and not hasattr(auth, "async_auth_flow"):
            raise InvalidInputError(f"expected an httpx2.Auth, got {shown(auth)}", path="auth")
        return made

    @property
    def name(self) -> str:
        """The name of a server that was not given one."""
        if self.command is not None:
            program, *arguments = self.command
            names = [each for each in arguments if not each.startswith("-")]
            is_launched = PurePath(program).stem in _LAUNCHERS and names and "-c" not in arguments
            return PurePath(names[0] if is_launched else program).stem or program
        if self.url is not None:
            return urlsplit(self.url).hostname or self.url
        return getattr(self.server, "name", None) or type(self.server).__name__

    def open_transport(self, headers: Mapping[str, str], longest: int) -> tuple[Any, TransportNotes]:
        """Returns a new transport, or the server object, with what is known of it.

        A message may have `longest` bytes.
        """
        if self.command is not None:
            from .listing import with_valid_pages
            from .stdio import ServerOutput, stdio_transport

            output = ServerOutput()
            transport = stdio_transport(list(self.command), self.env, self.cwd, longest, output)
            return with_valid_pages(transport), output
        if self.url is not None:
            from .http import HTTPNotes, http_transport
            from .listing import with_valid_pages

            notes = HTTPNotes(_host_and_port(self.url))
            return with_valid_pages(http_transport(self.url, headers, self.auth, longest, notes)), notes
        from .connections import NoNotes

        return self.server, NoNotes()


def _check_one(server: object, command: object, url: object) -> None:
    given = [name for name, value in (("server", server), ("command", command), ("url", url)) if value is not None]
    if len(given) != 1:
        what = " and ".join(given) or "none"
        hint = "For example MCPTools(command=['mcp-server-time']) or MCPTools(url='https://example.com/mcp')."
        raise InvalidInputError(f"expected one of server, command and url, got {what}", path="MCPTools", hint=hint)
    if isinstance(server, str):
        raise InvalidInputError("a URL is given as url=, a program as command=[...]", path="server")
    if server is not None and not (callable(getattr(server, "run", None)) and hasattr(server, "name")):
        raise InvalidInputError(f"expected a server of the SDK, got {shown(server)}", path="server")


def _command(command: object) -> tuple[str, ...] | None:
    if command is None:
        return None
    if isinstance(command, str) or not isinstance(command, Sequence):
        hint = f"For example command={command.split()!r}." if isinstance(command, str) else None
        raise InvalidInputError("expected a list of the program and its arguments", path="command", hint=hint)
    if not command:
        raise InvalidInputError("the list is empty", path="command")
    items = cast("Sequence[object]", command)
    return tuple(_path(item, f"command[{index}]") for index, item in enumerate(items))


def _path(value: object, path: str) -> str:
    text: object = os.fspath(cast("os.PathLike[str]", value)) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str) or "\0" in text:
        raise InvalidInputError(f"expected text, got {shown(cast(object, value))}", path=path)
    return text


def _url(url: object) -> str | None:
    if url is None:
        return None
    if not _is_url(url):
        hidden = Secrets(credentials_of({"url": url})).text(shown(url))
        raise InvalidInputError(f"expected an http or https URL, got {hidden}", path="url")
    return cast(str, url)


def _is_url(url: object) -> bool:
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        return parts is not None and parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an unclosed bracket, a port out of range
        return False


def _host_and_port(url: str) -> str:
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{parts.port or _PORTS[parts.scheme]}"


def _texts(given: object, path: str) -> dict[str, str] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"expected a mapping, got {type(given).__name__}", path=path)
    for name, value in cast("Mapping[object, object]", given).items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InvalidInputError(f"the value of {shown(name)} is not text", path=path)
    return dict(cast("Mapping[str, str]", given))
