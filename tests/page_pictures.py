"""Pictures of the documentation, drawn by the code that stands beside them.

``python tests/page_pictures.py`` runs the pages and keeps what they draw in docs/pictures.
"""

import os
import shutil
import tempfile
from pathlib import Path

from test_docs import blocks

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "pictures.md", DOCS / "de" / "bilder.md"]


def main() -> None:
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            names: dict[str, object] = {}
            for block in blocks(page):
                if block.language == "python":
                    exec(compile(block.text, str(page), "exec"), names)
            for drawn in Path(folder).glob("*.png"):
                shutil.copy(drawn, DOCS / "pictures")
            os.chdir(DOCS)


if __name__ == "__main__":
    main()
