"""A real Chromium, as Debian packages it. Its pages must not report errors."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

#: If this variable is set, tests fail instead of being skipped without a browser.
REQUIRED = "IMWK_BROWSER_REQUIRED"

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")  # its event loop would disturb other modules
def browser() -> Iterator[Browser]:
    """Start Chromium. Skip the tests if it is neither installed nor required."""
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get(REQUIRED):
            pytest.fail(f"{REQUIRED} is set, but there is no chromium. Install the package.")
        pytest.skip("chromium is not installed on this machine: apt-get install -y chromium")
    with sync_playwright() as playwright:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
        started = playwright.chromium.launch(executable_path=path, args=arguments)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open reports from files, and check at the end that they had no errors and fetched nothing."""
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
