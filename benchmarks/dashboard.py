"""The dashboard with 100,000 calls: the time of each request for its data, and of the page in Chromium."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

import httpx2
from rounds import Row, Setup

from abstractcore.traces import TraceStore
from abstractcore_server import Settings
from tests.server.dashboard.sample_traces import LOOP, long_loop, many_calls, one_loop, sample_sound
from tests.server.serving import serving

_CALLS: Final = 100_000
_DAYS: Final = 60.0
_KEY: Final = "the-key-of-an-admin"
_PICTURE: Final = Path(__file__).parents[1] / "tests/media/files/small.png"
_LONG: Final = "c" * 32
_REQUESTS: Final = {
    "sums of 7 days, by model": "summary?since=7d&by=model",
    "sums of all, by model": "summary?since=all&by=model",
    "sums of all, by tag": "summary?since=all&by=tag:team",
    "the newest calls": "calls?since=all",
    "the newest calls, from the 50,000th": "calls?since=all&skip=50000",
    "the dearest calls": "calls?since=all&order=dearest",
    "the slowest calls": "calls?since=all&order=slowest",
    "failing calls": "calls?since=all&failed=1",
    "calls of a model": "calls?since=all&model=gpt-5.4-mini",
    "calls of a tag": "calls?since=all&tag=team=office",
    "calls with a word that a third has": "calls?since=all&text=parcel",
    "calls with a word that one has": "calls?since=all&text=receipt",
    "a trace of 4 records": f"traces/{LOOP}",
    "a trace of 1,001 records": f"traces/{_LONG}",
}
_PAINTED: Final = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
_NOW: Final = "performance.now() / 1000"


def dashboard(setup: Setup) -> list[Row]:
    """The time of requests and of the page, of which the first sight is to be there in a second."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "traces.db"
        store, now = TraceStore(place), time.time()
        many_calls(store, _CALLS // 10 if setup.quick else _CALLS, until=now - 120, days=_DAYS)
        one_loop(store, _PICTURE.read_bytes(), sample_sound(), at=now - 60)
        long_loop(store, 500, at=now - 30, id=_LONG)
        store.close()
        with serving(Settings(admin_keys=(_KEY,)), traces=place) as served:
            return [*_requests(served.url, setup.rounds), *_page(served.url, setup.rounds)]


def _requests(url: str, rounds: int) -> list[Row]:
    rows: list[Row] = []
    headers = {"authorization": f"Bearer {_KEY}"}
    with httpx2.Client(base_url=f"{url}/dashboard/api/", headers=headers, trust_env=False, timeout=60) as client:
        for name, path in _REQUESTS.items():
            times: list[float] = []
            for _ in range(rounds):
                start = time.perf_counter()
                client.get(path).raise_for_status()
                times.append(time.perf_counter() - start)
            rows.append(Row(name, min(times)))
    return rows


def _page(url: str, rounds: int) -> list[Row]:
    """The page in a new browser window each time, whose cache is empty."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return []
    from playwright.sync_api import sync_playwright

    seen: list[tuple[float, float]] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(rounds):
            context = browser.new_context()
            context.add_init_script(f"sessionStorage.setItem('abstractcore-dashboard-key', '{_KEY}')")
            page = context.new_page()
            page.goto(f"{url}/dashboard")
            for part in ("#totals div", ".chart canvas", "#rows tbody tr"):
                page.locator(part).first.wait_for()
            seen.append((page.evaluate(_PAINTED), page.evaluate(_NOW)))
            context.close()
        browser.close()
    painted, shown = (min(times) for times in zip(*seen, strict=True))
    return [Row("first paint", painted, goal=1.0), Row("until sums, charts and calls are shown", shown)]
