"""The documentation can be searched as files, without a server, and asks nobody for anything."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).parents[2]
PAGES = {"index.md": "# Home\n\nA word: certificate.", "de/start.md": "# Anfang\n\nZertifikate."}


def settings():
    """Those of the documentation that do not depend on its pages."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text, _, _ = text.partition("\nnav:")
    before, _, rest = text.partition("  - mkdocstrings:")
    return before + rest[rest.index("\nmarkdown_extensions:") :]


def test_words_are_found_in_both_languages(browser, tmp_path):
    for name, text in PAGES.items():
        page = tmp_path / "docs" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "javascripts", tmp_path / "docs" / "javascripts")
    (tmp_path / "mkdocs.yml").write_text(settings(), encoding="utf-8")
    made = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    asked = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    for word, there in (("certificate", "index.html"), ("Zertifikat", "de/start.html")):
        field = page.locator("input[name=query]")
        field.click()
        field.fill("")
        field.press_sequentially(word, delay=20)
        page.locator(f".md-search-result__item a[href*='{there}']").first.wait_for(timeout=60_000)
    page.close()
    assert {one.partition(":")[0] for one in asked} == {"file"}
