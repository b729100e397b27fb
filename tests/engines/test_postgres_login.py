"""Where a database is and who asks, read without the driver."""

import ssl
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.engines.postgres_login import Server, login
from diskret.errors import InputError

NOBODY = {"HOME": "/nowhere", "PGUSER": "clerk"}


def servers(url, **variables):
    return [(s.host, s.port, s.password) for s in login(url, NOBODY | variables).servers]


@pytest.mark.parametrize(
    ("url", "found"),
    {
        "postgresql://db.example/r": [("db.example", 5432, None)],
        "postgresql://clerk:s3cr%40t@db:1/r": [("db", 1, "s3cr@t")],
        "postgresql://[::1]:1,other:2/r": [("::1", 1, None), ("other", 2, None)],
        "postgresql://a,b/r?port=7": [("a", 7, None), ("b", 7, None)],
        "postgresql:///r?host=/run/pg&password=a%2Bb+c=": [("/run/pg", 5432, "a+b+c=")],
    }.items(),
)
def test_a_url_names_servers(url, found):
    assert servers(url) == found


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_any_password_can_be_written_and_none_is_shown(password):
    coded = "".join(f"%{byte:02X}" for byte in password.encode())
    found = login(f"postgresql://clerk:{coded}@db.example/r", NOBODY)
    assert [server.password for server in found.servers] == [password]
    assert repr(found.servers[0]) == "Server(host='db.example', port=5432)"


def test_the_environment_says_what_the_url_leaves_out():
    variables = {"PGHOST": "db", "PGPORT": "7", "PGPASSWORD": "p", "PGSSLMODE": "require"}
    found = login("postgresql:///", NOBODY | variables)
    assert found.servers == (Server("db", 7, "p"),)
    assert (found.user, found.database, found.ssl_mode) == ("clerk", "clerk", "require")
    asked = login("postgresql://boss:q@other:8/r?sslmode=disable", NOBODY | variables)
    assert asked.servers == (Server("other", 8, "q"),)
    assert (asked.user, asked.database, asked.ssl_mode) == ("boss", "r", "disable")


@pytest.fixture
def pass_file(tmp_path):
    path = tmp_path / "pass"
    path.write_text(
        "# ours\nnonsense\nother:5432:r:clerk:wrong\ndb:5432:r:boss:wrong\n"
        "db:5432:r:clerk:a\\:b\\\\c\nlocalhost:*:*:*:local\n*:9:*:*:nine\n",
        encoding="utf-8",
    )
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("url", "password"),
    {
        "postgresql://db/r": "a:b\\c",
        "postgresql://db/other": None,
        "postgresql:///r?host=/run/pg": "local",
        "postgresql://any:9/x": "nine",
        "postgresql://clerk:mine@db/r": "mine",
    }.items(),
)
def test_the_first_line_that_fits_gives_the_password(pass_file, url, password):
    assert servers(url, PGPASSFILE=str(pass_file))[0][2] == password


def test_a_password_file_that_others_may_read_does_not_count(pass_file):
    pass_file.chmod(0o640)
    assert servers("postgresql://db/r", PGPASSFILE=str(pass_file))[0][2] is None


def test_encryption_is_what_the_mode_says():
    def context(mode, url="postgresql://db/r?sslmode=") -> Any:
        found = login(url + mode, NOBODY)
        return found.ssl_context(found.servers[0])

    assert context("disable") is False
    assert context("prefer") is None
    assert context("require") is True
    assert context("verify-ca").verify_mode == ssl.CERT_REQUIRED
    assert not context("verify-ca").check_hostname
    assert context("verify-full").check_hostname
    assert context("require", "postgresql:///r?host=/run/pg&sslmode=") is False
    with pytest.raises(FileNotFoundError):
        context("verify-full&sslrootcert=/nowhere/root.crt")


@pytest.mark.parametrize(
    ("options", "problem"),
    {
        "pasword=s3cr": "options that are not known .* known are host, port",
        "s3cr": "options that are not known",
        "sslmode=s3cr": "no such sslmode; write one of disable",
        "port=s3cr": "the option port is no whole number",
        "port=65536": "the option port is no whole number",
        "connect_timeout=s3cr": "the option connect_timeout is no whole number",
        "port=1,2,3": "3 ports for 1 hosts",
    }.items(),
)
def test_options_that_cannot_be_understood_are_refused_unseen(options, problem):
    with pytest.raises(InputError, match=problem) as error:
        login(f"postgresql://db/r?{options}", NOBODY)
    assert "s3cr" not in str(error.value)
