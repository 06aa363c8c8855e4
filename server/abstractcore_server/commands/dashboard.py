"""`abstractcore dashboard`: the page of traces, for a browser on this machine."""

from __future__ import annotations

from abstractcore_cli.log_lines import logged
from abstractcore_cli.toolkit import note, reported, write

from .serving import check_installed


def serve_dashboard(store: str | None, port: int, *, quiet: bool) -> None:
    """Serves the dashboard at a loopback address until SIGINT or SIGTERM. Raises `typer.Exit` for a place without
    traces.
    """
    with reported():
        check_installed("dashboard")
        from abstractcore.scrubbing import Secrets
        from abstractcore.traces import TraceStore

        from ..application import Application
        from ..configuration.settings import ServerSettings, Settings
        from ..context import APIRoute
        from ..dashboard.access import SESSION_PATH, OneTimeAccess
        from ..dialects import OPENAI_CHAT
        from ..process import listening_socket, run, url_of
        from ..routes import DASHBOARD_ONLY

        existing = TraceStore.existing(store)
        try:
            existing.calls(limit=1)
        finally:
            existing.close()
        access = OneTimeAccess()
        session = APIRoute(SESSION_PATH, {"POST": access.open_session}, OPENAI_CHAT, is_admin=True)
        settings = Settings(ServerSettings(port=port))
        application = Application(
            settings, access=access, admins=access, routes=(session, *DASHBOARD_ONLY), traces=store
        )
        with listening_socket(settings.server, is_open=False) as listening:
            write(f"{url_of(listening, settings.server)}/dashboard#token={access.token}\n")
            if not quiet:
                note("open this address, which is valid once; Ctrl-C ends the dashboard")
            with logged(Secrets((access.token,)), quiet=quiet):
                run(application, listening)
