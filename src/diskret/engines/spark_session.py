"""The Spark session that queries run in: the user's, or one started and stopped here."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from diskret.errors import InputError
from diskret.io.spark import first_line


def session() -> tuple[Any, bool]:
    """The active session, or a new one; and whether it is new, so that it is ours to stop.

    A new one is configured as Spark's own files and variables say (``SPARK_HOME``,
    ``SPARK_CONF_DIR``, ``spark-submit``).

    Raises
    ------
    InputError
        Spark is not installed, or cannot be started.
    """
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputError(
            "engine Spark needs pyspark, which is not installed; install it with "
            "pip install 'diskret[spark]'"
        ) from error
    with suppress(PySparkRuntimeError):
        return SparkSession.active(), False
    try:
        return SparkSession.builder.appName("diskret").getOrCreate(), True
    except spark_errors() as error:
        raise InputError(
            f"Spark cannot be started: {first_line(error)}; it needs Java 17 or later (JAVA_HOME) "
            "and a master that can be reached"
        ) from error


@contextmanager
def explained() -> Generator[None]:
    """Tell what Spark cannot do with the records as an `InputError`."""
    try:
        yield
    except spark_errors() as error:
        raise InputError(f"the records cannot be read by Spark: {first_line(error)}") from error


def spark_errors() -> tuple[type[Exception], ...]:
    """What Spark raises, and the bridge to it that Spark Connect does without."""
    from pyspark.errors import PySparkException

    with suppress(ImportError):
        from py4j.protocol import Py4JError

        return PySparkException, Py4JError, ConnectionError
    return (PySparkException,)
