"""Programmes as methods of protection ask them, and what every use of HiGHS has to keep to."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from diskret.solver import Solver, Status

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "diskret"
#: Protection has one, the attack another.
ALLOWED = {"solver.py", "attack/solver.py"}
#: Who imports one of these may start HiGHS, in this process.
STARTERS = {"highspy", "diskret.solver", "diskret.attack.solver"}


def knapsack(*, by_row=True, whole=False):
    """Three things of weights 2, 3 and 4, worth 3, 4 and 5, of which 4 can be carried."""
    form = sparse.csr_array if by_row else sparse.csc_array
    solver = Solver(presolve="off", mip_max_nodes=None)
    matrix = form(np.array([[2.0, 3.0, 4.0]]))
    solver.load([-3, -4, -5], matrix, columns=(0, 1), rows=(-np.inf, 4), whole=whole)
    return solver


@pytest.mark.parametrize("by_row", [True, False])
def test_fractions_and_whole_numbers(by_row):
    solver = knapsack(by_row=by_row)
    assert solver.run() is Status.OPTIMAL
    assert solver.x.tolist() == pytest.approx([1, 2 / 3, 0])
    assert solver.row_duals.tolist() == pytest.approx([-4 / 3])
    assert solver.reduced_costs.tolist() == pytest.approx([-1 / 3, 0, 1 / 3])
    assert (solver.objective, solver.feasible) == (pytest.approx(-17 / 3), True)
    solver = knapsack(by_row=by_row, whole=True)
    assert solver.run(60) is Status.OPTIMAL
    assert (solver.x.tolist(), solver.objective, solver.bound) == ([0, 0, 1], -5, -5)
    solver = knapsack(by_row=by_row, whole=[False, True, True])
    solver.start(np.zeros(3))
    assert solver.run() is Status.OPTIMAL
    assert solver.x.tolist() == pytest.approx([0.5, 1, 0])


def test_further_questions():
    solver = knapsack()
    solver.run()
    solver.add_rows(np.array([1.25, 0.25]), sparse.csr_array(np.array([[1, 1, 0], [0, 0, 1]])))
    assert solver.run() is Status.OPTIMAL
    assert solver.x.tolist() == pytest.approx([1, 1 / 3, 0.25])
    other = Solver()
    other.load_from(solver)
    other.all_whole(True)
    assert other.run() is Status.IMPOSSIBLE
    solver.bound_columns(np.array([1, 2]), [0, 0], [0, 1])
    solver.forget()
    assert solver.run() in (Status.IMPOSSIBLE, Status.IMPOSSIBLE_OR_ENDLESS)
    assert solver.said == "Infeasible"
    solver = knapsack(whole=True)
    solver.price_columns(np.array([0]), 0)
    assert solver.run(0) is Status.OUT_OF_TIME
    assert solver.run() is Status.OPTIMAL  # a limit holds for one search
    assert solver.objective == -5
    solver.all_whole(False)
    assert solver.run() is Status.OPTIMAL
    assert solver.objective == pytest.approx(-5.25)


def test_what_has_no_end():
    solver = Solver()
    solver.load(-1, sparse.csr_array(np.ones((1, 2))), columns=(0, np.inf), rows=(1, np.inf))
    assert solver.run() in (Status.OPEN, Status.IMPOSSIBLE_OR_ENDLESS)


BESIDE = """
import highspy, numpy as np
from scipy import sparse
other = highspy.Highs()
other.setOptionValue("output_flag", False)
other.setOptionValue("threads", {threads})
other.run()
from diskret.attack.solver import solver_of
from diskret.solver import Solver
matrix = sparse.csr_array(np.ones((1, 2)))
for whole in (False, True):
    ours = Solver()
    ours.load(1, matrix, columns=(0, 1), rows=(1, 1), whole=whole)
    assert ours.run().name == "OPTIMAL", ours.said
    attack = solver_of(matrix, 1.0)
    if whole:
        attack.changeColsIntegrality(2, np.arange(2, dtype=np.int32), np.ones(2, dtype=np.uint8))
    attack.run()
    assert attack.getModelStatus().name == "kOptimal"
"""
ALONE = """
import numpy as np
from scipy import sparse
from {module} import {name}
made = {made}
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_works_beside_programmes_on_any_number_of_threads(threads):
    """What another library asked of HiGHS first holds for the whole process."""
    said = subprocess.run(
        [sys.executable, "-c", BESIDE.format(threads=threads)], capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize(
    ("module", "name", "made"),
    [
        ("diskret.solver", "Solver", "Solver()"),
        ("diskret.attack.solver", "solver_of", "solver_of(sparse.csr_array((1, 1)), 1.0).run()"),
    ],
)
def test_says_nothing(module, name, made):
    program = ALONE.format(module=module, name=name, made=made)
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_highs_is_started_in_two_places_and_no_number_of_threads_is_asked_for():
    uses, threads = set(), []
    for path in sorted([*PACKAGE.rglob("*.py"), *ROOT.glob("tests/**/*.py")]):
        text = path.read_text(encoding="utf-8")
        if "highspy" not in text and "threads" not in text:
            continue
        tree = ast.parse(text)
        imported = {*modules(tree)}
        if "highspy" in imported and path.is_relative_to(PACKAGE):
            uses.add(path.relative_to(PACKAGE).as_posix())
        if imported & STARTERS and path != Path(__file__):
            threads += [f"{path}, line {line}" for line in asks_for_threads(tree)]
    assert uses == ALLOWED
    assert threads == []


@pytest.mark.parametrize(
    "program",
    [
        "Solver(presolve='off', threads=1)",
        "self._solver.set(threads=1)",
        "solver_of(matrix, 1.0, **{'threads': 1})",
        "solver.setOptionValue('threads', 1)",
        "_LINEAR = {'threads': 1}\nsolver_of(matrix, 1.0, **_LINEAR)",
    ],
)
def test_a_number_of_threads_is_noticed(program):
    assert len(list(asks_for_threads(ast.parse(program)))) == 1


def modules(tree):
    """The modules that a program imports from anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module if node.module.startswith("diskret.") else node.module.split(".")[0]


def asks_for_threads(tree):
    """Lines where a program names the option."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "threads":
            yield node.value.lineno
        if isinstance(node, ast.Constant) and node.value == "threads":
            yield node.lineno
