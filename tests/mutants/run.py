"""Put faults into modules one by one, and name those that no test finds.

``python -m mutants.run rules/p_percent tests/rules`` runs each file of tests once to see which
lines its tests reach, and then, for every fault, those that reach its line, the quick ones first,
until one fails. This is done by a copy of the process that has run the file already, with the
code of the function put in place there: what the tests of a file share is there already, made
without the fault, and a fault costs what its tests cost. What stands outside functions is read
anew by a process that starts from nothing.

Faults that are none stand in ``equivalent.toml``, with the reason; they are not tried.
"""

# tests are run in the same way as pytest does it, by parts of it that have no types
# pyright: reportPrivateUsage=false

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import machinery
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from coverage import Coverage

from mutants.faults import Fault, faults, modules, path_of, sample

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
#: What tests a folder is judged by, if nothing is said.
TESTS = {
    "rules": [
        "tests/rules",
        "src/diskret/rules",
        "tests/attack/test_insiders.py",
        "tests/engines/test_marks.py",
    ],
    "publish": ["tests/publish", "src/diskret/publish"],
    "attack": ["tests/attack", "src/diskret/attack"],
}
#: Seconds of computing after which a fault counts as found: it made the tests run on and on.
PATIENCE = 20
#: Tests of a fault are begun until they have taken so many seconds, by what they took without it.
ENOUGH = 20
#: Of what stands outside functions so many seconds, because another process is started.
OUTSIDE = 8
MEMORY = 6 << 30
_OUTSIDE = "MUTANT"

FOUND, ALIVE, LATE, UNREACHED = "found", "alive", "late", "unreached"
#: A fault that could not be put in place.
ODD = "odd"


def equivalent() -> dict[str, str]:
    """Names of faults that are none, with the reason."""
    return {entry["fault"]: entry["why"] for entry in tomllib.loads(EQUIVALENT.read_text())["none"]}


@dataclass
class Tried:
    """A fault and how far it has come."""

    fault: Fault
    outcome: str = UNREACHED
    by: str = ""
    #: Tests that have been run with it, and those that reach it.
    run: int = 0
    reach: int = 0
    #: What these tests take without it.
    seconds: float = 0

    @property
    def open(self) -> bool:
        """Whether no test has found it."""
        return self.outcome in (ALIVE, UNREACHED)


class Watched:
    """Runs tests in this process, and says whether one failed."""

    def __init__(self) -> None:
        self.bad = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.bad = self.bad or report.failed

    def run(self, items: list[Any], last: Any = None, each: Any = None) -> str | None:
        """The first test that fails; what they share is kept for `last`, if there is one."""
        for item, after in zip(items, [*items[1:], last], strict=True):
            if each:
                each(item)
            if example := getattr(item, "dtest", None):  # it forgets its names when it has run
                names = item.__dict__.setdefault("names_at_first", dict(example.globs))
                example.globs = dict(names)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.bad:
                return item.nodeid
        return None


