"""Asks a running `conformance_client.py` to run one scenario: `python conformance_call.py SOCKET URL`.

It imports little: the suite starts one for each scenario.
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    given = {name: value for name, value in os.environ.items() if name.startswith("MCP_CONFORMANCE_")}
    connection.sendall(json.dumps([given, sys.argv[2]]).encode() + b"\n")
    answer = connection.makefile("rb")
    code = answer.readline()
    sys.stdout.buffer.write(answer.read())
sys.exit(int(code or 1))
