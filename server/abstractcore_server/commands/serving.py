"""`abstractcore serve`: the models of this machine and of vendors, for clients of many APIs, over HTTP."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import abstractcore
from abstractcore.schema import install_hint
from abstractcore_cli.log_lines import logged, with_credentials
from abstractcore_cli.toolkit import note, reported

if TYPE_CHECKING:
    from abstractcore.scrubbing import Secrets

    from ..application import Application
    from ..configuration.settings import Settings
    from ..workers import WorkerStart

_PACKAGES = ("httptools", "sqlalchemy", "uvicorn", "websockets")
_log = logging.getLogger("abstractcore.server")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of `abstractcore serve`. None is the value of the settings."""

    config: str | None = None
    host: str | None = None
    port: int | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    workers: int | None = None
    check: bool = False
    check_mcp: bool = False
    quiet: bool = False


def serve(options: ServeOptions) -> None:
    """Serves clients until SIGINT or SIGTERM; with `check`, only reads the settings, with
    `check_mcp` it also tries the MCP servers.
    """
    with reported():
        check_installed()
        from ..access.stored_keys import stored_keys
        from ..application import Application
        from ..configuration.reading import unknown_variables
        from ..process import check_address, listening_socket, run, url_of
        from ..workers import WorkerProcesses

        settings = _settings(options)
        for name in unknown_variables(os.environ, settings):
            note(f"the variable {name} is ignored: there is no such setting")
        application = Application(settings, access=stored_keys(settings))
        application.check()
        is_open = application.state.access.is_open
        if options.check or options.check_mcp:
            check_address(settings.server, is_open=is_open)
            if options.check_mcp:
                application.state.mcp.try_all()
            for line in application.addresses():
                note(line)
            note("the configuration is valid")
            return
        with listening_socket(settings.server, is_open=is_open) as listening:
            if not options.quiet:
                who = "every program on this machine" if is_open else "clients with a key"
                note(f"listening at {url_of(listening, settings.server)} for {who}; Ctrl-C ends it")
            with logged(_secrets(settings), quiet=options.quiet):
                if settings.server.workers == 1:
                    run(application, listening, lambda: _reload(application, options))
                else:
                    work = partial(_work, quiet=options.quiet)
                    WorkerProcesses(settings, listening, work, lambda: _settings(options)).run()


def _work(start: WorkerStart, *, quiet: bool) -> None:
    """Serves clients in one of several processes."""
    from ..access.stored_keys import stored_keys
    from ..application import Application
    from ..process import Control, run

    settings = start.settings
    with reported(), logged(_secrets(settings), quiet=quiet):
        access = stored_keys(settings, start.shared.process, start.killed)
        application = Application(settings, access=access, shared=start.shared)
        control = Control(start.control, lambda changed: _change(application, lambda: changed))
        run(application, start.listening, control=control)


def _secrets(settings: Settings) -> Secrets:
    from abstractcore.scrubbing import Secrets, credentials_of

    return Secrets((*credentials_of(with_credentials(os.environ)), *settings.keys, *settings.admin_keys))


def _settings(options: ServeOptions) -> Settings:
    from ..configuration.reading import read_settings

    given: dict[str, Any] = {
        "host": options.host,
        "port": options.port,
        "hosts": options.hosts or None,
        "origins": options.origins or None,
        "workers": options.workers,
    }
    return read_settings(
        options.config, os.environ, {name: value for name, value in given.items() if value is not None}
    )


def _reload(application: Application, options: ServeOptions) -> None:
    _change(application, lambda: _settings(options))


def _change(application: Application, read: Callable[[], Settings]) -> None:
    """Reads the configuration again; one that is not valid is logged, and changes nothing."""
    try:
        application.reload(read())
    except abstractcore.AbstractCoreError as error:
        _log.warning("the configuration was not reloaded: %s", error)
    else:
        _log.warning("the configuration was reloaded")


def check_installed(command: str = "serve") -> None:
    """Raises `MissingExtraError` if a package that a server needs is not installed."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise abstractcore.MissingExtraError(
            f"`abstractcore {command}` requires {', '.join(missing)}: not installed.",
            hint=install_hint(*missing, extra="server"),
        )
