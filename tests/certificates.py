"""Certificates of public authorities are loaded once a process, as a pytest plugin: that takes 40 ms of processor time,
and vendors' clients make up to three TLS contexts each, also to talk to this machine over plain HTTP.

Contexts with other certificates, those of tests, are not shared.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from functools import cache
from typing import Any

import httpcore2

_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_OF_CERTIFI = os.path.join("certifi", "cacert.pem")


def made_once(make: Callable[..., ssl.SSLContext]) -> Callable[..., ssl.SSLContext]:
    """Returns `make`, called once for the same arguments in the same environment."""

    @cache
    def made(environment: tuple[str | None, ...], arguments: tuple[tuple[str, Any], ...]) -> ssl.SSLContext:
        return make(**dict(arguments))

    return lambda **arguments: made(tuple(map(os.environ.get, _VARIABLES)), tuple(sorted(arguments.items())))


def pytest_configure() -> None:
    make, shared = ssl.create_default_context, made_once(ssl.create_default_context)

    def create_default_context(*purpose: ssl.Purpose, **arguments: Any) -> ssl.SSLContext:
        file = arguments.get("cafile")
        is_public = str(file).endswith(_OF_CERTIFI) or (file and file == os.environ.get("SSL_CERT_FILE"))
        return shared(**arguments) if is_public and not purpose else make(*purpose, **arguments)

    ssl.create_default_context = create_default_context
    httpcore2.default_ssl_context = made_once(httpcore2.default_ssl_context)
