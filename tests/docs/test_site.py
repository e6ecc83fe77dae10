"""The site is built without a network, and its pages request nothing from other machines."""

import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from documented import FENCE, ROOT

FETCHED = {"src", "srcset", "data", "poster"}  # what a browser requests by itself; links are followed by people
NAMED = {"canonical", "next", "prev"}  # links that only name the address of a page
REFERENCE = {"bagwise": "bagwise"}  # module: its page
MEASURED = [*ROOT.glob("experiments/*/*.md"), *ROOT.glob("benchmarks/results/*.md")]
NUMBER = re.compile(r"\b[01]\.\d{3}\b")


class Requests(HTMLParser):
    """Addresses that a page makes a browser request."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes).get("rel") in NAMED
        fetched = FETCHED | ({"href"} if tag in {"link", "image", "use"} and not named else set())
        self.found += [value for name, value in attributes if name in fetched and value]


def read(path):
    return path.read_text(encoding="utf-8")


def check_requests(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    asked = {url for page in pages for url in Requests(read(page)).found}
    styles = {url for sheet in site.rglob("*.css") for url in re.findall(r"url\(['\"]?([^)'\"]+)", read(sheet))}
    assert asked
    assert not [url for url in asked | styles if re.match(r"(https?:)?//", url)]
    assert not [page for page in pages if re.search(r"@import|url\(['\"]?(https?:)?//", read(page))]


def check_measurements(site):
    """Every committed table is there with every number it has."""
    assert len(MEASURED) > 10
    for path in MEASURED:
        built = read((site / path.relative_to(ROOT)).with_suffix(".html"))
        assert all(number in built for number in NUMBER.findall(read(path))), path


def check_reference(site):
    """Every public name has its entry, with its parameters, and examples as code."""
    assert "<code>pooling</code>" in read(site / "api" / "bagwise.html")
    assert not [page for page in (site / "api").glob("*.html") if "<p>&gt;&gt;&gt;" in read(page)]
    for module, page in REFERENCE.items():
        built = read(site / "api" / f"{page}.html") + read(site / "api" / "bagwise.html")
        for name in importlib.import_module(module).__all__:
            assert re.search(rf'id="bagwise\.(\w+\.)*{name}"', built), f"{module}.{name} has no entry"


def test_site_builds_and_requests_nothing_from_elsewhere(tmp_path):
    nowhere = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "NO_MKDOCS_2_WARNING": "1"}
    # not --quiet: it hides warnings from strict mode too, and broken links would pass
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"]
    built = subprocess.run(
        command, cwd=ROOT, env=os.environ | nowhere, capture_output=True, text=True, timeout=800, check=False
    )
    assert built.returncode == 0, built.stderr
    check_requests(tmp_path / "site")
    check_measurements(tmp_path / "site")
    check_reference(tmp_path / "site")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_pages_link_to_measured_numbers_instead_of_copying_them(page):
    assert not NUMBER.findall(FENCE.sub("", read(page))), "link to the committed measurement instead"


def test_navigation_has_every_measurement():
    navigation = read(ROOT / "mkdocs.yml")
    names = [path.relative_to(ROOT).as_posix() for path in MEASURED]
    assert not [name for name in names if f": {name}\n" not in navigation]
