"""Where a database is and who asks, read without the driver."""

import ssl
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.engines.postgres_connection import login
from diskret.errors import InputError


@pytest.mark.parametrize(
    ("url", "found"),
    {
        "postgresql://db.example/r": ("db.example", 5432, None, None),
        "postgresql://clerk:s3cr%40t@db:1/r": ("db", 1, "s3cr@t", None),
        "postgresql://[::1]:1/r": ("::1", 1, None, None),
        "postgresql:///r": ("localhost", 5432, None, None),
        "postgresql:///r?host=/run/pg/": ("/run/pg/", 5432, None, "/run/pg/.s.PGSQL.5432"),
    }.items(),
)
def test_a_url_names_a_server(url, found):
    asked = login(url, {})
    assert (asked.host, asked.port, asked.password, asked.socket) == found
    assert asked.database == "r"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_any_password_can_be_written_and_none_is_shown(password):
    coded = "".join(f"%{byte:02X}" for byte in password.encode())
    found = login(f"postgresql://clerk:{coded}@db.example/r", {})
    assert found.password == password
    assert "password" not in repr(found)


def test_a_password_in_the_url_goes_before_the_variable():
    variables = {"PGPASSWORD": "p"}
    assert login("postgresql://clerk@db/r", variables).password == "p"
    assert login("postgresql://clerk:q@db/r", variables).password == "q"


def test_encryption_is_what_the_mode_says():
    def context(mode, url="postgresql://db/r?sslmode=") -> Any:
        return login(url + mode, {}).ssl_context()

    assert context("disable") is False
    assert context("prefer") is None
    assert context("require") is True
    assert context("verify-full").verify_mode == ssl.CERT_REQUIRED
    assert context("verify-full").check_hostname
    assert context("require", "postgresql:///r?host=/run/pg&sslmode=") is False
    with pytest.raises(FileNotFoundError):
        context("verify-full&sslrootcert=/nowhere/root.crt")


@pytest.mark.parametrize(
    ("address", "problem"),
    {
        "db/r?pasword=s3cr": "options that are not known .* known are host",
        "db/r?sslmode=require&sslmode=s3cr": "stand there twice",
        "db/r?sslmode=s3cr": "no such sslmode; write one of disable",
        "clerk:s3cr@db:65536/r": "up to 65,535",
    }.items(),
)
def test_what_cannot_be_understood_is_refused_unseen(address, problem):
    with pytest.raises(InputError, match=problem) as error:
        login(f"postgresql://{address}", {})
    assert "s3cr" not in str(error.value)
