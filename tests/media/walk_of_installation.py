"""Sends files of every kind to scripted models, three ways each, and prints what happened as JSON.

A program of `test_installations.py`: it runs in an environment with AbstractCore and some of its extras.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from abstractcore import AbstractCoreError, Services, create_llm

ROUTES = {"native": "native", "fallback": "auto", "refused": "refuse"}


class Logged(logging.Handler):
    """Collects what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()} {'with a traceback' if record.exc_info else ''}")


def outcome(file: Path, media_type: str, route: str, services: Services) -> dict[str, object]:
    """What became of a file: its route and what the model got of it, or the error."""
    accepts = ["text", media_type] if route == "native" else ["text"]
    policy = ROUTES[route]
    model = "whisper-tiny.en"
    with create_llm("scripted", replies=["read"], accepts=accepts, services=services, transcription_model=model) as llm:
        try:
            response = llm.generate("What is it?", media=[file], media_policy=policy)
        except AbstractCoreError as error:
            return {"error": type(error).__name__, "message": str(error)}
        except Exception as error:
            return {"error": f"bare {type(error).__name__}", "message": str(error)}
        (decision,) = response.media
        parts = [part for part in llm.calls[0].messages[-1].parts if part.type != "text"]
        unchanged = [part.blob.read() == file.read_bytes() for part in parts]
        return {"route": decision.route, "type": decision.type, "unchanged": unchanged == [True]}


def main() -> None:
    """Reads pairs of a path and a media type from the standard input."""
    logged = Logged()
    logging.getLogger("abstractcore").addHandler(logged)
    found: list[dict[str, object]] = []
    services = Services(environment={})
    for path, media_type in json.load(sys.stdin):
        for route in ROUTES:
            logged.lines.clear()
            result = outcome(Path(path), media_type, route, services)
            found.append({"file": Path(path).name, "asked": route, "logged": [*logged.lines], **result})
    services.close()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
