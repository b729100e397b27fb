"""Remote access and the checker's desk over a socket: on the same tokens, roles and log."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from over_http import ask, listening, send

import diskret as dk
from diskret.errors import InputError
from diskret.serve.client import ServiceError

sys.path.append(str(Path(__file__).parents[1] / "remote"))
from remote_access import KEYS, QUERY, office

from diskret.outputs.desk import Desk


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("centre")
    opened = office(folder)
    with listening(office=opened, desk=Desk(folder / "centre.db", KEYS)) as address:
        yield address


def session(url, token="dsk_kim"):
    return dk.connect(url, token=token).remote("pay", "persons")


@pytest.mark.long
def test_an_analysis_from_question_to_decision(url):
    own = session(url)
    assert own.describe()["data"]["persons"]["level"] == "factual"
    shown = own.run(QUERY)
    assert {*shown.shown} == {"by job", "model", "ages"}
    told = own.compare(shown)
    assert 0 <= told.left < 60 and told.told["model"]
    assert own.submit(shown, "model", request="for a paper") in ("accepted", "waiting")
    assert own.submit(shown, "by job") in ("accepted", "waiting")

    desk = dk.connect(url, token="dsk_lee")
    waiting = desk.desk()["projects"]
    (project,) = waiting
    assert [one["result"] for one in waiting[project]]
    result = waiting[project][0]["result"]
    assert desk.desk("show", project=project, result=result)["summary"]
    said = desk.desk("comment", project=project, result=result, text="looked at")["said"]
    assert "Lee" in said and "looked at" in said
    if waiting[project][0]["state"] == "waiting":
        said = desk.desk("decide", project=project, result=result, decision="return", why="n?")
        assert "Lee" in said["said"]


def test_who_has_no_project_gets_nothing(url):
    with pytest.raises(InputError):
        session(url, "dsk_eve").describe()
    with pytest.raises(ServiceError, match="role") as error:
        session(url, "dsk_lee").describe()
    assert error.value.status == 403
    # who asks is never what the request says
    asked = {"do": "describe", "project": "pay", "who": "kim"}
    assert "error" in send(url, "POST", "/v1/remote", asked, "dsk_eve").json


def test_the_desk_is_for_checkers(url):
    assert send(url, "POST", "/v1/desk", {"do": "list"}, "dsk_kim").status == 403
    for asked in ({"do": "burn"}, {}, [], {"do": 1}, {"do": "show", "project": "no"}):
        assert send(url, "POST", "/v1/desk", asked, "dsk_lee").status == 422, asked


def test_no_table_waits_for_scripts(monkeypatch):
    """They take minutes; all threads that compute tables would wait for them."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(*_):
        begun.set()
        go_on.wait(30)
        return "{}"

    monkeypatch.setattr("diskret.serve.web.app.answered_by_gate", slow)
    with listening(office=object(), computed=1) as address, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(send, address, "POST", "/v1/remote", {}, "dsk_kim")
        assert begun.wait(30)
        assert ask(address, ["sex"]).status == 200 and not asked.done()
        go_on.set()
        assert asked.result().status == 200


def test_a_service_without_them_says_so():
    with listening() as address:
        for path, token in (("/v1/remote", "dsk_kim"), ("/v1/desk", "dsk_lee")):
            got = send(address, "POST", path, {"do": "list"}, token)
            assert got.status == 404 and "this service" in got.problem
