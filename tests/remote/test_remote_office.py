"""From the register to a folder that verifies; who may not is refused, and it is noted."""

import json
import sqlite3
import time

import pandas as pd
import pytest
import statsmodels.formula.api as smf
from remote_access import CONFIG, KEYS, QUERY, files, office, persons

import diskret as dk
import diskret.unrepeatable
from diskret.errors import InputError, JobError, ProofError, VerificationError
from diskret.outputs import Desk
from diskret.remote import Office, report
from diskret.remote.figures import computed
from diskret.remote.gate import answered
from diskret.remote.office import wait_for


@pytest.fixture
def opened(tmp_path):
    return office(tmp_path)


def told(comparison):
    return {(name, *one.figure): one for name, own in comparison.results.items() for one in own}


def test_from_the_register_to_a_folder_that_verifies(opened, tmp_path):
    shown = opened.ask(QUERY, who="kim")
    assert shown.version == "persons"
    version = pd.read_csv(tmp_path / "released" / "public" / "persons.csv")
    mean = version.groupby("job").pay.mean()
    assert dict(shown.figures["by job"].value) == {
        (job, "pay mean"): pytest.approx(mean[job]) for job in "abc"
    }
    fit = smf.ols("pay ~ age + C(job)", version).fit()
    assert dict(shown.figures["model"].value) == {
        (name,): pytest.approx(value) for name, value in fit.params.items()
    }
    comparison = opened.compare(shown, who="kim")
    found = told(comparison)
    # the slope of age is 20 in the original and 10 in the version; the pay of clerks as it was
    assert found["model", "age"].deviation == "larger"
    assert found["model", "age"].significance == "kept"
    assert found["ages", "20 – 35"].deviation == "close"
    assert (comparison.new, comparison.left) == (14, 46)

    for name in ("by job", "model", "ages"):
        assert opened.submit(QUERY, name, who="kim") == "accepted"
    folder = opened.release("pay", "persons", tmp_path / "leaves", who="kim")
    assert len(dk.verify(folder, keys=KEYS).tables) == 3
    left = pd.read_csv(folder / "public" / "by job.csv", index_col="job")["pay mean"]
    pd.testing.assert_series_equal(left, persons().groupby("job").pay.mean(), check_names=False)


def test_the_same_question_has_the_same_answer_and_costs_nothing(opened):
    first = opened.compare(QUERY, who="kim")
    again = opened.compare(QUERY.replace('"by job"', '"otherwise called"'), who="kim")
    assert [*again.results.values()] == [*first.results.values()]
    assert (again.new, again.left) == (0, first.left)


def test_answers_come_to_an_end_before_anything_is_computed(opened, monkeypatch):
    ask = "[20, 35, 50, 65]"
    for end in (30, 40, 50, 55):
        left = opened.compare(QUERY.replace(ask, f"[20, {end}, 65]"), who="kim").left
    assert left == 60 - 11 - 4 * 2
    wide = QUERY.replace(ask, str([*range(20, 66)]))
    monkeypatch.setattr("diskret.remote.told.original_frame", lambda *_: pytest.fail("was opened"))
    with pytest.raises(ProofError, match="45 answers are asked for, and fewer are left"):
        opened.compare(wide, who="kim")
    assert opened.history("pay")[-1].happened == "refused"
    assert opened.spent("pay") == pytest.approx((60 - left) / 60 * 2.4**2)


def test_all_projects_on_a_data_set_are_counted(tmp_path):
    other = CONFIG[CONFIG.index("[[projects]]") :].replace('"pay"', '"other"')
    opened = office(tmp_path, CONFIG.replace("pause = 0", "pause = 0\ncertainty = 0.68") + other)
    assert opened.compare(QUERY, who="kim").new == 14
    with pytest.raises(ProofError, match="answers are asked for"):
        opened.compare(QUERY.replace('"pay"\n', '"other"\n', 1), who="kim")


