"""The client of the scenarios of the MCP conformance suite: `python conformance_client.py SOCKET`.

It lists the tools of a server and calls each in a tool loop. It answers questions with the defaults of their forms.
Each scenario runs in a fork, which `conformance_call.py` asks for: importing the SDK takes longer than most of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from abstractcore import MCPTools, Question, ToolSpec, create_llm
from abstractcore.mcp.tools import Mode
from abstractcore.testing import ScriptedReply

CALLBACK = "http://localhost:3030/callback"
CLIENT_METADATA = "https://conformance-test.local/client-metadata.json"
"""The address of a client's metadata document that the suite knows."""
MOST_QUESTIONS = 5
MOST_AT_ONCE = 4
EXAMPLES: Mapping[str, Any] = {"string": "text", "number": 5, "integer": 5, "boolean": True, "array": [], "object": {}}


class Storage:
    """Keeps the tokens of one run."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self._client = client
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


class Browser:
    """Allows every authorization; the address of the callback is read, and not visited."""

    def __init__(self) -> None:
        self._query: dict[str, list[str]] = {}

    async def visit(self, url: str) -> None:
        async with httpx2.AsyncClient() as client:
            response = await client.get(url)
        self._query = parse_qs(urlsplit(response.headers["location"]).query)

    async def callback(self) -> AuthorizationCodeResult:
        state, issuer = self._query.get("state", [None]), self._query.get("iss", [None])
        return AuthorizationCodeResult(code=self._query["code"][0], state=state[0], iss=issuer[0])


def provider(url: str, scenario: str, given: Mapping[str, Any]) -> httpx2.Auth:
    """The OAuth provider of the SDK with the credentials of the scenario."""
    client_id, secret, issuer = (given.get(key) for key in ("client_id", "client_secret", "issuer"))
    if scenario == "auth/client-credentials-basic":
        return ClientCredentialsOAuthProvider(url, Storage(None), client_id, secret)
    known = None
    if client_id is not None:
        known = OAuthClientInformationFull(
            client_id=client_id,
            client_secret=secret,
            redirect_uris=[cast("Any", CALLBACK)],
            issuer=issuer,
            token_endpoint_auth_method="client_secret_basic",
        )
    browser = Browser()
    metadata = OAuthClientMetadata(
        client_name="conformance",
        redirect_uris=[cast("Any", CALLBACK)],
        grant_types=["authorization_code", "refresh_token"],
    )
    return OAuthClientProvider(url, metadata, Storage(known), browser.visit, browser.callback, CLIENT_METADATA)


def arguments_for(tool: ToolSpec, tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """Returns arguments of a tool: those that the scenario names, or an example of each that is required."""
    if "schema" in tool.parameters.get("required", []):  # it returns the schema of another tool
        return {"schema": next(each.parameters for each in tools if each is not tool)}
    properties = cast("Mapping[str, Any]", tool.parameters.get("properties", {}))
    return {name: EXAMPLES[properties[name].get("type", "string")] for name in tool.parameters.get("required", [])}


def defaults(question: Question) -> dict[str, Any]:
    """Returns the answer of a user who changes nothing in the form, and agrees."""
    properties = cast("Mapping[str, Any]", (question.schema or {}).get("properties", {}))
    return {name: each.get("default", EXAMPLES.get(each.get("type"))) for name, each in properties.items()}


async def run(url: str, variables: Mapping[str, str]) -> None:
    """Calls the tools of the server, in the scenario of the environment variables."""
    context = json.loads(variables.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    scenario = variables["MCP_CONFORMANCE_SCENARIO"]
    mode: Mode = "auto" if variables["MCP_CONFORMANCE_PROTOCOL_VERSION"] >= "2026" else "legacy"
    auth = provider(url, scenario, context) if scenario.startswith("auth/") else None
    async with MCPTools(url=url, mode=mode, auth=auth) as tools:
        offered = await tools.alist_tools()
        given = [(each["name"], each["arguments"]) for each in context.get("toolCalls", [])]
        given = given or [(tool.name, arguments_for(tool, offered)) for tool in offered]
        if not given:
            return
        replies = [ScriptedReply.tool_call(name, arguments) for name, arguments in given]
        llm = create_llm("scripted", replies=[*replies, "Done."])
        response = await llm.agenerate("Call all.", tools=[tools], run_tools=True)
        for _ in range(MOST_QUESTIONS):
            if response.loop is None or response.loop.status != "suspended":
                break
            answers = [
                each.respond(*map(defaults, each.input.questions)) for each in response.loop.pending if each.input
            ]
            response = await llm.aresume(response.loop, answers, tools=[tools])
        for step in response.tool_steps:
            sys.stdout.write(f"{step.call.name} {step.outcome} {step.result.as_text}\n")


def run_in_fork(connection: socket.socket) -> int:
    """Runs the scenario of a request; sends the exit code, and what it printed."""
    with connection, connection.makefile("rb") as request, io.StringIO() as printed:
        variables, url = json.loads(request.readline())
        code = 0
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                asyncio.run(run(url, variables))
            except BaseException:
                code = 1
                traceback.print_exc()
        connection.sendall(f"{code}\n{printed.getvalue()}".encode())
    return code


def serve(path: str) -> None:
    """Serves requests at a socket until the process is ended, few at once: the suite starts all at once, and a busy
    machine would let them time out.
    """
    running = 0
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(100)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                os._exit(run_in_fork(connection))
            connection.close()
            running += 1
            if running == MOST_AT_ONCE:
                os.wait()
                running -= 1


if __name__ == "__main__":
    for module in ("connections", "http", "listing", "sampling"):  # imported once, and not by each scenario
        import_module(f"abstractcore.mcp.{module}")
    serve(sys.argv[1])
