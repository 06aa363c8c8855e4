"""A server over HTTP without the SDK whose tool `ask` returns 100 MB: `python large_http.py KIND` prints its port.

KIND is json or sse, and says how it answers. It speaks revision 2025-11-25.
"""

from __future__ import annotations

import http.server
import json
import sys
from typing import Any

CHUNK = b"x" * 1_000_000
CHUNKS = 100
TOOL = {"name": "ask", "inputSchema": {"type": "object"}}
RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "large", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
}


class Large(http.server.BaseHTTPRequestHandler):
    """Answers requests."""

    def do_POST(self) -> None:
        """Answers one request."""
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, id = message["method"], message.get("id")
        if id is None:
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
        elif method == "tools/call":
            self._send_large(id)
        else:
            result = RESULTS.get(method)
            error = {"code": -32601, "message": "Method not found"}
            answer = {"jsonrpc": "2.0", "id": id, **({"error": error} if result is None else {"result": result})}
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def _send_large(self, id: int) -> None:
        is_stream = sys.argv[1] == "sse"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
        self.send_header("connection", "close")
        self.end_headers()
        beginning = b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "' % id
        try:
            self.wfile.write(b"event: message\ndata: " * is_stream + beginning)
            for _ in range(CHUNKS):
                self.wfile.write(CHUNK)
            self.wfile.write(b'"}]}}' + b"\n\n" * is_stream)
        except ConnectionError:  # the client has read enough
            self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Prints nothing."""


if __name__ == "__main__":
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Large) as server:
        sys.stdout.write(f"{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()
