"""Has `server.py` run its script on the standard streams of this process: `python shop.py SOCKET SCRIPT ARGUMENT...`.

A file of this kind has the name of its script. It imports as little as it can.
"""

import json
import os
import socket
import sys

_, path, *argv = sys.argv
connection = socket.socket(socket.AF_UNIX)
try:
    connection.connect(path)
except OSError:
    os.execv(sys.executable, [sys.executable, *argv])
message = json.dumps([argv, os.getcwd(), dict(os.environ)]) + "\n"
socket.send_fds(connection, [message.encode()], [0, 1, 2])
code = int(connection.recv(16) or 1)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