class Trial:
    """In place of running the collected tests once: run them for each fault."""

    def __init__(self, asked: argparse.Namespace, tell: Any):
        self._asked, self._tell = asked, tell
        self._watched = Watched()
        self.score: Counter[str] = Counter()
        self._trees: dict[str, Any] = {}
        self._tried: list[Tried] = []
        self._seconds: dict[str, float] = {}

    def pytest_configure(self, config: Any) -> None:
        config.pluginmanager.register(self._watched)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        gc.unfreeze()  # else functions would not be found
        session.config.pluginmanager.unregister(name="terminalreporter")
        self._session = session
        self._choose()
        files: dict[str, list[Any]] = {}
        for item in session.items:
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        for file, items in files.items():
            self._file(file, items)
        for one in self._tried:
            if one.fault.outside:
                self._outside(one)
            self.score[one.outcome] += 1
            if one.open or one.outcome == ODD:
                line = one.fault.line
                self._log(one)
                self._tell(
                    f"{one.outcome}: {one.fault.name}  ({line}; {one.run}/{one.reach} {one.by})"
                )
        return True

    def _choose(self) -> None:
        spared = equivalent()
        for name in self._asked.modules:
            self._trees[name], found = faults(name)
            found = [f for f in found if f.name not in spared and f.outside <= self._asked.outside]
            found = sample(found, self._asked.sample, self._asked.seed)
            if self._asked.only:
                found = [fault for fault in found if fault.name in self._asked.only]
            self._tried += [Tried(fault) for fault in found]
            self._tell(f"{name}: {len(found)} faults")

    def _log(self, one: Tried) -> None:
        with open(self._asked.log, "a", encoding="utf-8") as log:
            line = {"fault": one.fault.name, "outcome": one.outcome, "by": one.by}
            log.write(json.dumps(line, ensure_ascii=False) + "\n")

    # ── a file of tests ─────────────────────────────────────────────────────────────

    def _file(self, file: str, items: list[Any]) -> None:
        """Run the tests of a file, then for each fault those that reach it.

        All in a copy of this process, which prepares what these tests share, and in copies of it.
        """

        def run() -> Any:
            seconds, lines = self._reach(items)
            if self._watched.bad:
                return None
            by_name = {item.nodeid: item for item in items}
            usual = sum(seconds.values())
            again = _in_a_copy(self._session, lambda: self._watched.run(items), 20 + 5 * usual)
            if again is not None:
                return f"cannot be run twice: {again}"
            told: dict[int, Any] = {}
            for number, one in enumerate(self._tried):
                names = lines.get(str(path_of(one.fault.module)), {}).get(one.fault.line, [])
                if one.fault.outside or not names or not one.open:
                    continue
                told[number] = self._one(one, names, seconds, by_name)
            outside = sorted({n for of in lines.values() for names in of.values() for n in names})
            return [told, {name: seconds[name] for name in outside}]

        found = _in_a_copy(self._session, run, 7200)
        if not isinstance(found, list):
            self._tell(f"{file}: left out, {found or 'fails without any fault'}")
            return
        for number, (outcome, by, ran, reach, seconds) in found[0].items():
            one = self._tried[int(number)]
            one.outcome, one.by = outcome, by
            one.run, one.reach, one.seconds = ran, reach, seconds
        self._seconds |= found[1]
        counted = Counter(one.outcome for one in self._tried)
        self._tell(f"{file}: {dict(counted)}")

    def _reach(self, items: list[Any]) -> tuple[dict[str, float], dict[str, Any]]:
        """How long tests take, and which lines they reach: file, line → names of tests."""
        files = [str(path_of(name)) for name in self._asked.modules]
        cover = Coverage(data_file=None, include=files, config_file=False)
        started: dict[str, float] = {}

        def begin(item: Any) -> None:
            cover.switch_context(item.nodeid)
            started[item.nodeid] = time.process_time()

        cover.start()
        self._watched.run(items, items[0] if len(items) > 1 else None, begin)
        ends = [*list(started.values())[1:], time.process_time()]
        cover.stop()
        seconds = {name: end - started[name] for name, end in zip(started, ends, strict=True)}
        data = cover.get_data()
        lines = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
        for of in lines.values():
            for line, names in of.items():
                of[line] = [name for name in names if name]
        return seconds, lines

    def _one(
        self, one: Tried, names: list[str], seconds: dict[str, float], by_name: dict[str, Any]
    ) -> tuple[str, str, int, int, float]:
        """Run tests of a file with a fault: how it ended, by which test, and after how many."""
        chosen: list[str] = []
        spent = one.seconds
        for name in sorted(names, key=lambda name: (seconds[name], name)):
            if chosen and spent + seconds[name] > self._asked.enough:
                break
            chosen.append(name)
            spent += seconds[name]

        def run() -> Any:
            path = path_of(one.fault.module)
            _put_in_place(one.fault.put(self._trees[one.fault.module], path), str(path))
            return self._watched.run([by_name[name] for name in chosen])

        by = _in_a_copy(self._session, run, PATIENCE + 3 * spent)
        outcome = LATE if by == LATE else FOUND if by in by_name else ALIVE if by is None else ODD
        ended = Tried(one.fault, outcome, by or "")
        if outcome not in (ALIVE, UNREACHED):
            self._log(ended)
        return (outcome, by or "", one.run + len(chosen), one.reach + len(names), spent)

    # ── outside functions ───────────────────────────────────────────────────────────

    def _outside(self, one: Tried) -> None:
        names: list[str] = []
        spent = 0.0
        for name in sorted(self._seconds, key=lambda name: (self._seconds[name], name)):
            if names and spent + self._seconds[name] > OUTSIDE:
                break
            names.append(name)
            spent += self._seconds[name]
        one.run, one.reach = len(names), len(self._seconds)
        if names:
            one.outcome, one.by = self._anew(one.fault, names)
            self._log(one)

    def _anew(self, fault: Fault, tests: list[str]) -> tuple[str, str]:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-p", "mutants.run", "-m", "", "--no-header", "--tb=no", *tests]
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, _OUTSIDE: json.dumps([fault.module, fault.name])}
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
            done = subprocess.run(
                [*command, f"--basetemp={folder}/tests"],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=900,
                check=False,
            )
        return (FOUND, "outside functions") if done.returncode else (ALIVE, "")


