"""The scripted server: recorded requests, and no leaks after its end."""

from __future__ import annotations

import gc
import socket
import ssl

import pytest
import trustme

from abstractcore.testing.http_server import HANG, ScriptedServer, answer


def tls_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("left_first", [False, True], ids=["client stays", "client left"])
def test_just_accepted_connections_are_closed_with_the_server(tls, left_first):
    """However far it got with them: what stays open is a warning in whatever test is running when it is collected."""
    for _ in range(30):
        with ScriptedServer(tls_context() if tls else None) as server:
            clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
            for client in clients if left_first else ():
                client.close()
        for client in clients:
            client.close()
        gc.collect()


def test_values_of_a_repeated_header_are_joined_with_commas():
    with ScriptedServer() as server, socket.create_connection(("127.0.0.1", server.port)) as client:
        server.script(answer("ok"))
        client.sendall(b"GET / HTTP/1.1\r\nhost: h\r\nX-Team: a\r\nx-team: b\r\n\r\n")
        assert client.recv(1)
        assert server.requests[0].headers == {"host": "h", "x-team": "a, b"}


def test_script_that_no_request_has_taken_is_not_that_of_another_test():
    """As of a call whose time was over before its request had arrived."""
    with ScriptedServer() as server, socket.create_connection(("127.0.0.1", server.port)) as client:
        server.script(HANG)
        server.clear()
        server.script(answer("ok"))
        client.sendall(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n")
        assert client.recv(8) == b"HTTP/1.1"
        assert len(server.requests) == 1
