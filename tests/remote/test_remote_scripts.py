"""Scripts: shown on the anonymised version, compared by blocks, let go by a person only."""

import builtins
import contextlib
import io
import json
import math
import re
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest
import statsmodels.formula.api as smf
from remote_access import CONFIG, KEYS, QUERY, office, persons
from remote_scripts import caged_or_skip
from typer.testing import CliRunner

from diskret.cli.main import app
from diskret.errors import InputError, ProofError
from diskret.outputs import Desk, Profile
from diskret.outputs.unread import unread
from diskret.remote import program_of_r, scripts
from diskret.remote.gate import answered
from diskret.remote.sandbox import Limits, Ran, Sandbox
from diskret.remote.scripts import Script, ask_script, compare_script, submit_script

pytestmark = pytest.mark.xdist_group("sandbox")
CODE = """
import statsmodels.formula.api as smf
print("version of", len(data))
table("pay", data.groupby("job").pay.mean())
table("persons", data.groupby("job").size(), adds_up=True)
model("age", smf.ols("pay ~ age", data).fit())
"""
SCRIPT = Script("pay", "persons", CODE)


class Uncaged:
    """What the sandbox does, in this process: quick, and for scripts of these tests only."""

    def __init__(self, limits, modules=()):
        self.limits, self.modules = limits, modules

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def run(self, script, records, seconds=None, *, listen=False):
        return uncaged(script, records, listen)


def uncaged(script, records, listen):
    results = {}

    def add(name, figures, adds_up=False):
        results[name] = {"figures": figures, "adds_up": adds_up}

    def table(name, values, adds_up=False):
        add(name, [[[str(key)], float(one), None] for key, one in values.items()], adds_up)

    def model(name, fit):
        pairs = zip(fit.params.items(), fit.bse, strict=True)
        add(name, [[[key], float(one), float(error)] for (key, one), error in pairs])

    data = pa.ipc.open_stream(io.BytesIO(records)).read_all().to_pandas()
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(script, {"data": data, "table": table, "model": model})
    except Exception as error:
        return Ran(None, f"{error}" if listen else "")
    return Ran(json.dumps({"results": results}).encode(), said.getvalue() if listen else "")


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.setattr(scripts, "Sandbox", Uncaged)
    monkeypatch.setattr(scripts, "check", lambda: None)
    monkeypatch.setattr(scripts.time, "sleep", lambda _: None)
    return office(tmp_path, CONFIG.replace("script_blocks = 10", "script_blocks = 40"))


def test_a_script_is_shown_compared_and_waits_for_a_person(opened, tmp_path):
    shown = ask_script(opened, SCRIPT, who="kim")
    assert shown.said == "version of 4000\n"
    assert [*shown.figures] == ["pay", "persons", "age"]
    told = compare_script(opened, SCRIPT, who="kim")
    assert told.new == 3 + 3 + 4
    assert {one.deviation for one in told.results["persons"]} <= {"close", "smaller", "larger"}
    again = compare_script(opened, SCRIPT, who="kim")
    assert again.results == told.results and again.new == 0

    assert submit_script(opened, SCRIPT, "age", who="kim", request="for a paper") == "waiting"
    desk = Desk(tmp_path / "centre.db", KEYS)
    [item] = desk.items("pay/persons")
    assert (item.state, item.submitted.verdict) == ("waiting", "review")
    [content] = desk.result("pay/persons", "age").files.values()
    left = pd.read_csv(io.BytesIO(content), index_col="figure")
    assert left.value["age"] == pytest.approx(20, abs=1)
    assert all(len(str(one).replace(".", "").strip("0")) <= 5 for one in left.value)


def test_a_script_sees_no_column_that_its_version_has_not(opened):
    with pytest.raises(InputError, match="failed on the anonymised version: .*person"):
        ask_script(opened, Script("pay", "persons", "table('t', data.person)"), who="kim")
    peeking = "t = data.columns.tolist()\ntable('t', data.pay.head(2))\nassert 'person' not in t"
    assert submit_script(opened, Script("pay", "persons", peeking), "t", who="kim") == "waiting"
    assert opened.history("pay")[-1].happened == "submitted"


def test_what_a_script_calls_its_figures_tells_nothing_of_the_original(opened, tmp_path):
    """Names are taken from the anonymised version; those that spell a value are left out."""
    spelling = (
        "table('t', data.groupby('job').pay.sum().rename(lambda job: job + str(data.pay[0])))"
    )
    script = Script("pay", "persons", spelling)
    told = compare_script(opened, script, who="kim")
    assert len(told.results["t"]) == 3
    assert {one.figure for one in told.results["t"]} == {
        *ask_script(opened, script, who="kim").figures["t"].value
    }
    submit_script(opened, script, "t", who="kim")
    content = Desk(tmp_path / "centre.db", KEYS).result("pay/persons", "t").files["t.csv"]
    assert len(content.splitlines()) == 1


