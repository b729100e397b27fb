"""Where R is, and what its program needs to be told if no shell starts it.

The command ``R`` is a script of the shell, which needs pipes; the sandbox has none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache

from diskret.errors import InputError

#: What the script of the shell would set.
_NAMES = ("R_HOME", "R_ARCH", "R_SHARE_DIR", "R_INCLUDE_DIR", "R_DOC_DIR", "LD_LIBRARY_PATH")
_SAY = f"cat(Sys.getenv(c({', '.join(map(repr, _NAMES))})), sep = '\\n')"


@cache
def environment() -> Mapping[str, str]:
    """The environment that R's own program begins in, asked of R once.

    Raises
    ------
    InputError
        There is no R, or it does not begin.
    """
    program = shutil.which("Rscript")
    if program is None:
        raise InputError("there is no Rscript here: install R, or write the script in Python")
    asked = subprocess.run(  # noqa: S603 - R itself
        [program, "--vanilla", "-e", _SAY],
        env={"PATH": os.environ.get("PATH", os.defpath)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = asked.stdout.split("\n")
    if asked.returncode or len(said) < len(_NAMES) or not said[0]:
        raise InputError("Rscript does not begin: mend R, or write the script in Python")
    # it loads packages when it knows that there are no programs (inside.R)
    return {**dict(zip(_NAMES, said, strict=False)), "R_DEFAULT_PACKAGES": "NULL"}
