"""What only the office can do: seal the files of a release as they are now."""

import json
from pathlib import Path

from diskret.keys import SecretKeys
from diskret.publish.digests import CONTENT, sealed_content


def reseal(folder, keys=None):
    """Seal a release anew, so that what is checked beside the seal can be seen."""
    folder = Path(folder)
    if (folder / "internal").is_dir():
        content = sealed_content(folder / "public", folder / "internal", SecretKeys.load(keys))
        (folder / "internal" / CONTENT).write_text(json.dumps(content), encoding="utf-8")
