"""Remote access as a researcher has it: requests go through a gate, answers come back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from diskret.errors import DiskretError, InputError, ProofError, VerificationError
from diskret.io.from_json import Form, anything, check_form, parse_json
from diskret.jobs.toml_text import key, toml
from diskret.remote.compare import DEVIATIONS, Compared

if TYPE_CHECKING:
    import pandas as pd

_FIGURES: Form = {
    "version": str,
    "figures": {"*": [{"figure": [str], "value": anything, "error": anything}]},
    "said": str,
}
_RESULTS: Form = {
    "results": {"*": [{"figure": [str], "deviation": str, "significance": str}]},
    "new": int,
    "left": int,
}
_STATE: Form = {"state": str}
_DESCRIBED: Form = {
    **dict.fromkeys(("purpose", "from", "until"), str),
    "left": int,
    "data": {
        "*": {
            "level": str,
            "records": int,
            "claims": [str],
            "columns": {"*": {"holds": str, "label": str, "codes": {"*": str}}},
        }
    },
}
_ERROR: Form = {"error": str, "refused": bool}
_SIGNIFICANCES = ("", "kept", "lost", "gained", "reversed", "none")


@dataclass(frozen=True, eq=False)
class Answer:
    """What a researcher gets.

    Parameters
    ----------
    asked
        What was asked, as it goes through the gate again.
    shown
        Result → its figures in the anonymised version.
    told
        Result → how they compare with the original; empty before the comparison.
    left
        How many more answers the project may have; -1 before the comparison.
    said
        What a script printed, on the anonymised version.
    """

    asked: Mapping[str, str | int]
    shown: Mapping[str, pd.DataFrame]
    told: Mapping[str, tuple[Compared, ...]]
    left: int = -1
    said: str = ""


class Session:
    """A project's access to a data set that nobody sees.

    Analyses run on the anonymised version, whose result comes at once. The same is then computed
    of the original behind the wall, and all that comes back is how each figure compares. The
    original's result leaves when it was checked.

    Parameters
    ----------
    project, data
        Names, as registered.
    gate
        The command that opens the gate, which says who asks: such as ``["ssh", "centre"]``, where
        the account runs ``diskret remote gate --ledger centre.db --who kim`` and nothing else. Or
        whatever else carries a request there and its answer back, both as text.
    wait
        Seconds to wait for an answer.

    Examples
    --------
    >>> session = Session("pay", "persons", gate=["ssh", "centre"])
    >>> print(session.query("model", kind="ols", formula="pay ~ age"))
    project = "pay"
    data = "persons"
    <BLANKLINE>
    [[results]]
    name = "model"
    kind = "ols"
    formula = "pay ~ age"
    """

    def __init__(
        self,
        project: str,
        data: str,
        gate: Sequence[str] | Callable[[str], str],
        *,
        wait: float = 600,
    ):
        self.project, self.data = project, data
        self._gate, self._wait = gate if callable(gate) else [*gate], wait

    def query(self, name: str, **asked: Any) -> str:
        """The text of a query for one result.

        Parameters
        ----------
        name
            What the result is called.
        asked
            The keys of ``[[results]]``, see [remote access](../remote.md).
        """
        lines = [f"project = {toml(self.project)}", f"data = {toml(self.data)}", "", "[[results]]"]
        lines += [f"{key(one)} = {toml(value)}" for one, value in {"name": name, **asked}.items()]
        return "\n".join(lines)

    def describe(self) -> dict[str, Any]:
        """The project's data sets, their columns and codes in words, and what is left.

        Raises
        ------
        InputError
            There is no such project, or the gate does not answer.
        """
        return self._asked({"do": "describe", "project": self.project}, _DESCRIBED)

    def run(self, query: str) -> Answer:
        """What the anonymised version shows, at once.

        Parameters
        ----------
        query
            Its text, as of `query` or from a file.

        Raises
        ------
        InputError
            The query is not admissible, or not allowed.
        """
        return self._run({"query": query})

    def run_script(
        self, code: str, *, seconds: int | None = None, written: Literal["python", "r"] = "python"
    ) -> Answer:
        """What a script shows on the anonymised version, and what it prints.

        It runs in a sandbox, knows the records as `data`, a pandas frame, and gives results with
        ``table(name, series)`` and ``model(name, fit)``; in R, where the office has it, `data` is
        a data frame, and the functions are ``give_table`` and ``give_model``.

        Parameters
        ----------
        code
            The script.
        seconds
            How long a run may take; None: the few seconds that the office gives all scripts.
        written
            In which language.

        Raises
        ------
        InputError
            It failed, or is not allowed.
        """
        asked: dict[str, str | int] = {"project": self.project, "data": self.data}
        if seconds is not None:
            asked["seconds"] = seconds
        return self._run({"script": code, "written": written, **asked})

    def _run(self, asked: Mapping[str, str | int]) -> Answer:
        import pandas as pd

        said = self._asked({"do": "run", **asked}, _FIGURES)
        shown = {
            name: pd.DataFrame(
                {"value": [one["value"] for one in own], "error": [one["error"] for one in own]},
                dtype="float64",
                index=pd.Index([" · ".join(one["figure"]) for one in own], name="figure"),
            ).dropna(axis=1, how="all")
            for name, own in said["figures"].items()
        }
        return Answer(asked, shown, {}, said=said.get("said", ""))

    def compare(self, answer: Answer) -> Answer:
        """The same with the comparison, which the project is charged for.

        Parameters
        ----------
        answer
            What `run` returned.

        Raises
        ------
        ProofError
            The project had as many answers as it may.
        """
        said = self._asked({"do": "compare", **answer.asked}, _RESULTS)
        told: dict[str, tuple[Compared, ...]] = {}
        for name, own in said["results"].items():
            for one in own:
                known = one["deviation"] in (*DEVIATIONS, "none")
                if not known or one["significance"] not in _SIGNIFICANCES:
                    raise VerificationError("the answer of the gate is none that is known")
            told[name] = tuple(
                Compared(tuple(one["figure"]), one["deviation"], one["significance"]) for one in own
            )
        return replace(answer, told=told, left=said["left"])

    def submit(self, answer: Answer, result: str, *, request: str = "") -> str:
        """Ask for the original's result: ``"accepted"``, or ``"waiting"`` for a person.

        Parameters
        ----------
        answer
            What `run` returned.
        result
            Name of the result.
        request
            What the checker should know.

        Raises
        ------
        ProofError
            The project has submitted as many results as it may.
        """
        asked = {"do": "submit", **answer.asked, "result": result, "request": request}
        return self._asked(asked, _STATE)["state"]

    def _asked(self, request: Mapping[str, str | int], form: Form) -> dict[str, Any]:
        said = parse_json(self._carried(json.dumps(request)), "the answer of the gate")
        if "error" in said:
            check_form(said, _ERROR, "the answer of the gate")
            kind: type[DiskretError] = ProofError if said["refused"] else InputError
            raise kind(said["error"])
        check_form(said, form, "the answer of the gate")
        return said

    def _carried(self, request: str) -> str:
        if callable(self._gate):
            return self._gate(request)
        try:
            done = subprocess.run(  # noqa: S603 - the gate is the user's own command
                self._gate,
                input=request,
                capture_output=True,
                text=True,
                timeout=self._wait,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"the gate does not answer: {error}") from error
        if done.returncode or not done.stdout.strip():
            raise InputError(f"the gate does not answer: {done.stderr.strip()[-500:]}")
        return done.stdout