def test_who_may_not_is_refused_and_it_is_noted(opened, monkeypatch):
    with pytest.raises(InputError, match="'eve' is no member"):
        opened.ask(QUERY, who="eve")
    with pytest.raises(InputError, match="no access to 'firms'"):
        opened.ask(QUERY.replace('"persons"', '"firms"'), who="kim")
    with pytest.raises(InputError, match="no project 'spy' is registered"):
        opened.ask(QUERY.replace('"pay"', '"spy"', 1), who="kim")
    monkeypatch.setattr(diskret.unrepeatable, "now", lambda: "2025-12-31T10:00:00+00:00")
    with pytest.raises(InputError, match="has access from 2026-01-01 to 9999-12-31"):
        opened.ask(QUERY, who="kim")
    assert [one.who for one in opened.history() if one.happened == "refused"] == [
        "eve",
        "kim",
        "kim",
        "kim",
    ]
    with pytest.raises(InputError, match="'eve' is no member"):
        opened.release("pay", "persons", "anywhere", who="eve")


def test_levels_decide_which_version_is_used(tmp_path):
    formal = CONFIG.replace('level = "factual"\nfrom', 'level = "absolute"\nfrom')
    with pytest.raises(InputError, match="no version for the accreditation 'absolute'"):
        office(tmp_path, formal)
    (tmp_path / "config.toml").write_text(
        CONFIG.replace('level = "factual"\nfrom', 'level = "formal"\nfrom'), encoding="utf-8"
    )
    opened = Office(tmp_path / "centre.db", KEYS)
    opened.register(tmp_path / "config.toml", who="Lee")
    assert opened.ask(QUERY, who="kim").version == "persons"


def test_what_does_not_pass_waits_and_nobody_outside_learns_why(opened, tmp_path):
    few = QUERY.replace("[20, 35, 50, 65]", "[20, 20.5, 64, 65]")
    rare = persons()
    assert 10 < (rare.age == 64).sum()
    narrow = few.replace('column = "age"', 'column = "age"\nwhere = { pay = { to = 1500 } }')
    assert opened.submit(narrow, "ages", who="kim") == "waiting"
    desk = Desk(tmp_path / "centre.db", KEYS)
    [item] = desk.items("pay/persons")
    assert item.submitted.verdict == "fail"
    assert "Fewer than 10 units" in desk.judged("pay/persons", "ages").summary()
    with pytest.raises(InputError, match="nothing of the project"):
        opened.release("pay", "persons", tmp_path / "leaves", who="kim")


def test_what_cannot_be_computed_of_the_original_waits_as_well(opened, tmp_path, monkeypatch):
    def fails(*_):
        raise InputError("the regressors of record 7 depend on each other")

    monkeypatch.setattr("diskret.remote.office.checking", fails)
    assert opened.submit(QUERY, "model", who="kim") == "waiting"
    assert "record 7" in opened.history("pay")[-1].what
    desk = Desk(tmp_path / "centre.db", KEYS)
    assert b"record 7" not in desk.result("pay/persons", "model").files["model.csv"]
    desk.decide("pay/persons", "model", "refuse", who="Lee", why="nothing came")
    monkeypatch.undo()
    with pytest.raises(InputError, match="name='model' is taken"):
        opened.submit(QUERY, "model", who="kim")


def test_results_can_be_submitted_so_often_and_no_oftener(opened):
    for name in ("one", "two", "three", "four"):
        opened.submit(QUERY.replace('"by job"', f'"{name}"'), name, who="kim")
    with pytest.raises(ProofError, match="has submitted 4 results"):
        opened.submit(QUERY, "ages", who="kim")
    with pytest.raises(InputError, match="the query has no result 'else'"):
        opened.submit(QUERY, "else", who="kim")