def test_a_script_that_fails_on_the_original_looks_as_if_it_waited(opened, tmp_path):
    """At the desk, too: by the time of the answer and by a second result of one name it shows."""
    secret = persons().pay.max()
    failing = f"assert data.pay.max() != {secret}, data.pay.max()\ntable('t', data.pay.head(3))"
    script = Script("pay", "persons", failing)
    assert ask_script(opened, script, who="kim").figures
    assert submit_script(opened, script, "t", who="kim") == "waiting"
    noted = opened.history("pay")[-1]
    assert (noted.happened, noted.what) == ("refused", "failed: t")
    desk = Desk(tmp_path / "centre.db", KEYS)
    assert desk.result("pay/persons", "t").files == {"t.csv": b"figure,value\n"}
    desk.decide("pay/persons", "t", "refuse", who="Lee", why="it failed")
    before = len(opened.history("pay"))
    for again in (script, Script("pay", "persons", "table('t', data.pay.head(3))")):
        with pytest.raises(InputError, match="name='t' is taken"):
            submit_script(opened, again, "t", who="kim")
    assert len(opened.history("pay")) == before  # nothing is charged, nothing computed
    assert compare_script(opened, script, who="kim").results  # of one block, and no error


def test_scripts_are_charged_and_end(opened):
    many = "import pandas as pd\ntable('t', pd.Series(range(1, 90)))"
    with pytest.raises(ProofError, match="89 answers are asked for"):
        compare_script(opened, Script("pay", "persons", many), who="kim")
    with pytest.raises(InputError, match="'eve' is no member"):
        ask_script(opened, SCRIPT, who="eve")
    with pytest.raises(InputError, match="'persons' may take 60 s at most, not 61 s"):
        ask_script(opened, Script("pay", "persons", CODE, seconds=61), who="kim")
    with pytest.raises(InputError, match="the script has no result 'else'"):
        submit_script(opened, SCRIPT, "else", who="kim")


def test_no_profile_lets_pass_what_is_not_understood():
    lax = Profile(verdicts={"unknown": "pass", "records": "pass"})
    assert unread(pd.DataFrame({"value": [1]}), profile=lax).verdict == "review"


