"""Takes the pictures of the web page in docs/assets, from a running server in a real browser.

python scripts/page_screenshots.py [folder]
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Literal
from urllib.error import URLError

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect, sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "assets"
PORT = 8793
URL = f"http://127.0.0.1:{PORT}/"
MOST_BYTES = 250_000
DESK, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)


def save(folder: Path, name: str, shot: bytes) -> None:
    """Save a picture with 256 colours, which are enough for a flat interface."""
    image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    path = folder / f"page-{name}.png"
    image.save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.name}: {size / 1e3:.0f} KB")
    if size > MOST_BYTES:
        raise SystemExit(f"{path} has {size} bytes; at most {MOST_BYTES} are allowed.")


def new_page(
    browser: Browser, viewport: ViewportSize, scheme: Literal["light", "dark"] = "light", scale: float = 1
) -> Page:
    context = browser.new_context(
        viewport=viewport,
        color_scheme=scheme,
        device_scale_factor=scale,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(URL)
    return page


def settle(page: Page) -> None:
    expect(page.locator("#work")).to_have_attribute("data-settled", "true", timeout=60_000)


def example(page: Page) -> Page:
    page.locator("#example").click()
    settle(page)
    return page


def summary_of(page: Page, words: int = 100) -> Page:
    """Make a summary of this many words, and rest the pointer where it marks nothing."""
    page.locator("#budget-range").fill(str(words))
    settle(page)
    page.locator("#main").focus()
    page.mouse.move(5, 5)
    return page


def sentence(page: Page, start: str) -> Locator:
    return page.locator(".s", has_text=start).first


def shoot(browser: Browser, folder: Path) -> None:
    page = new_page(browser, DESK)
    save(folder, "start", page.screenshot())
    save(folder, "light", summary_of(example(page)).screenshot())

    page = summary_of(example(new_page(browser, DESK, "dark")))
    sentence(page, "The work was never done").click()
    expect(page.locator(".verdict")).to_be_visible()  # the reason arrives a moment later
    save(folder, "dark", page.screenshot())

    page = summary_of(example(new_page(browser, PHONE, scale=2)))
    save(folder, "phone", page.screenshot())

    page = summary_of(example(new_page(browser, DESK, scale=2)), 200)
    panel = page.locator("section", has=page.locator("#map"))
    page.locator("#map .point.in").first.focus()
    save(folder, "map", panel.screenshot())

    page = new_page(browser, ViewportSize(width=1100, height=900))
    page.locator("#files").set_input_files(
        [
            {"name": "monday.txt", "mimeType": "text/plain", "buffer": b"Rain fell for a week. The river rose." * 40},
            {"name": "tuesday.doc", "mimeType": "application/msword", "buffer": bytes(range(128, 256)) * 90},
        ]
    )
    page.locator("#submit").click()
    settle(page)
    page.locator("#change").click()
    expect(page.locator(".draft-problem")).to_be_visible()
    save(folder, "error", page.screenshot())


def main(folder: Path = FOLDER) -> None:
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("Chromium is not installed: apt-get install chromium.")
    code = f"from dpplearn.cli import main; main(['serve', '--port', '{PORT}'])"
    server = subprocess.Popen([sys.executable, "-c", code])
    try:
        while True:
            try:
                urllib.request.urlopen(f"{URL}api/v1/health").close()
                break
            except URLError:
                if server.poll() is not None:
                    raise SystemExit("The server did not start.") from None
                time.sleep(0.2)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            shoot(browser, folder)
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
