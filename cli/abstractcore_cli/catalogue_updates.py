"""`abstractcore catalogue update`: later facts about models, from the newest wheel or another source.

Downloads a file over HTTP, with the library's own transport: its proxies, certificates and timeouts.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import abstractcore
from abstractcore.concurrency import drive
from abstractcore.schema import WireRequest, shown_address

from .catalogues import open_catalogue
from .reporting import catalogue_json, reported
from .screen import note, show_table, write

if TYPE_CHECKING:
    from abstractcore.catalogue import CatalogueChange

_MOST_BYTES = 256 * 1024 * 1024
_MOST_REDIRECTS = 5
_STEP_SECONDS = 60.0
_MOST_SECONDS = 1800.0
_HINT = "Check the URL, and that this machine can reach it."
_REDIRECTS = (301, 302, 303, 307, 308)


def is_url(source: str) -> bool:
    """Returns whether the source is the URL of a file."""
    return source.startswith(("http://", "https://"))


def download(url: str, folder: Path) -> Path:
    """Returns the path of the downloaded file in `folder`; raises `ProviderError`s as requests to providers do, and
    `ConfigurationError` for a text that is not a URL and another answer
    than a file.
    """
    try:
        urlsplit(url)
    except ValueError as error:
        raise abstractcore.ConfigurationError(f"{shown_address(url)} is not a URL: {error}.") from None
    services = abstractcore.Services()
    try:
        return drive(_fetch(url, folder, services))
    except abstractcore.AbstractCoreError as error:
        error.hint = error.hint and _HINT  # not one about options of create_llm
        raise
    finally:
        services.close()


async def _fetch(url: str, folder: Path, services: abstractcore.Services) -> Path:
    transport = services.sync_transport()
    ends = time.monotonic() + _MOST_SECONDS
    for _ in range(_MOST_REDIRECTS + 1):
        body = await transport.open(WireRequest(url, {}, b"", "GET"), _STEP_SECONDS)
        try:
            if body.status in _REDIRECTS and "location" in body.headers:
                url = _redirect_target(url, body.headers["location"])
                continue
            if body.status != 200:
                raise abstractcore.ConfigurationError(f"{shown_address(url)} answers with HTTP status {body.status}.")
            path = folder / "download"
            size = 0
            with path.open("wb") as file:
                while chunk := await body.read():
                    size += len(chunk)
                    if size > _MOST_BYTES:
                        raise abstractcore.ConfigurationError(f"{shown_address(url)} is too large to be a catalogue.")
                    if time.monotonic() > ends:
                        raise abstractcore.ConfigurationError(
                            f"{shown_address(url)} takes longer than {_MOST_SECONDS:.0f} s.", hint=_HINT
                        )
                    file.write(chunk)
            return path
        finally:
            await body.close()
    raise abstractcore.ConfigurationError(f"{shown_address(url)} redirects more than {_MOST_REDIRECTS} times.")


def _redirect_target(url: str, location: str) -> str:
    """Returns the URL that an answer redirects to; raises `ConfigurationError` for one without TLS, after one with."""
    try:
        target = urljoin(url, location)
        allowed = is_url(target) and (urlsplit(target).scheme == "https" or not url.startswith("https:"))
    except ValueError:  # not a URL
        target, allowed = location, False
    if not allowed:
        raise abstractcore.ConfigurationError(f"{shown_address(url)} redirects to {shown_address(target)}.")
    return target


_PROJECT = "abstractcore"
_PACKAGE = "abstractcore_providers"
"""The package in the wheel that has the provider files."""
_MOST_NAMES = 8


def update(source: str | None, *, as_json: bool) -> None:
    """Replaces the provider files in the user's folder by later ones, and prints what changed."""
    with reported(as_json=as_json):
        from abstractcore.catalogue import read_source

        catalogue = open_catalogue()
        with tempfile.TemporaryDirectory() as scratch:
            changes = catalogue.update(read_source(*_fetch_source(source, Path(scratch))))
        if not changes:
            raise abstractcore.ConfigurationError(
                f"{source or 'the wheel'} has files of other providers than those installed.",
                hint="Pass a wheel of abstractcore, or a folder with PROVIDER.jsonl.",
            )
        if as_json:
            folder = str(catalogue.updates)
            write(catalogue_json({"folder": folder, "providers": [_as_data(change) for change in changes]}))
            return
        later = [change for change in changes if change.is_later]
        show_table(("provider", "as of", "before", "new", "gone", "changed"), [_row(change) for change in later])
        for change in later:
            for what, names in (("new", change.added), ("gone", change.removed), ("changed", change.changed)):
                if names:
                    note(f"{change.provider}: {what}: {_some(names)}")
        repaired = [change.provider for change in changes if change.repaired]
        if repaired:
            note(f"damaged files were replaced: {', '.join(repaired)}")
        note(f"{len(later)} of {len(changes)} files are later than those in use: {catalogue.updates}")


def _fetch_source(source: str | None, scratch: Path) -> tuple[Path, str | None]:
    """Returns the path of the source, downloaded if it is none, and then the name by which the user knows it; raises
    `ConfigurationError` without an installer.
    """
    if source == "":  # a variable that is not set; as a path it is the working directory
        raise abstractcore.InvalidInputError(
            "the source is empty.", hint="Pass a wheel, a zip file, a folder or a URL."
        )
    if source is None:
        from abstractcore.stores.models import unpack_wheel

        note(f"downloading the newest wheel of {_PROJECT} ...")
        try:
            return _package(unpack_wheel(_PROJECT, scratch, _PROJECT))
        except OSError as error:
            raise abstractcore.ConfigurationError(f"{scratch} cannot be written: {error}.") from None
    return (
        (download(source, scratch), shown_address(source))
        if is_url(source)
        else (Path(os.path.expanduser(source)), None)
    )


def _package(unpacked: Path) -> tuple[Path, str]:
    """Returns the folder of the package with the catalogue in a wheel, and its name in messages; raises
    `ConfigurationError` for a wheel without it, which is of another project.
    """
    from importlib.metadata import distributions

    package = unpacked / _PACKAGE
    found = ", ".join(f"{each.name} {each.version}" for each in distributions(path=[str(unpacked)]))
    if (package / "catalogue").is_dir():
        return package, f"the wheel of {found or _PROJECT}/{_PACKAGE}"
    raise abstractcore.ConfigurationError(
        f"the package index has {found or 'a wheel'} without a catalogue: an earlier version, or another project of "
        "that name.",
        hint="Name the source: `abstractcore catalogue update SOURCE`, with a wheel of this project, a zip file, a "
        "folder or a URL.",
    )


def _row(change: CatalogueChange) -> tuple[str, ...]:
    days = (str(change.after or "-"), str(change.before or "-"))
    return (change.provider, *days, *(str(len(names)) for names in (change.added, change.removed, change.changed)))


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return f"{', '.join(names[:_MOST_NAMES])}{f' and {more} more' if more > 0 else ''}"


def _as_data(change: CatalogueChange) -> dict[str, object]:
    return {
        "provider": change.provider,
        "as_of": change.after and change.after.isoformat(),
        "before": change.before and change.before.isoformat(),
        "updated": change.is_later,
        "repaired": change.repaired,
        "added": change.added,
        "removed": change.removed,
        "changed": change.changed,
    }