def test_a_script_goes_through_the_gate_and_the_command(opened, tmp_path, monkeypatch):
    request = {"do": "run", "script": CODE, "project": "pay", "data": "persons", "seconds": 5}
    assert json.loads(answered(opened, "kim", json.dumps(request)))["said"] == "version of 4000\n"
    request["do"] = "compare"
    assert json.loads(answered(opened, "kim", json.dumps(request)))["new"] == 10
    request |= {"do": "submit", "result": "pay"}
    assert json.loads(answered(opened, "kim", json.dumps(request))) == {"state": "waiting"}
    request["do"] = "show"
    assert "do= is" in json.loads(answered(opened, "kim", json.dumps(request)))["error"]

    monkeypatch.setattr("diskret.cli.remote._office", lambda _: opened)
    (tmp_path / "script.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "query.toml").write_text(QUERY, encoding="utf-8")
    script = [str(tmp_path / "script.py"), "--project", "pay", "--data", "persons"]
    who = ["--ledger", "x", "--who", "kim", "--language", "de"]
    done = CliRunner().invoke(app, ["remote", "run", *script, *who])
    assert done.exit_code == 0, done.output
    assert "version of 4000" in done.output and "0 neue Antworten" in done.output
    done = CliRunner().invoke(app, ["remote", "submit", *script[:1], "age", *script[1:], *who])
    assert "age: wartet auf die Prüfung" in done.output


# ── in the sandbox itself ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("busy", [(0.1, 0.1, 0.1), (3.9, 0.2, 4.4), (4.9, 4.9, 0.0)])
def test_blocks_begin_and_end_at_fixed_times(monkeypatch, busy):
    """By a clock of the test: how long a block is busy moves nothing that is seen outside."""
    now, began = [100.0], []
    left = iter(busy)

    def ran(*_, **__):
        began.append(now[0])
        now[0] += next(left)
        return Ran(None)

    def slept(seconds):
        now[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=slept)
    monkeypatch.setattr(scripts, "time", clock)
    slot = 4 * (1 + scripts.AFTER) + scripts.MOMENT
    blocks = [pd.DataFrame({"pay": [1.0]})] * 3
    assert scripts._of_blocks(SimpleNamespace(run=ran), SCRIPT, blocks, 4.0) == [None] * 3
    assert began == pytest.approx([100, 100 + slot, 100 + 2 * slot])
    assert now[0] == pytest.approx(100 + 3 * slot)


def test_how_long_a_block_may_take_follows_from_the_version_alone(opened, monkeypatch):
    """The original is not opened when that is found out."""
    found = []
    timed = scripts._time_of

    def noted(sandbox, script, part, whole):
        found.append(len(part))
        return timed(sandbox, script, part, whole)

    monkeypatch.setattr(scripts, "_time_of", noted)
    compare_script(opened, SCRIPT, who="kim")
    assert found == [100]  # of 4,000 records in 40 blocks
    failing = SimpleNamespace(run=lambda *_, **__: Ran(None))
    each = timed(failing, SCRIPT, pd.DataFrame({"pay": [1.0]}), 0.2)
    assert each == pytest.approx(0.2 * scripts.ROOM + scripts.MOMENT)


def test_a_script_that_shows_something_else_each_time_has_one_answer(opened, monkeypatch):
    """Else the line between two classes could be moved for nothing, and a value be bisected."""
    code = (
        "import pandas as pd\n"
        "shift = moved() if len(data) == 4000 else 1.0\n"
        "table('pay', pd.Series({'all': data.pay.mean() * shift}))"
    )
    monkeypatch.setattr(builtins, "moved", iter([1.0, 0.01, 100.0, -1.0]).__next__, raising=False)
    script = Script("pay", "persons", code)
    told = [compare_script(opened, script, who="kim") for _ in range(4)]
    assert [one.new for one in told] == [1, 0, 0, 0]
    assert len({one.results["pay"] for one in told}) == 1
    [kept] = [one for one in opened.history("pay") if one.happened == "answered"]
    assert len(kept.question) == 1


def test_of_two_answers_at_once_the_first_holds(opened):
    query = SCRIPT.query
    assert opened.allowance.keep(query, "t", "kim", {"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert opened.allowance.keep(query, "t", "kim", {"b": 0, "c": -1}) == {"b": 2, "c": -1}
    assert opened.allowance.answers(["a", "b", "c", "d"]) == {"a": 1, "b": 2, "c": -1}


@pytest.mark.long
def test_a_run_takes_its_time_whatever_the_records_are():
    """A script that sleeps where a value is large: without fixed times, its duration tells."""
    caged_or_skip()
    code = "import time\nif data.pay.max() > 5: time.sleep(0.8)\ntable('t', data.pay)"
    script = Script("pay", "persons", code)
    durations, alone = [], []
    with Sandbox(Limits(seconds=4)) as box:
        for value in (9.0, 2.0):
            frame = pd.DataFrame({"pay": [1.0, value]})
            began = time.monotonic()
            assert script.run(box, frame).result is not None
            alone.append(time.monotonic() - began)
            began = time.monotonic()
            [found] = scripts._of_blocks(box, script, [frame], 1.5)
            durations.append(time.monotonic() - began)
            assert found is not None
    assert alone[0] - alone[1] > 0.5
    slot = 1.5 * (1 + scripts.AFTER) + scripts.MOMENT
    assert durations == pytest.approx([slot, slot], abs=0.2)


@pytest.mark.long
def test_a_script_is_compared_in_the_sandbox(tmp_path):
    caged_or_skip()
    opened = office(tmp_path)
    script = Script("pay", "persons", "table('pay', data.groupby('job').pay.mean())", seconds=3)
    assert ask_script(opened, script, who="kim").figures["pay"].value["a",] > 0
    told = compare_script(opened, script, who="kim")
    # a vote of ten counts as four of forty, and an answer costs sixteen
    assert (told.new, told.left) == (3, 60 - 3 * 16)
    assert {one.deviation for one in told.results["pay"]} <= {"close", "smaller", "larger", "none"}
    assert submit_script(opened, script, "pay", who="kim") == "waiting"


R = """
print(class(data$job))
give_table("pay", tapply(data$pay, data$job, mean))
give_table("persons", table(data$job, data$age > 40), adds_up = TRUE)
give_model("age", lm(pay ~ age, data))
give_table("odd", c("a \\"quoted\\" \\\\ name" = 1 / 3, "no" = NA))
"""


@pytest.mark.long
def test_a_script_in_r_is_compared_like_one_in_python(tmp_path):
    caged_or_skip()
    if shutil.which("Rscript") is None:
        pytest.skip("optional: R is not there")
    opened = office(tmp_path)
    script = Script("pay", "persons", R, seconds=20, written="r")
    shown = ask_script(opened, script, who="kim")
    assert "character" in shown.said
    frame = pd.read_csv(tmp_path / "released" / "public" / "persons.csv")
    figures = {name: dict(one.value) for name, one in shown.figures.items()}
    assert figures["pay"] == pytest.approx(
        {(job,): value for job, value in frame.groupby("job").pay.mean().items()}, rel=1e-14
    )
    counted = frame.groupby(["job", frame.age > 40]).size()
    assert figures["persons"] == {
        (job, str(old).upper()): number for (job, old), number in counted.items()
    }
    assert shown.figures["persons"].adds_up and not shown.figures["pay"].adds_up
    fit = smf.ols("pay ~ age", frame).fit()
    assert figures["age"]["age",] == pytest.approx(fit.params["age"])
    assert shown.figures["age"].error["age",] == pytest.approx(fit.bse["age"])
    assert figures["odd"]['a "quoted" \\ name',] == 1 / 3 and math.isnan(figures["odd"]["no",])
    with pytest.raises(InputError, match="anonymised version: .*object 'nothing' not found"):
        ask_script(opened, Script("pay", "persons", "nothing + 1", 20, "r"), who="kim")
    script = Script("pay", "persons", "give_table('n', c(all = nrow(data)))", 20, "r")
    told = compare_script(opened, script, who="kim")
    assert told.new == 1
    assert submit_script(opened, script, "n", who="kim") == "waiting"


@pytest.mark.long
def test_r_is_as_shut_in_as_python(tmp_path):
    caged_or_skip()
    if shutil.which("Rscript") is None:
        pytest.skip("optional: R is not there")
    (tmp_path / "original.csv").write_text("4711", encoding="utf-8")
    code = f"""
tried <- function(way) tryCatch(as.numeric(way()), error = function(e) 0, warning = function(w) 0)
give_table("found", c(
  original = tried(function() length(readLines("{tmp_path}/original.csv"))),
  network = tried(function() {{ url("http://127.0.0.1:1", open = "r"); 1 }}),
  processes = tried(function() length(list.files("/proc"))),
  environment = tried(function() nchar(Sys.getenv("DISKRET_KEYS"))),
  written = tried(function() file.create("/usr/left")),
  left = tried(function() {{ known <- file.exists("left"); file.create("left"); known }})
))
"""
    script = Script("pay", "persons", code, 20, "r")
    with script.sandbox(
        SimpleNamespace(original="x.csv", memory=4000, processes=8, seconds=20)
    ) as box:
        for _ in range(2):
            ran = script.run(box, pd.DataFrame({"pay": [1.0]}), listen=True)
            assert ran.result is not None, ran.said
            found = scripts.read_results(ran.result, 1)["found"].value
            assert {*found.values()} == {0.0}, found


def test_without_r_a_script_in_r_is_refused(opened, monkeypatch):
    monkeypatch.setattr("diskret.remote.program_of_r.shutil.which", lambda _: None)
    program_of_r.environment.cache_clear()
    with pytest.raises(InputError, match="there is no Rscript here: install R"):
        ask_script(opened, Script("pay", "persons", "1", written="r"), who="kim")
    with pytest.raises(InputError, match="in python or r, not in 'cobol'"):
        ask_script(opened, Script("pay", "persons", "1", written="cobol"), who="kim")


def test_a_day_has_so_many_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(scripts, "Sandbox", Uncaged)
    monkeypatch.setattr(scripts, "check", lambda: None)
    opened = office(tmp_path, CONFIG + "runs = 2\n")
    for _ in range(2):
        ask_script(opened, SCRIPT, who="kim")
    with pytest.raises(InputError, match="has asked 2 times today"):
        ask_script(opened, SCRIPT, who="kim")
    with pytest.raises(InputError, match="has asked 2 times today"):
        opened.ask(QUERY, who="kim")
    monkeypatch.setattr("diskret.unrepeatable.now", lambda: "2999-01-01T00:00:00+00:00")
    ask_script(opened, SCRIPT, who="kim")


@pytest.mark.long
@pytest.mark.parametrize("ending", ["py", "R"])
def test_the_scripts_of_the_guide_run(ending, tmp_path, monkeypatch):
    """From the page into the sandbox, as the commands there do it."""
    caged_or_skip()
    if ending == "R" and shutil.which("Rscript") is None:
        pytest.skip("optional: R is not there")
    page = (Path(__file__).parents[2] / "docs" / "remote.md").read_text(encoding="utf-8")
    code = re.search(rf'title="script.{ending}"\n(.*?)```', page, re.DOTALL)
    opened = office(tmp_path, CONFIG.replace("\nblocks = 40", "\nblocks = 10"))
    monkeypatch.setattr("diskret.cli.remote._office", lambda _: opened)
    path = tmp_path / f"script.{ending}"
    path.write_text(code[1], encoding="utf-8")
    given = ["--project", "pay", "--data", "persons", "--seconds", "20"]
    who = ["--ledger", "x", "--who", "kim"]
    done = CliRunner().invoke(app, ["remote", "run", str(path), *given, *who])
    assert done.exit_code == 0, done.output
    assert "slope of the young" in done.output and "the original" in done.output
    done = CliRunner().invoke(app, ["remote", "submit", str(path), "median pay", *given, *who])
    assert "median pay: waits for the checker" in done.output