def test_files_that_were_exchanged_are_refused(opened, tmp_path):
    public = tmp_path / "released" / "public" / "persons.csv"
    public.write_text(public.read_text("utf-8").replace("a,", "b,", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"persons.csv is not the file that was registered"):
        opened.ask(QUERY, who="kim")


def test_an_original_that_was_exchanged_is_refused(opened, tmp_path):
    persons(seed=2).to_csv(tmp_path / "persons.csv", index=False)
    shown = opened.ask(QUERY, who="kim")
    with pytest.raises(InputError, match=r"persons.csv is not the file that was registered"):
        opened.compare(shown, who="kim")


def test_a_version_needs_its_certificate(tmp_path):
    files(tmp_path)
    public = tmp_path / "released" / "public" / "persons.csv"
    public.write_text(public.read_text("utf-8").replace("a,", "b,", 1), encoding="utf-8")
    dk.Ledger.create(tmp_path / "centre.db", keys=KEYS)
    with pytest.raises(JobError, match=r"config.toml, line 7: 'folder'.*"):
        Office(tmp_path / "centre.db", KEYS).register(tmp_path / "config.toml", who="Lee")
    assert Office(tmp_path / "centre.db", KEYS).history() == []


def test_a_version_that_another_key_sealed_is_refused(tmp_path):
    files(tmp_path)
    others = dk.SecretKeys(bytes(range(1, 33)))
    dk.Ledger.create(tmp_path / "centre.db", keys=others)
    with pytest.raises(JobError, match="line 7: 'folder': .*does not bear the office's seal"):
        Office(tmp_path / "centre.db", others).register(tmp_path / "config.toml", who="Lee")


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        ('unit = "person"', 'unit = "pay"', "line 6: 'unit' must not be one of 'numbers'"),
        ('unit = "person"', 'unit = "who"', "line 6: 'unit' must not be 'who'"),
        ("blocks = 40", "blocks = 3", "line 8: 'blocks'.*from 10 to 1000"),
        ("pause = 0", "pause = -1", "line 10: 'pause'.*from 0 to 3600"),
        ("certainty = 0.8", "certainty = 1", "'certainty'.*from 0.51 to 0.99"),
        ('level = "factual", f', 'level = "secret", f', "'level' must not be 'secret'"),
        ("until = 9999-12-31", "until = 2025-12-31", "'until' must not lie before"),
        ("until = 9999-12-31", 'until = "9999-12-31"', "'until'.*a day without quotes"),
        ('name = "pay"', 'name = "p/q"', "'name' must not hold a slash"),
        ("pause = 0", "pause = 0\nlimits = { memory = 1 }", "'memory'.*from 100 to 1000000"),
        (
            "pause = 0",
            "pause = 0\nlimits = { memory = 900000 }",
            "more than the .* this machine has",
        ),
        ("[data.dictionary.job]", "[data.dictionary.work]", "there is no column 'work'"),
        ('original = "persons.csv"', 'original = "nobody.csv"', "line 4: 'original': the file"),
        ('numbers = ["age", "pay"]', 'numbers = ["age", "job"]', "'original': .*job"),
    ],
)
def test_what_is_wrong_in_the_register_is_said_with_its_line(tmp_path, was, now, says):
    assert was in CONFIG
    with pytest.raises(JobError, match=says):
        office(tmp_path, CONFIG.replace(was, now))


def test_the_log_is_sealed(opened, tmp_path):
    opened.compare(QUERY, who="kim")
    with sqlite3.connect(tmp_path / "centre.db") as connection:
        connection.execute(
            "UPDATE diskret_remote_log "
            "SET text = replace(text, '\"answers\": 14', '\"answers\": 1')"
        )
    with pytest.raises(VerificationError, match="the log of projects in the ledger .* was changed"):
        Office(tmp_path / "centre.db", KEYS)


def test_the_log_of_the_desk_cannot_be_put_in_its_place(opened, tmp_path):
    """Entries of both logs are sealed alike, but not with the same key."""
    with sqlite3.connect(tmp_path / "centre.db") as connection:
        for table in ("head", "log", "kept"):
            connection.execute(f"DELETE FROM diskret_remote_{table}")
            connection.execute(
                f"INSERT INTO diskret_remote_{table} SELECT * FROM diskret_desk_{table}"
            )
    with pytest.raises(VerificationError, match="does not bear its seal"):
        Office(tmp_path / "centre.db", KEYS)


