"""A folder that installs diskret on a machine without network, and says what is in it.

``python distribution/bundle.py FOLDER`` (or ``make bundle``) builds the wheel, downloads those it
needs, and writes beside them: requirements with the hash of each wheel, an SBOM in CycloneDX, the
licences of all packages with their texts, and how it is installed.
"""

from __future__ import annotations

import argparse
import email
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import Any

from dependencies import licence_said, refused_licence
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
#: Files of licences in a wheel.
_TEXT = re.compile(r"\.dist-info/(licenses/.+|(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*)$", re.I)
_README = """\
diskret {version}, for a machine without network
================================================

    python3 -m venv diskret
    diskret/bin/pip install --no-index --find-links wheels --require-hashes -r requirements.txt
    diskret/bin/diskret demo

On Windows it is diskret\\Scripts in place of diskret/bin. The wheels are for {python}.

requirements.txt   every wheel with its SHA-256 hash: pip installs these and no others
sbom.cdx.json      what is in it (CycloneDX 1.6)
licences.md        under which licences; licences/ holds their texts
SHA256SUMS         every file of this folder; sha256sum -c SHA256SUMS
"""


@dataclass(frozen=True)
class Wheel:
    """A wheel and what it says of itself.

    Parameters
    ----------
    path
        The file.
    meta
        Its METADATA.
    digest
        SHA-256, hexadecimal.
    texts
        Name of a file of licences → its content.
    """

    path: Path
    meta: Message
    digest: str
    texts: dict[str, bytes]

    @property
    def name(self) -> str:
        """In normal form."""
        return canonicalize_name(self.meta["Name"])

    @property
    def version(self) -> str:
        """As the wheel says it."""
        return self.meta["Version"]

    @property
    def purl(self) -> str:
        """The package URL."""
        return f"pkg:pypi/{self.name}@{self.version}"

    @property
    def licence(self) -> str:
        """SPDX expression."""
        return licence_said(self.meta)

    @property
    def needs(self) -> set[str]:
        """Names of what it depends on, on any system, and of extras."""
        return {
            canonicalize_name(Requirement(line).name)
            for line in self.meta.get_all("Requires-Dist") or ()
        }


def read_wheel(path: Path) -> Wheel:
    """A wheel from its file."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(archive.namelist())
        [meta] = [name for name in names if name.endswith(".dist-info/METADATA")]
        texts = {
            name.partition(".dist-info/")[2].removeprefix("licenses/").replace("/", "-"): (
                archive.read(name)
            )
            for name in names
            if _TEXT.search(name) and not name.endswith("/")
        }
        content = archive.read(meta).decode("utf-8")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Wheel(path, email.message_from_string(content), digest, texts)


def epoch() -> int:
    """The time that files bear: ``SOURCE_DATE_EPOCH``, else that of the last commit."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    if not said:
        asked = ("git", "-C", str(ROOT), "log", "-1", "--format=%ct")
        said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    return int(said)


def build(folder: Path, time: int) -> None:
    """The wheel and the sdist, the same bytes wherever and whenever they are built."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder.resolve())]
    own = os.environ | {"SOURCE_DATE_EPOCH": str(time)}
    subprocess.run(command, cwd=ROOT, env=own, check=True, stdout=subprocess.DEVNULL)


def requirements(wheels: Iterable[Wheel]) -> str:
    """Requirements that pip takes with ``--require-hashes``."""
    lines = (f"{one.name}=={one.version} --hash=sha256:{one.digest}\n" for one in wheels)
    return "".join(lines)


def sbom(wheels: Sequence[Wheel], time: int) -> dict[str, Any]:
    """What is in the bundle, in CycloneDX 1.6; the same wheels and time, the same bytes."""
    [own] = [one for one in wheels if one.name == "diskret"]
    inside = {one.name: one for one in wheels}
    others = [one for one in wheels if one is not own]
    said = "".join(f"{one.purl} {one.digest}\n" for one in wheels)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, said)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(time, UTC).isoformat(),
            "component": _component(own, "application"),
        },
        "components": [_component(one, "library") for one in others],
        "dependencies": [
            {
                "ref": one.purl,
                "dependsOn": [inside[name].purl for name in sorted(one.needs & inside.keys())],
            }
            for one in wheels
        ],
    }


def _component(one: Wheel, kind: str) -> dict[str, Any]:
    return {
        "type": kind,
        "bom-ref": one.purl,
        "name": one.name,
        "version": one.version,
        "purl": one.purl,
        "hashes": [{"alg": "SHA-256", "content": one.digest}],
        "licenses": [{"expression": one.licence}],
    }


def licences(wheels: Sequence[Wheel]) -> str:
    """The list of licences."""
    lines = ["| Package | Version | Licence |", "|---|---|---|"]
    lines += [f"| {one.name} | {one.version} | {one.licence} |" for one in wheels]
    return "\n".join(lines) + "\n"


def describe(folder: Path, time: int, python: str) -> list[Wheel]:
    """Write what says what is in a folder of wheels; refused where a licence is not allowed."""
    wheels = sorted(map(read_wheel, (folder / "wheels").glob("*.whl")), key=lambda one: one.name)
    problems = [said for one in wheels if (said := refused_licence(one.name, one.licence))]
    if problems:
        raise SystemExit("\n".join(problems))
    [own] = [one for one in wheels if one.name == "diskret"]
    texts = {
        "requirements.txt": requirements(wheels),
        "sbom.cdx.json": json.dumps(sbom(wheels, time), indent=1) + "\n",
        "licences.md": licences(wheels),
        "README.txt": _README.format(version=own.version, python=python),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8", newline="\n")
    for one in wheels:
        for name, content in one.texts.items():
            target = folder / "licences" / one.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(sums), "utf-8", newline="\n")
    return wheels


def main() -> None:
    """Make a bundle."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extras", default="", help="as excel,stat")
    parser.add_argument("--platform", help="of another system, as win_amd64 or macosx_14_0_arm64")
    parser.add_argument("--python", default=f"{sys.version_info[0]}.{sys.version_info[1]}")
    args = parser.parse_args()
    folder: Path = args.folder.resolve()
    if folder.exists() and any(folder.iterdir()) and not (folder / "SHA256SUMS").exists():
        raise SystemExit(f"{folder} holds other files; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "wheels").mkdir(parents=True)
    time = epoch()
    build(folder / "wheels", time)
    for path in (folder / "wheels").glob("*.tar.gz"):
        path.unlink()
    [own] = (folder / "wheels").glob("*.whl")
    asked = f"{own}[{args.extras}]" if args.extras else str(own)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", "--python-version", args.python]
    command += ["--platform", args.platform] if args.platform else []
    subprocess.run([*command, "--dest", str(own.parent), asked], check=True)
    wheels = describe(folder, time, f"Python {args.python}, {args.platform or sys.platform}")
    size = sum(one.path.stat().st_size for one in wheels) / 1e6
    print(f"{folder}: {len(wheels)} wheels, {size:,.0f} MB")


if __name__ == "__main__":
    main()
