"""Base URLs of the vendors of speech, pictures and music: with and without the path of the API, as those of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from abstractmusic.remote.vendors import vendors as music_vendors
from abstractvision.remote.vendors import vendors as vision_vendors
from abstractvoice.remote.vendors import account, vendor_rows


class Reached(NamedTuple):
    """A vendor: its own base URL, the path that its clients append, and how the URL of the option is read."""

    name: str
    own: str
    path: str
    read: Callable[[str], str]


def reached() -> Iterator[Reached]:
    for options, rows in (("vision", vision_vendors()), ("music", music_vendors())):
        for name, vendor in rows.items():
            if vendor.base_url is not None:
                read = partial(lambda vendor, option, url: vendor.address({option: url}), vendor, f"{options}_base_url")
                yield Reached(f"{options} {name}", vendor.base_url, vendor.url_path, read)
    for name, row in vendor_rows().items():
        read = partial(lambda row, url: account(row, {"voice_base_url": url, "voice_api_key": "k"}, {}).base_url, row)
        yield Reached(f"voice {name}", row.base_url, row.url_path, read)


def test_base_url_is_read_with_and_without_the_path_of_the_api():
    walked = list(reached())
    for vendor in walked:
        own = urlsplit(vendor.own)
        assert vendor.read(f"{own.scheme}://{own.netloc}") == vendor.own, vendor.name
        assert vendor.read(f"{vendor.own}/") == vendor.own, vendor.name
        if not own.path:
            assert vendor.read(f"{vendor.own}/v1") == vendor.own, vendor.name
        assert vendor.read("https://gateway.test/ai") == f"https://gateway.test/ai{vendor.path}", vendor.name
        assert vendor.read("https://gateway.test/v1") == "https://gateway.test/v1", vendor.name
        google = "generativelanguage" in vendor.own
        assert vendor.path == ("/v1beta" if google else ""), vendor.name
    assert len(walked) == 19
