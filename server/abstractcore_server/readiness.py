"""Reports to systemd that the server answers, for services of `Type=notify`."""

from __future__ import annotations

import logging
import os
import socket

_log = logging.getLogger("abstractcore.server")


def report_ready() -> None:
    """Sends `READY=1` to the socket of sd_notify(3), if systemd has started this process and named one."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifying:
            notifying.sendto(b"READY=1", f"\0{address[1:]}" if address.startswith("@") else address)
    except OSError as error:
        _log.warning("systemd was not notified that the server is ready: %s", error)
