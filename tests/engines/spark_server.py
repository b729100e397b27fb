"""A Spark of the tests' own: one session for all of them, small and quick to start."""

import atexit
import shutil
import tempfile
from functools import cache
from importlib.util import find_spec

import pytest

from diskret.engines.spark import SparkEngine
from diskret.io.spark_frames import arrow_to_frame

#: Keeps all tests that need Spark in one process.
ONE_SPARK = pytest.mark.xdist_group("spark")

# Compiling its queries takes Spark far longer than running them over a few records.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def in_spark(records):
    """An engine on the records of a source in memory."""
    session()
    return SparkEngine(records)


def frame_of(table):
    """An Arrow table as a Spark frame."""
    return arrow_to_frame(table, session())


@cache
def session():
    """Start the session that all tests share."""
    if not find_spec("pyspark"):
        pytest.skip("Spark cannot be tested: pyspark is not installed")
    if not shutil.which("java"):
        pytest.skip("Spark cannot be tested: there is no Java (apt install default-jre-headless)")
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="diskret-spark-")
    options = INTERPRETED | {
        "spark.default.parallelism": "1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": (
            f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={folder}"
        ),
        "spark.driver.memory": "1g",
        "spark.local.dir": folder,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[1]").appName("tests")
    started = builder.config(map=options).getOrCreate()
    started.sparkContext.setLogLevel("OFF")
    atexit.register(stop, started, folder)
    return started


def stop(started, folder):
    started.stop()
    shutil.rmtree(folder, ignore_errors=True)
