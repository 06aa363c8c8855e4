"""The SDK's transport for JSON-RPC, tolerant of times that are not valid."""

from __future__ import annotations

import re
from typing import Any, cast

from a2a.client import ClientConfig
from a2a.client.transports.base import ClientTransport
from a2a.client.transports.jsonrpc import JsonRpcTransport
from a2a.compat.v0_3.jsonrpc_transport import CompatJsonRpcTransport
from a2a.compat.v0_3.versions import is_legacy_version
from a2a.types import AgentCard

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def jsonrpc_transport(card: AgentCard, url: str, config: ClientConfig) -> ClientTransport:
    """Returns the transport to an interface of a card; it uses the HTTP client of `config`."""
    assert config.httpx_client is not None
    versions = [each.protocol_version for each in card.supported_interfaces if each.url == url]
    kind = CompatJsonRpcTransport if is_legacy_version(versions[0]) else _TolerantTransport
    return kind(config.httpx_client, card, url, is_shared_httpx=True)


class _TolerantTransport(JsonRpcTransport):
    """Takes times without a zone, which some agents write (fasta2a 2.1), and leaves out values that are not times.

    The SDK would refuse the whole answer. Nothing here depends on times.
    """

    def _check_jsonrpc_response(self, response_data: Any) -> dict[str, Any]:
        checked = super()._check_jsonrpc_response(response_data)
        result = checked["result"]
        if isinstance(result, dict):
            given = cast("dict[str, Any]", result)
            for holder in (given, given.get("task"), given.get("statusUpdate")):
                if isinstance(holder, dict):
                    _repair(cast("dict[str, Any]", holder).get("status"))
        return checked


def _repair(status: object) -> None:
    """Changes the time of a status to one that the SDK takes."""
    if not isinstance(status, dict) or "timestamp" not in status:
        return
    found = cast("dict[str, Any]", status)
    time = found["timestamp"]
    for each in (time, f"{time}Z"):
        if isinstance(time, str) and _TIME.fullmatch(each):
            found["timestamp"] = each
            return
    del found["timestamp"]
