"""Configuration files of MCP servers: the forms of desktop clients, and errors with their lines."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from abstractcore import ConfigurationError, MCPTools
from tests.core.mcp.conftest import SHOP


def written(path: Path, data: Any) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))
    return path


@pytest.mark.process
def test_servers_of_a_file_are_usable(tmp_path: Path):
    shop = {"command": SHOP[0], "args": SHOP[1:], "env": {"A": "${B:-c}"}, "only": ["p*"], "prefix": "s_"}
    path = written(tmp_path / "mcp.json", {"mcpServers": {"shop": shop, "off": {"command": "x", "disabled": True}}})
    [tools] = MCPTools.from_file(path)
    with tools:
        assert tools.name == "shop"
        assert [spec.name for spec in tools.list_tools()] == ["s_price", "s_pack"]
        assert tools.call("s_price", {"item": "tea"}).result.as_text == "300"
        assert tools.call("price").outcome == "unknown_tool"


def test_forms_of_other_clients_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """VS Code: `servers`, `type`, `${env:NAME}`; Cursor and Cline: `autoApprove`, which is not used."""
    web = {"type": "http", "url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${env:KEY}"}}
    data = {"servers": {"web": {**web, "autoApprove": ["x"]}, "local": {"type": "stdio", "command": "${HOME}/server"}}}
    path = written(tmp_path / "mcp.json", data)
    with caplog.at_level(logging.WARNING, "abstractcore"):
        servers = MCPTools.from_file(path, environment={"KEY": "k", "HOME": "/home/ann"})
    assert [server.name for server in servers] == ["web", "local"]
    assert caplog.messages == [f"{path}:9: 'autoApprove' is not used"]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{\n"mcpServers": {\n', 3, "Expecting property name"),
        ("[]", 1, "expected an object, got []"),
        ("{}", 1, "there is no object 'mcpServers'"),
        ('{"mcpServers":\n{"a": 3}}', 2, "mcpServers.a: expected an object, got 3"),
        ('{"mcpServers":\n{"a":\n{"command": 3}}}', 3, "expected text, got 3"),
        ('{"mcpServers":\n{"a":\n{"command": "x",\n"args": "y"}}}', 4, "expected a list, got 'y'"),
        ('{"mcpServers":\n{"a":\n{"url": "http://a",\n"headers":\n{"k": "${NO_SUCH}"}}}}', 4, "NO_SUCH is not set"),
        ('{"mcpServers":\n{"a": {"type": "sse", "url": "http://a"}}}', 2, "type sse are not supported"),
        ('{"mcpServers":\n{"a": {"type": "carrier", "url": "http://a"}}}', 2, "is not stdio or http"),
        ('{"mcpServers": {"a": {"command": "x"},\n"a": {"command": "y"}}}', 2, "duplicate key 'a'"),
        ('{"mcpServers":\n{"a": {"command": "x", "required": "no"}}}', 2, "expected true or false, got 'no'"),
    ],
)
def test_error_in_a_file_names_its_line(tmp_path: Path, text: str, line: int, problem: str):
    path = written(tmp_path / "mcp.json", text)
    with pytest.raises(ConfigurationError) as caught:
        MCPTools.from_file(path, environment={})
    assert f"{path}:{line}: " in str(caught.value)
    assert problem in str(caught.value)


def test_server_without_an_address_is_named(tmp_path: Path):
    path = written(tmp_path / "mcp.json", {"mcpServers": {"web": {"headers": {}}}})
    with pytest.raises(
        ConfigurationError, match=r"mcp\.json:3: mcpServers\.web: .*expected one of server, command and url"
    ):
        MCPTools.from_file(path)


def test_all_errors_of_a_file_are_named_with_their_lines(tmp_path: Path):
    text = """{"mcpServers": {
        "good": {"command": "x"},
        "time": {"command": 3,
            "args": "y"},
        "list": [],
        "web": {"url": "ftp://a"},
        "old": {"type": "sse", "url": "http://a"}}}"""
    path = written(tmp_path / "mcp.json", text)
    with pytest.raises(ConfigurationError) as caught:
        MCPTools.from_file(path, environment={})
    assert caught.value.file == str(path)
    assert [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()] == [
        "3: mcpServers.time.command: expected text, got 3.",
        "4: mcpServers.time.args: expected a list, got 'y'.",
        "5: mcpServers.list: expected an object, got [].",
        "6: mcpServers.web: url: expected an http or https URL, got 'ftp://a'.",
        "7: mcpServers.old.type: servers of type sse are not supported. "
        "Give the address of its streamable HTTP endpoint, with type http.",
    ]


@pytest.mark.parametrize("content", [None, b"\xff\xfe{}", b" " * 1_000_001])
def test_file_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes | None):
    path = tmp_path / "mcp.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"mcp\.json"):
        MCPTools.from_file(path)


def test_secrets_of_a_file_are_not_in_its_errors(tmp_path: Path):
    data = {"mcpServers": {"web": {"url": "http://a", "headers": {"k": "sk-secret-key"}, "labels": ["secret"]}}}
    with pytest.raises(ConfigurationError) as caught:
        MCPTools.from_file(written(tmp_path / "mcp.json", data))
    assert "sk-secret-key" not in str(caught.value)
    assert sys.executable not in str(caught.value)