def _in_a_copy(session: Any, run: Any, patience: float) -> Any:
    """What something returns that is done by a copy of this process, or `LATE`."""
    folder = Path(tempfile.mkdtemp(prefix="mutant"))
    said = folder / "said"
    pid = os.fork()
    if not pid:
        try:
            with open(os.devnull, "w", encoding="utf-8") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
            whole = int(patience) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            factory = session.config._tmp_path_factory
            if factory._basetemp is None:  # else what was prepared lies there
                (folder / "tests").mkdir()
                factory._basetemp = folder / "tests"
            said.write_text(json.dumps(run()))
        except BaseException as error:  # whatever it is, this process must not go on
            said.write_text(json.dumps(f"{type(error).__name__}: {error}"))
        os._exit(0)
    ends = time.monotonic() + 10 * patience
    while not os.waitpid(pid, os.WNOHANG)[0]:
        if time.monotonic() > ends:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            break
        time.sleep(0.005)
    found = json.loads(said.read_text()) if said.exists() and said.stat().st_size else LATE
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _put_in_place(code: CodeType, path: str) -> None:
    """Give functions that are there the code that they have in another reading of their file."""
    new: dict[tuple[str, int], CodeType] = {}
    ahead = [code]
    while ahead:
        inside = [c for c in ahead.pop().co_consts if isinstance(c, CodeType)]
        new.update({(c.co_qualname, c.co_firstlineno): c for c in inside})
        ahead += inside
    changed = 0
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename == path:
            code = new[one.__code__.co_qualname, one.__code__.co_firstlineno]
            if code != one.__code__:
                one.__code__ = code
                changed += 1
    if not changed:
        raise ValueError("no function is changed")


def _read_with_fault(module: str, name: str) -> None:
    """Import a module with a fault, before pytest can: it reads files in a way of its own."""
    path = str(path_of(module))
    usual = machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if self.path != path:
            return usual(self, fullname)
        tree, found = faults(module)
        return next(f for f in found if f.name == name).put(tree, Path(path))

    machinery.SourceFileLoader.get_code = get_code
    importlib.import_module(f"diskret.{module.replace('/', '.')}")


if _OUTSIDE in os.environ:
    _read_with_fault(*json.loads(os.environ[_OUTSIDE]))


def main(words: Iterable[str] | None = None) -> int:
    """Try all faults that are asked for; 1 if one of them is not found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    named = "below src/diskret, as rules/p_percent, or a folder of them; several with commas"
    parser.add_argument("module", help=named)
    parser.add_argument("tests", nargs="*", help="left out: those of the folder")
    parser.add_argument("--sample", type=int, help="at most so many faults a module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--enough", type=float, default=ENOUGH, help="seconds of tests a fault")
    parser.add_argument("--log", default="mutants.jsonl", help="one line for each fault")
    parser.add_argument("--outside", action="store_true", help="what stands outside functions, too")
    parser.add_argument("--again", action="store_true", help="only what was alive in the log")
    asked = parser.parse_args([*words] if words is not None else None)
    asked.modules = [name for word in asked.module.split(",") for name in modules(word)]
    asked.only = set[str]()
    told = os.dup(1)  # pytest keeps the usual one for itself
    log = Path(asked.log)
    if asked.again:
        lines = map(json.loads, log.read_text("utf-8").splitlines())
        last = {line["fault"]: line["outcome"] for line in lines}
        asked.only = {name for name, outcome in last.items() if outcome in (ALIVE, UNREACHED)}
    trial = Trial(asked, lambda text: os.write(told, f"{text}\n".encode()))
    tests = asked.tests or TESTS[asked.module.split("/")[0]]
    words = ["-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-W", "ignore"]
    pytest.main([*words, *tests], plugins=[trial])
    os.write(told, f"{dict(trial.score)}\n".encode())
    return int(bool(trial.score[ALIVE] + trial.score[UNREACHED]))


if __name__ == "__main__":
    sys.exit(main())
