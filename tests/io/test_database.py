"""A table in a database is named without showing who asks, and with what password."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.io import PostgresTable, source, to_arrow

URLS = {
    "postgresql://db.example/register": "postgresql://db.example/register",
    "postgres://clerk@db.example:5433/register?sslmode=require": (
        "postgresql://db.example:5433/register"
    ),
    "postgresql://clerk:s3cr%40t@db.example": "postgresql://db.example/",
    "postgresql://[::1]:5432/r": "postgresql://[::1]:5432/r",
    "postgresql:///register?host=/run/postgresql&sslmode=disable": "postgresql:///register",
}


@pytest.mark.parametrize(("url", "address"), URLS.items())
def test_the_address_shows_neither_user_nor_options(url, address):
    table = PostgresTable(url, "public.firms")
    assert table.address == address
    assert repr(table) == f"PostgresTable({address!r}, 'public.firms')"
    assert table.path == ("public", "firms")


@given(st.text(st.sampled_from("§@:/?#%[],&=2"), max_size=8))
def test_no_password_is_ever_shown(middle):
    """Whatever stands in a password, a bare special character included."""
    try:
        shown = repr(PostgresTable(f"postgresql://clerk:§{middle}§@db.example/register", "firms"))
    except InputError as error:
        shown = str(error)
    assert "§" not in shown


@pytest.mark.parametrize("table", ["", ".", "a.", ".b", "a.b.c", 3])
def test_what_names_no_table_is_refused(table):
    with pytest.raises(InputError, match="names no table"):
        PostgresTable("postgresql://h/d", table)


def test_a_database_is_no_frame():
    table = PostgresTable("postgresql://h/d", "firms")
    assert source(table).database == table
    with pytest.raises(InputError, match=r"PostgresTable\(.*stays in its database"):
        to_arrow(table)
