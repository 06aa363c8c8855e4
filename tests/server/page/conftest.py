"""A browser, and the page of the module's server in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.server.page.browsing import CHROMIUM, MILLISECONDS, Opened, opened_at
from tests.server.serving import Served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser whose microphone is Chromium's own device for tests, which beeps."""
    expect.set_options(timeout=MILLISECONDS)
    arguments = ["--no-sandbox", "--use-fake-device-for-media-stream"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield launched
        launched.close()


@pytest.fixture
def opened(served: Served, browser: Browser) -> Iterator[Opened]:
    """The page with the scripted model; at the end, it has written nothing to the console and asked only its server."""
    opened = opened_at(served.url, browser)
    opened.page.get_by_label("Model", exact=True).fill("scripted")
    yield opened
    opened.page.context.close()
    assert opened.messages == []
    assert [url for url in opened.asked if not url.startswith((f"{served.url}/", "data:", "blob:"))] == []
