"""A real Chromium, as Debian packages it, and pages that must stay silent in it."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

#: Set where the browser must be there, so that no test is skipped unseen.
REQUIRED = "IMWK_BROWSER_REQUIRED"

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")  # while it runs, its event loop is in the way of others
def browser() -> Iterator[Browser]:
    """Start Chromium, or skip where there is none and none is required."""
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get(REQUIRED):
            pytest.fail(f"{REQUIRED} is set, but there is no chromium. Install the package.")
        pytest.skip("there is no chromium on this machine: apt-get install -y chromium")
    with sync_playwright() as playwright:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
        started = playwright.chromium.launch(executable_path=path, args=arguments)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open reports from files; at the end nothing may have gone wrong or been fetched in them."""
    contexts, complaints, requests = [], [], []

    def opened(path: Path, width: int = 1600, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 1200},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type != "log" else None,
        )
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opened
    assert complaints == []
    assert len(requests) == len(contexts)
    assert all(url.startswith("file://") for url in requests)
    for context in contexts:
        context.close()
