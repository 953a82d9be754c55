"""The report in a real browser: nothing is wrong, and every figure is to be seen."""

import re
import shutil
import subprocess

import matplotlib.image
import numpy as np
import pytest

from .pages import Reader

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=5000",
    "--hide-scrollbars",
)
_MEASURE = """<script>
document.body.dataset.sizes = [...document.querySelectorAll("figure > svg")].map(svg => {
  const box = svg.getBoundingClientRect(), drawn = svg.getBBox();
  return [box.width, box.height, drawn.width, drawn.height].map(Math.round).join("x");
}).join(" ");
document.body.dataset.wide = document.documentElement.scrollWidth;
</script></body>"""
"""Only for the test: the size of each figure on the screen and of what is drawn in it."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Calls the browser with arguments; its output and what it said."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is on the PATH; install chromium to run this test")

    def run(*arguments: str) -> subprocess.CompletedProcess:
        profile = tmp_path_factory.mktemp("profile")
        call = [program, *_FLAGS, f"--user-data-dir={profile}", *arguments]
        done = subprocess.run(call, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        return done

    return run


def console(said: str) -> list[str]:
    return [line for line in said.splitlines() if "CONSOLE" in line]


def test_the_browser_has_nothing_to_complain_of_and_shows_every_figure(browser, full, tmp_path):
    html = full.read_text(encoding="utf-8")
    measured = tmp_path / "measured.html"
    measured.write_text(html.replace("</body>", _MEASURE), encoding="utf-8")
    done = browser("--window-size=1200,1000", "--dump-dom", measured.as_uri())
    assert console(done.stderr) == []
    (sizes,) = re.findall(r'data-sizes="([^"]*)"', done.stdout)
    boxes = [[int(x) for x in size.split("x")] for size in sizes.split()]
    assert len(boxes) == Reader(html).tags.count("figure") == 6
    assert all(width > 400 and height > 200 and min(drawn) > 100 for width, height, *drawn in boxes)
    (wide,) = re.findall(r'data-wide="(\d+)"', done.stdout)
    assert int(wide) <= 1200, "nothing sticks out of the page"


def test_a_complaint_would_be_seen(browser, tmp_path):
    page = tmp_path / "broken.html"
    page.write_text("<!DOCTYPE html><title>x</title><body><script>nowhere()</script></body>")
    assert console(browser("--dump-dom", page.as_uri()).stderr)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_of_the_page_has_the_colours_of_the_models(browser, full, tmp_path, scheme):
    picture = tmp_path / "page.png"
    # Numbers of the browser for what a person prefers.
    prefers = f"--blink-settings=preferredColorScheme={({'dark': 0, 'light': 1})[scheme]}"
    browser("--window-size=1200,6400", prefers, f"--screenshot={picture}", full.as_uri())
    pixels = np.round(255 * matplotlib.image.imread(picture)[..., :3]).astype(int)
    assert pixels.shape == (6400, 1200, 3)
    paper, colours = {
        "light": ((255, 255, 255), ((201, 81, 12), (11, 111, 179), (10, 138, 102), (155, 63, 148))),
        "dark": ((26, 31, 37), ((242, 139, 75), (95, 179, 238), (64, 201, 160), (217, 139, 210))),
    }[scheme]
    assert (pixels == paper).all(-1).mean() > 0.4
    for colour in colours:
        assert (pixels == colour).all(-1).sum() > 1000, "of a card, a line and dots"
