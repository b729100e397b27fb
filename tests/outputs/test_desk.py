"""Projects that last, the desk and its bundle: nothing is lost, nothing can be changed."""

import dataclasses
import json
import multiprocessing
import os
import shutil
import sqlite3
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app
from diskret.errors import InputError, ProofError, VerificationError
from diskret.outputs import Desk, Finding, Profile, Project, crosstab, model
from diskret.publish.verify.folder import verify

RULES = Profile(threshold=10, excepting=("head",), verdicts={"zero": "pass"})


def people(number=60):
    return pd.DataFrame(
        {
            "town": ["A"] * 11 + ["B"] * (number - 11),
            "age": [70] + [40] * (number - 1),
            "all": "x",
            "firm": range(number),
        }
    )


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "ledger.db"
    dk.Ledger.create(path, keys=tmp_path / "keys")
    return path


@pytest.fixture
def desk(place, tmp_path):
    return Desk(place, keys=tmp_path / "keys")


@pytest.fixture(params=["file", "server"])
def anywhere(request, tmp_path, place):
    """A ledger in a file, and one in PostgreSQL."""
    if request.param == "file":
        return place
    from engines.postgres_server import administrator, server

    connection = administrator()
    connection.run("CREATE DATABASE desk")
    connection.close()
    url = f"postgresql://postgres@/desk?host={server()}"
    dk.Ledger.create(url, keys=tmp_path / "keys")
    return url


def made(place, keys, frame=None, **options):
    frame = people() if frame is None else frame
    options = {"profile": RULES, "who": "Kim"} | options
    return Project.create("towns", place, frame, keys=keys, **options)


def opened(place, keys, frame=None):
    return Project.open("towns", place, people() if frame is None else frame, keys=keys)


