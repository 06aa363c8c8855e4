"""The child process that runs llama.cpp's server. Started by file, alone: it imports nothing of this package.

It reads one JSON line with settings from stdin, writes one with the server's URL to stdout, and logs to stderr.
It exits when stdin is closed, so also when the parent is killed.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from typing import Any

LOAD_FAILED = 3
"""The exit code when llama.cpp could not load the weights; the log has the reason."""

_ERRORS = 1
_PROMPT_CACHE_MIB = 512


def main() -> None:
    """Serves until stdin is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of libraries goes to the log
    _exit_with_parent()
    sys.path[:] = settings["search_path"]
    try:
        llama: Any = importlib.import_module("xllamacpp")
        server = llama.Server(_parameters(llama, settings))
    except Exception as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(LOAD_FAILED)
    answer.write(json.dumps({"url": server.listening_address}) + "\n")
    answer.close()
    sys.stdin.buffer.read()
    os._exit(0)


def _exit_with_parent() -> None:
    """On Linux, makes the kernel end this process as soon as stdin is closed.

    llama.cpp holds the GIL while it loads, so a thread that watches stdin would not run. On other systems the end is
    detected after the load.
    """
    if sys.platform == "linux":
        import fcntl
        import select

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGIO])
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([0], [], [], 0)[0]:
            os._exit(0)  # it was closed before the signal was requested


def _parameters(llama: Any, settings: dict[str, Any]) -> Any:
    parameters = llama.CommonParams()
    parameters.model.path = settings["weights"]
    parameters.model_alias = {settings["alias"]}
    parameters.n_ctx = settings["context_size"]
    parameters.n_parallel = 1
    parameters.ctx_shift = False  # a full context ends the reply instead of dropping its beginning
    parameters.cpuparams.n_threads = settings["threads"]
    parameters.cpuparams_batch.n_threads = settings["threads"]
    parameters.cache_ram_mib = _PROMPT_CACHE_MIB
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [settings["key"]]
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.offline = True
    parameters.verbosity = _ERRORS
    if settings["kind"] != "chat":
        _make_vectors(parameters, settings, llama.llama_pooling_type)
    return parameters


def _make_vectors(parameters: Any, settings: dict[str, Any], pooling: Any) -> None:
    """Makes the server one of vectors or rankings. A text is computed as a whole: a batch holds all that fits."""
    parameters.embedding = True
    parameters.n_batch = parameters.n_ubatch = settings["context_size"]
    if settings["kind"] == "reranking":
        parameters.pooling_type = pooling.LLAMA_POOLING_TYPE_RANK
    elif settings["pools"]:
        parameters.pooling_type = pooling.LLAMA_POOLING_TYPE_MEAN


if __name__ == "__main__":
    main()