def test_the_owner_gets_a_report(opened):
    opened.compare(opened.ask(QUERY, who="kim"), who="kim")
    opened.submit(
        QUERY.replace('column = "age"', 'column = "age"\nwhere = { pay = { to = 1500 } }'),
        "ages",
        who="kim",
    )
    with pytest.raises(InputError):
        opened.ask(QUERY, who="eve")
    english, german = "\n".join(report(opened)), "\n".join(report(opened, "de"))
    assert "kim: 1 run\n" in english and "kim: 1 Lauf\n" in german
    assert "14 answers about the original; 46 are left" in english
    assert "at most 64.5\u00a0%; allowed: 80.0\u00a0%" in english
    assert "near miss: ages (" in english and "beinahe: ages (" in german
    assert "eve: 'eve' is no member" in english


def test_members_are_told_what_there_is_and_nothing_of_the_original(opened):
    said = opened.describe("pay", who="kim")
    assert (said["left"], said["data"]["persons"]["level"]) == (60, "factual")
    columns = said["data"]["persons"]["columns"]
    assert [*columns] == ["job", "age", "pay"]  # the column of persons is in the original only
    assert columns["job"] == {
        "holds": "text",
        "label": "Occupation",
        "codes": {"a": "clerk", "b": "nurse"},
    }
    with pytest.raises(InputError, match="'eve' is no member"):
        opened.describe("pay", who="eve")


def test_an_error_in_one_block_is_a_vote_and_no_error(opened, monkeypatch):
    """Whatever is raised: an error that reaches the researcher would be an answer of its own."""
    calls = []

    def fails_once(asked, frame):
        calls.append(len(frame))
        if len(calls) == 7:
            raise ZeroDivisionError("4711")
        return computed(asked, frame)

    shown = opened.ask(QUERY, who="kim")
    monkeypatch.setattr("diskret.remote.office.computed", fails_once)
    assert opened.compare(shown, who="kim").new == 14
    assert len(calls) == 3 * 40
    monkeypatch.setattr("diskret.remote.office.checking", lambda *_: 1 / 0)
    calls += [0] * 10
    assert opened.submit(QUERY, "model", who="kim") == "waiting"
    assert opened.history("pay")[-1].what == "failed: model: ZeroDivisionError"


def test_a_server_keeps_the_log_as_well(tmp_path):
    from engines.postgres_server import administrator, server

    files(tmp_path)
    connection = administrator()
    connection.run("CREATE DATABASE remote_access")
    connection.close()
    url = f"postgresql://postgres@/remote_access?host={server()}"
    dk.Ledger.create(url, keys=KEYS)
    Office(url, KEYS).register(tmp_path / "config.toml", who="Lee")
    assert Office(url, KEYS).compare(QUERY, who="kim").new == 14
    assert [one.happened for one in Office(url, KEYS).history()][-2:] == ["compared", "answered"]


def test_the_owner_reads_who_asked_what_in_which_words(opened):
    opened.ask(QUERY, who="kim")
    event = opened.history("pay")[-1]
    assert (event.who, event.happened, event.data) == ("kim", "asked", "persons")
    assert opened.asked(event.number) == QUERY
    with pytest.raises(InputError, match="has no entry 99"):
        opened.asked(99)


def test_the_gate_answers_and_tells_nothing_of_errors(opened, monkeypatch):
    def ask(**request):
        return json.loads(answered(opened, "kim", json.dumps(request)))

    assert ask(do="run", query=QUERY)["version"] == "persons"
    assert {*ask(do="compare", query=QUERY)} == {"results", "new", "left"}
    assert ask(do="submit", query=QUERY, result="ages") == {"state": "accepted"}
    assert ask(do="describe", project="pay")["purpose"] == "who earns what"
    assert "do= is" in ask(do="show the original")["error"]
    assert ask(do="run", query=QUERY, who="lee")["error"]  # who asks is not the request's to say
    monkeypatch.setattr("diskret.remote.office.original_frame", lambda *_: 1 / 0)
    assert ask(do="submit", query=QUERY, result="model") == {
        "error": "ZeroDivisionError",
        "refused": False,
    }


def test_answers_come_at_a_multiple_of_the_pause():
    slept = []
    now = time.monotonic()
    wait_for(now - 2.5, 1.0, slept.append)
    wait_for(now - 0.2, 1.0, slept.append)
    wait_for(now, 0, slept.append)
    assert slept == [pytest.approx(0.5, abs=0.1), pytest.approx(0.8, abs=0.1)]