def test_what_left_counts_in_the_next_process(anywhere, tmp_path):
    place, desk = anywhere, Desk(anywhere, keys=tmp_path / "keys")
    frame = people()
    project = made(place, desk.keys, unit="firm")
    project.accept(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Lee")
    turned = frame.sample(frac=1, random_state=1)  # in another order, by the same index
    later = opened(place, desk.keys, turned)
    young = turned[turned.age < 60]
    found = later.check(crosstab, young.town, young["all"])
    assert [one.check for one in found.findings] == ["difference"]
    assert found.findings[0].blanks == {"other": "everybody", "units": 1}
    with pytest.raises(ProofError, match="must not leave"):
        later.accept(found, "young", who="Lee", why="urgent")
    assert [one.name for one in desk.items("towns")] == ["everybody"]  # nothing half-entered
    later.accept(found, "young", who="head", why="the eleventh agreed")
    assert [one.excepted for one in desk.items("towns")] == [False, True]


def test_a_unit_that_is_spelled_otherwise_later_is_the_same(place, desk):
    frame = people()
    frame["firm"] = "Firm " + (frame.firm % 40).astype(str)
    frame.loc[50, "firm"] = " firm 010"  # one name is one firm, and this is another
    made(place, desk.keys, frame, unit="firm")
    respelled = frame.assign(firm=frame.firm.str.upper() + " ")
    first, later = (opened(place, desk.keys, one)._owners for one in (frame, respelled))
    np.testing.assert_array_equal(first, later)
    assert len(np.unique(first)) == frame.firm.str.strip().str.casefold().nunique()


def test_the_ledger_holds_no_index_and_no_unit(place, desk):
    frame = people().set_index(pd.Index([f"secret-{at}" for at in range(60)]))
    project = made(place, desk.keys, frame)
    project.accept(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Lee")
    assert b"secret-" not in place.read_bytes()
    other = frame.rename(index={"secret-3": "secret-x"})
    with pytest.raises(InputError, match="records that are not among these"):
        opened(place, desk.keys, other)


def test_what_was_accepted_meanwhile_is_looked_at_again(place, desk):
    """Two results that wait are harmless alone; the second one to be decided is not."""
    frame = people()
    project = made(place, desk.keys)
    young = frame[frame.age < 60]
    project.submit(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Kim")
    project.submit(project.check(crosstab, young.town, young["all"]), "young", who="Kim")
    assert [one.submitted.verdict for one in desk.items("towns")] == ["pass", "pass"]
    desk.decide("towns", "young", "accept", who="Lee")
    assert desk.judged("towns", "everybody").verdict == "fail"
    with pytest.raises(ProofError, match="must not leave: Beside young"):
        desk.decide("towns", "everybody", "accept", who="Lee")
    desk.decide("towns", "everybody", "refuse", who="Lee", why="see young")
    with pytest.raises(InputError, match="was decided already"):
        desk.decide("towns", "everybody", "accept", who="head", why="after all")


def test_what_a_model_leaves_open_by_itself_stays_open_at_the_desk(place, desk, monkeypatch):
    """Its own combinations of regressors could not all be tried; so it is for review, always."""
    draw = np.random.default_rng(1)
    frame = people().assign(pay=draw.normal(50, 5, 60), years=draw.normal(size=60))
    project = made(place, desk.keys, frame)
    checked = crosstab(frame.town, frame["all"], profile=RULES)
    open_one = dataclasses.replace(checked, findings=(Finding("too_large", "review"),))
    monkeypatch.setattr("diskret.outputs.tables.judged", lambda *_, **__: open_one)
    project.submit(project.check(crosstab, frame.town, frame["all"]), "open", who="Kim")
    assert desk.judged("towns", "open").verdict == "review"
    with pytest.raises(ProofError, match="must not leave"):
        desk.decide("towns", "open", "accept", who="head")


def decided(place, keys, name, answers):
    try:
        Desk(place, keys=keys).decide("towns", name, "accept", who="Lee")
        answers.put(name)
    except ProofError:
        answers.put("refused")


@pytest.mark.long
def test_of_two_checkers_at_once_one_is_refused(place, desk, tmp_path):
    frame = people()
    project = made(place, desk.keys)
    young = frame[frame.age < 60]
    project.submit(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Kim")
    project.submit(project.check(crosstab, young.town, young["all"]), "young", who="Kim")
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    both = [
        context.Process(target=decided, args=(place, tmp_path / "keys", name, answers))
        for name in ("everybody", "young")
    ]
    for one in both:
        one.start()
    said = sorted(answers.get(timeout=120) for _ in both)
    for one in both:
        one.join()
    assert "refused" in said and len({*said}) == 2
    assert [one.state for one in desk.items("towns")].count("accepted") == 1


def test_exceptions_comments_and_history(place, desk):
    frame = people()
    project = made(place, desk.keys)
    few = project.check(crosstab, frame.town, frame.age)
    project.submit(few, "ages", request="the oldest agreed", who="Kim")
    with pytest.raises(InputError, match="needs a reason"):
        desk.decide("towns", "ages", "return", who="Lee")
    desk.decide("towns", "ages", "return", who="Lee", why="which form?")
    project.submit(few, "ages", request="form 7", who="Kim")
    desk.comment("towns", "ages", "form 7 is there", who="Lee")
    with pytest.raises(ProofError, match="not named in excepting"):
        desk.decide("towns", "ages", "accept", who="Lee", why="form 7")
    desk.decide("towns", "ages", "accept", who="head", why="form 7")
    assert [(one.happened, one.who, one.why) for one in desk.history("towns", "ages")] == [
        ("submitted", "Kim", "the oldest agreed"),
        ("returned", "Lee", "which form?"),
        ("submitted", "Kim", "form 7"),
        ("commented", "Lee", "form 7 is there"),
        ("accepted", "head", "form 7"),
    ]


TAMPERING = {
    "an entry is changed": "UPDATE diskret_desk_log SET text = replace(text, 'Lee', 'Kim')",
    "an entry is removed": "DELETE FROM diskret_desk_log WHERE number = 3",
    "what is kept is changed": "UPDATE diskret_desk_kept SET said = replace(said, 'A', 'B')",
    "what is kept is removed": "DELETE FROM diskret_desk_kept",
    "the head is removed": "DELETE FROM diskret_desk_head",
    "a table is removed": "DROP TABLE diskret_desk_kept",
}


@pytest.mark.parametrize("how", TAMPERING)
def test_tampering_with_the_log_is_found(place, desk, how):
    frame = people()
    project = made(place, desk.keys)
    project.accept(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Lee")
    with sqlite3.connect(place) as database:
        database.execute(TAMPERING[how])
    database.close()
    with pytest.raises(VerificationError, match="the log of projects"):
        project.check(crosstab, frame.town, frame["all"])


def test_names_and_projects_are_taken_once(place, desk):
    frame = people()
    project = made(place, desk.keys)
    with pytest.raises(InputError, match="is there already"):
        made(place, desk.keys)
    with pytest.raises(InputError, match="no project 'x'; there are 'towns'"):
        Project.open("x", place, frame, keys=desk.keys)
    checked = project.check(crosstab, frame.town, frame["all"])
    project.accept(checked, "everybody", who="Lee")
    with pytest.raises(InputError, match="is taken or empty"):
        project.submit(checked, "everybody", who="Kim")
    with pytest.raises(InputError, match="no result 'y'"):
        desk.decide("towns", "y", "accept")
    with pytest.raises(InputError, match="not kept in a ledger"):
        alone = Project(frame)
        alone.submit(alone.check(crosstab, frame.town, frame["all"]), "everybody")


# ── the bundle ──────────────────────────────────────────────────────────────────────


@pytest.fixture
def bundle(place, desk, tmp_path):
    draw = np.random.default_rng(1)
    frame = people().assign(pay=draw.normal(50, 5, 60), years=draw.normal(size=60))
    project = made(place, desk.keys, frame)
    project.accept(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Lee")
    fitted = smf.ols("pay ~ years", frame).fit()
    project.accept(project.check(model, fitted), "pay", who="Lee")
    few = project.check(crosstab, frame.town, frame.age)
    project.submit(few, "refused", who="Kim")
    project.accept(few, "ages", who="head", why="Mrs Miller of A agreed")
    return desk.release("towns", tmp_path / "bundle", who="Lee")


def test_a_bundle_holds_what_was_accepted_and_nothing_more(bundle, desk, tmp_path):
    names = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    files = ["everybody.csv", "pay.csv", "pay 2.csv", "pay 3.csv", "ages.csv", "results.json"]
    assert names == {
        *(f"public/{name}" for name in files),
        *(f"public/checksums/{name}.txt" for name in files),
        "internal/desk.json",
        "internal/content.json",
    }
    content = json.loads((bundle / "public" / "results.json").read_text())
    assert {uid: one["status"] for uid, one in content["results"].items()} == {
        "everybody": "pass",
        "pay": "pass",
        "ages": "review",
    }
    public = "".join(path.read_text() for path in (bundle / "public").rglob("*") if path.is_file())
    assert not any(secret in public for secret in ("Miller", "threshold", "Lee", "fewer"))
    report = verify(bundle, keys=desk.keys)
    assert report.sealed and report.tables == ("everybody", "pay", "ages")
    assert desk.release("towns", bundle, who="Lee") == bundle  # in the place of the one before
    shutil.copytree(bundle / "public", tmp_path / "alone")
    assert not verify(tmp_path / "alone").checked_internal


def changed(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def with_checksum(path):
    (path.parent / "checksums" / f"{path.name}.txt").write_text(dk_digest(path))


def dk_digest(path):
    from diskret.publish.digests import digest

    return digest(path)


def renumbered(public):
    changed(public / "everybody.csv", "49", "48")


def results(public):
    changed(public / "results.json", '"summary": "pass"', '"summary": "fail: p = 10"')


def checksum(public):
    path = public / "checksums" / "pay.csv.txt"
    path.write_text(path.read_text()[::-1])  # whichever digits it has


def added(public):
    (public / "more.csv").write_text("1")


def added_sum(public):
    (public / "checksums" / "more.csv.txt").write_text("1")


def removed(public):
    (public / "ages.csv").unlink()


def forged(public):
    """By somebody who knows how checksums are made."""
    renumbered(public)
    with_checksum(public / "everybody.csv")


@pytest.mark.parametrize(
    "sabotage", [renumbered, results, checksum, added, added_sum, removed, forged]
)
def test_whatever_is_changed_in_a_bundle_is_found(bundle, desk, sabotage):
    sabotage(bundle / "public")
    with pytest.raises(VerificationError):
        verify(bundle, keys=desk.keys)
    if sabotage is not forged:
        with pytest.raises(VerificationError):
            verify(bundle / "public")


def test_a_bundle_is_complete_or_not_there(place, desk, tmp_path, monkeypatch):
    frame = people()
    project = made(place, desk.keys)
    with pytest.raises(InputError, match="nothing of the project"):
        desk.release("towns", tmp_path / "bundle")
    project.accept(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Lee")
    monkeypatch.setattr("diskret.outputs.bundle.write_public", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        desk.release("towns", tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()
    assert [one.happened for one in desk.history("towns")][-1] == "accepted"


# ── the report ──────────────────────────────────────────────────────────────────────


def reported(place, keys):
    """A project with a result that was accepted, one that was excepted and one that waits."""
    frame = people()
    project = made(place, keys)
    project.accept(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Lee")
    rest = frame[frame.index != 3]
    project.submit(project.check(crosstab, rest.town, rest["all"]), "=cmd <b>", who="Kim")
    return project


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_report_tells_all_to_the_office_and_nobody_else(place, desk, tmp_path, language):
    reported(place, desk.keys)
    desk.comment("towns", "=cmd <b>", "looks <i>odd</i>", who="Lee")
    folder = desk.report("towns", tmp_path / "report", language=language)
    page = (folder / "report.html").read_text(encoding="utf-8")
    rows = pd.read_csv(folder / "report.csv")
    found = desk.judged("towns", "=cmd <b>").reasons(language)
    assert found
    for reason in found:
        assert escape(reason, quote=True) in page and reason in [*rows.iloc[:, 6]]
    assert "<b>" not in page.partition("<h1>")[2] and "<i>" not in page
    assert [*rows.iloc[:, 0]] == ["everybody", *["'=cmd <b>"] * len(found)]
    for words in ("looks &lt;i&gt;odd&lt;/i&gt;", "Kim", "Lee", "SHA-256"):
        assert words in page
    assert {one.name for one in folder.iterdir()} == {"report.html", "report.csv"}
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0
        assert all(one.stat().st_mode & 0o077 == 0 for one in folder.iterdir())
    desk.decide("towns", "=cmd <b>", "refuse", who="Lee", why="one person")
    again = desk.report("towns", folder, language=language)
    assert "one person" in (again / "report.html").read_text(encoding="utf-8")
    assert len([*tmp_path.glob(".*")]) == 0


def test_reasons_are_in_the_words_of_the_profile(place, desk, tmp_path):
    frame = people()
    rules = replace(RULES, wording={"threshold": {"en": "Our centre asks for ten."}})
    project = Project.create("words", place, frame, profile=rules, keys=desk.keys, who="Lee")
    few = frame[:3]
    project.submit(project.check(crosstab, few.town, few["all"]), "few", who="Kim")
    page = desk.report("words", tmp_path / "report") / "report.html"
    assert "Our centre asks for ten. Here: A, x" in page.read_text(encoding="utf-8")


def test_a_report_never_gets_into_what_leaves(place, desk, tmp_path):
    reported(place, desk.keys)
    out = desk.release("towns", tmp_path / "out", who="Lee")
    for folder in (out, out / "public", out / "public" / "report", out / "internal"):
        with pytest.raises(InputError, match="part of a release"):
            desk.report("towns", folder)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    for folder in (tmp_path / "other", tmp_path / "other" / "mine.txt"):
        with pytest.raises(InputError, match="something else than a report"):
            desk.report("towns", folder)
    with pytest.raises(InputError, match="nothing can be written"):
        desk.report("towns", tmp_path / "not" / "there")
    verify(out, keys=desk.keys)


# ── the command ─────────────────────────────────────────────────────────────────────


def test_the_desk_from_the_command_line(place, desk, tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("DISKRET_LEDGER", str(place))
    frame = people()
    project = made(place, desk.keys)
    project.submit(project.check(crosstab, frame.town, frame["all"]), "everybody", who="Kim")

    def run(*arguments):
        return CliRunner().invoke(app, ["desk", *arguments])

    assert "everybody: waits for a decision (passes)" in run("list").output
    assert "everybody: wartet auf eine Entscheidung" in run("list", "--language", "de").output
    shown = run("show", "towns", "everybody").output
    assert "Table of counts: passes." in shown and "A,11" in shown and "submitted by Kim" in shown
    assert run("comment", "towns", "everybody", "looks fine", "--who", "Lee").exit_code == 0
    assert "accepted by Lee" in run("decide", "towns", "everybody", "accept", "--who", "Lee").output
    again = run("decide", "towns", "everybody", "refuse", "--why", "x", "--language", "de")
    assert again.exit_code == 1 and "ist schon entschieden" in again.output
    folder = str(tmp_path / "out")
    assert run("release", "towns", "--folder", folder, "--who", "Lee").exit_code == 0
    assert "looks fine" in run("history", "towns").output
    report = str(tmp_path / "report")
    assert run("report", "towns", "--folder", report, "--language", "de").exit_code == 0
    assert "Vertraulich" in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    verified = CliRunner().invoke(app, ["verify", folder])
    assert verified.exit_code == 0 and "everybody" in verified.output
