"""Two services over HTTP that share their state in one PostgreSQL database."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from engines.postgres_server import administrator, server
from test_serve_command import CONFIG, ended, home, posix, run, started, token_of

import diskret as dk
from diskret.serve.client import ServiceError

__all__ = ["home"]
DATABASE = "together"
BY = (["sex"], ["town"], ["job"], ["sex", "town"], ["sex", "job"], ["town", "job"])


@pytest.fixture
def place(home):
    connection = administrator()
    connection.run(f"DROP DATABASE IF EXISTS {DATABASE}")
    connection.run(f"CREATE DATABASE {DATABASE}")
    connection.close()
    url = f"postgresql://postgres@/{DATABASE}?host={server()}"
    text = CONFIG.replace('"service.db"', f'"{url}"').replace("questions = 2", "questions = 4")
    (home / "service.toml").write_text(text.replace('"users.toml"', f'"{url}"'))
    run("ledger", "create", "--ledger", url)
    return url


@posix
@pytest.mark.long
def test_two_services_keep_one_limit_and_give_the_same_answers(place):
    tokens = [token_of(run("users", "add", "service.toml", name)) for name in ("anne", "bob")]
    (one, first), (two, second) = started(), started()
    try:

        def ask(at):
            service = dk.connect((first, second)[at % 2], token=tokens[at // 2 % 2])
            try:
                return at % len(BY), service.table("persons", BY[at % len(BY)]).to_dict()
            except ServiceError as error:
                assert error.status == 403 and "all 4 tables" in str(error)
                return None

        with ThreadPoolExecutor(6) as pool:
            found = [got for got in pool.map(ask, range(24)) if got is not None]
        shown = {}
        for at, table in found:
            assert shown.setdefault(at, table) == table
        assert len(shown) == 4
        # one is killed: the other one goes on, and a third takes its place
        assert ended(one, signal.SIGKILL)[0] == -signal.SIGKILL
        one, first = started()
        for url in (first, second):
            service = dk.connect(url, token=tokens[0])
            assert service.describe("persons")["left"] == 0
            for at, table in shown.items():
                assert service.table("persons", BY[at]).to_dict() == table
        # who is revoked is let in nowhere
        run("users", "revoke", "service.toml", "anne")
        time.sleep(1.1)  # services look once a second
        for url in (first, second):
            with pytest.raises(ServiceError) as error:
                dk.connect(url, token=tokens[0]).data()
            assert error.value.status == 401
            assert dk.connect(url, token=tokens[1]).data()
        assert ended(two, signal.SIGTERM)[0] == 0
        history = run("serve", "service.toml", "--history")
        assert history.count(": started") == 3 and history.count(": stopped") == 1
    finally:
        for process in (one, two):
            process.kill()
            process.communicate()
