"""The workbench in figures: start, a million records, 100,000 cells in a browser, rules as typed.

    python benchmarks/workbench.py

Needs Chromium and Playwright. Prints milliseconds, the middle one of several tries.
"""

import json
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
from playwright.sync_api import sync_playwright

RECORDS, CODES, SIZES = 1_000_000, 1_999, 49
COMMAND = [sys.executable, "-c", "from diskret.cli import run; run()", "workbench"]
#: Scrolls through the whole table, and tells how long each picture took.
SCROLL = """async () => {
  const grid = document.querySelector(".grid");
  const took = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < 240; i += 1) {
    grid.scrollTop = (grid.scrollHeight * i) / 240;
    grid.scrollLeft = i % 40 < 20 ? 900 : 0;
    const now = await new Promise(requestAnimationFrame);
    took.push(now - last);
    last = now;
  }
  return took;
}"""
#: From the click on the step to the first picture with cells.
PAINT = """async () => {
  const begun = performance.now();
  document.querySelector("[data-go=table]").click();
  while (!document.querySelector(".grid .cell")) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}"""
#: From a keystroke to the new number.
TYPED = """async (value) => {
  const place = document.querySelector("#unsafe");
  const before = place.textContent;
  const field = document.querySelector("fieldset input[type=number]");
  const begun = performance.now();
  field.value = value;
  field.dispatchEvent(new Event("input"));
  while (place.textContent === before) await new Promise((done) => setTimeout(done, 2));
  return performance.now() - begun;
}"""


def make(folder: Path) -> None:
    """A million records, enough codes for 100,000 cells."""
    draw = np.random.default_rng(1)
    ids = np.char.mod("F%07d", np.arange(RECORDS))
    codes = np.char.mod("c%04d", draw.integers(0, CODES, RECORDS))
    sizes = np.char.mod("s%02d", draw.integers(0, SIZES, RECORDS))
    values = (draw.pareto(1.1, RECORDS) * 1000).astype(np.int64)
    table = {"firm_id": ids, "code": codes, "size": sizes, "turnover": values}
    pcsv.write_csv(pa.table(table), folder / "firms.csv")


def main() -> None:
    """Measure and print."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        make(folder)
        begun = time.perf_counter()
        process = subprocess.Popen(
            [*COMMAND, str(folder), "--no-browser"], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        url = re.findall(r"http\S+", process.stdout.readline())[0]
        found["start"] = 1000 * (time.perf_counter() - begun)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 850}, bypass_csp=True)
        page.goto(url)
        page.wait_for_selector("[data-step=file][data-ready]")
        begun = time.perf_counter()
        page.get_by_role("button", name="firms.csv").click()
        page.wait_for_selector("[data-step=columns][data-ready]", timeout=120_000)
        found["a million records of CSV opened"] = 1000 * (time.perf_counter() - begun)
        begun = time.perf_counter()
        page.click("[data-go=rules]")
        page.wait_for_selector("[data-step=rules][data-ready]", timeout=120_000)
        found["tabulated and judged for the first time"] = 1000 * (time.perf_counter() - begun)
        assert "of 100,000 cells" in page.inner_text("#share")
        took = [page.evaluate(TYPED, value) for value in (7, 5, 9, 4, 8, 6, 10)]
        found["unsafe cells after a keystroke, median"] = statistics.median(took)
        found["unsafe cells after a keystroke, longest"] = max(took)
        paints = []
        for _ in range(3):
            paints.append(page.evaluate(PAINT))
            page.click("[data-go=export]")
            page.wait_for_selector("[data-step=export][data-ready]")
        found["first paint of 100,000 cells, first"] = paints[0]
        found["first paint of 100,000 cells, median"] = statistics.median(paints)
        page.evaluate(PAINT)
        frames = page.evaluate(SCROLL)
        found["pictures while scrolling, median"] = statistics.median(frames)
        found["pictures while scrolling, longest"] = max(frames)
        found["pictures beyond 50 ms, of 240"] = sum(frame > 50 for frame in frames)
        browser.close()
        process.send_signal(signal.SIGINT)
        process.wait(20)
    print(json.dumps({name: round(took) for name, took in found.items()}, indent=1))


if __name__ == "__main__":
    main()
