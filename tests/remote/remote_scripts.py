"""What tests of scripts share."""

import io
from functools import cache

import pyarrow.ipc
import pytest

from diskret.errors import InputError
from diskret.remote import sandbox


def arrow(table):
    """A table as it goes into the sandbox."""
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@cache
def _why_not():
    try:
        sandbox.check()
    except InputError as error:
        return str(error)
    return ""


def caged_or_skip():
    """Skip where no sandbox can be made, and say why."""
    if _why_not():
        pytest.skip(f"optional: {_why_not()}")
