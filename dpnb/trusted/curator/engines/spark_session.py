"""The curator's one Spark session: started when a source in Spark is first opened, and quiet.

Which Spark that is says Spark's own configuration (``SPARK_CONF_DIR`` with its ``spark-defaults.conf``, ``SPARK_HOME``,
``PYSPARK_SUBMIT_ARGS``), which the curator's owner writes: master, catalogues, credentials. What Spark prints is thrown away;
its own ``log4j2.properties`` may write it to a file. The page that Spark shows of its jobs is off, for it shows every statement.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnb.trusted.errors import OwnerError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COPIES = "spark.dpnb.copies"
"""What Spark's configuration calls the folder of prepared copies, where executors do not share the curator's disk."""

_ALWAYS = {
    "spark.app.name": "dpnb curator",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.defaultJavaOptions": "-Xss16m",  # it reads and plans an expression by calling itself
}
_STATEMENTS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    # both write an inner column out wherever it is mentioned: forty conditions within conditions never end
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates",
    # no row is left out silently, and no column is read by what its cells look like
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    **{
        f"spark.sql.parquet.{kind}RebaseModeIn{way}": "CORRECTED"
        for kind in ("datetime", "int96")
        for way in ("Read", "Write")
    },
}
_NO_SPARK = 'This source is in Spark, which is not installed beside the curator: pip install "dpnb[spark]"'
_NO_JAVA = (
    "This source is in Spark, which needs Java 17 or newer, and there is none: apt-get install openjdk-17-jre-headless, "
    "or set JAVA_HOME."
)
_DID_NOT_START = "Spark did not start. Try it as the curator's user: spark-submit --version, and look into its spark-defaults.conf."

_starting = threading.Lock()
_session: SparkSession | None = None


def session() -> SparkSession:
    """Return the session, started on first use, and again where it ended.

    Raises
    ------
    OwnerError
        When Spark or Java is not installed, or does not start.
    """
    global _session  # noqa: PLW0603 - a process has one Spark
    with _starting:
        if _session is None or not alive(_session):
            _forget()
            _session = _started()
        return _session


def alive(spark: SparkSession) -> bool:
    """Tell whether a session can still run statements."""
    try:
        return not spark.sparkContext._jsc.sc().isStopped()  # noqa: SLF001 - there is no other word for it
    except Exception:  # noqa: BLE001 - whatever a process that ended answers
        return False


def stop() -> None:
    """End the session and its process, if one was started."""
    with _starting:
        _forget()


def _started() -> SparkSession:
    try:
        import pyspark
        import pyspark.java_gateway
        import pyspark.sql
    except ImportError:
        raise OwnerError(_NO_SPARK) from None
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=os.path.join(home, "bin") if home else None) is None:  # noqa: PTH118
        raise OwnerError(_NO_JAVA)
    conf = pyspark.SparkConf(loadDefaults=False).setAll(list(_ALWAYS.items()))
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    launch: Any = pyspark.java_gateway.launch_gateway
    try:
        gateway = launch(conf, quiet)
        context = pyspark.SparkContext(conf=conf, gateway=gateway)
        spark = pyspark.sql.SparkSession(context).newSession()
    except Exception as error:
        _forget()
        raise OwnerError(_DID_NOT_START) from error
    _settle(spark)
    return spark


def _settle(spark: SparkSession) -> None:
    """Settle how statements are read, whatever the owner's defaults are: results must not depend on them."""
    for name, value in _STATEMENTS.items():
        spark.conf.set(name, value)
    spark.conf.set("spark.sql.shuffle.partitions", str(spark.sparkContext.defaultParallelism))


def _forget() -> None:
    """Let go of a session that ended, and of its process, so that another can be started."""
    global _session  # noqa: PLW0603
    from pyspark import SparkContext

    gateway, context = SparkContext._gateway, SparkContext._active_spark_context  # noqa: SLF001
    if context is not None:
        with contextlib.suppress(Exception):
            context.stop()
    if gateway is not None:
        with contextlib.suppress(Exception):
            gateway.shutdown()
        process = getattr(gateway, "proc", None)
        if process is not None:
            process.stdin.close()
            process.kill()
            process.wait()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None  # noqa: SLF001
    _session = None


# Files that Spark reaches --------------------------------------------------------------------------------------


def shared_folder() -> str | None:
    """Return the folder that every executor reaches, where Spark's configuration names one."""
    named: str | None = session().sparkContext.getConf().get(COPIES)
    return None if named is None else named.rstrip("/")


def qualified(place: str) -> str:
    """Return the one address of a place."""
    system, path = _system(place)
    return str(system.makeQualified(path).toString())


def stamp(place: str) -> str:
    """Return a file's address, length and time."""
    system, path = _system(place)
    found = system.getFileStatus(path)
    return f"{place} {found.getLen()} {found.getModificationTime()}"


def bring(there: str, here: Path) -> None:
    """Copy a folder to this disk."""
    system, path = _system(there)
    system.copyToLocalFile(False, path, _path(here.as_uri()), True)


def hand_on(here: Path, there: str) -> None:
    """Move a folder of this disk to where Spark reaches it."""
    system, path = _system(there)
    system.mkdirs(path.getParent())
    system.copyFromLocalFile(True, True, _path(here.as_uri()), path)


def delete(there: str) -> None:
    """Delete a folder; one that is not reached remains."""
    with contextlib.suppress(Exception):
        system, path = _system(there)
        system.delete(path, True)


def _path(place: str) -> Any:
    return _java().org.apache.hadoop.fs.Path(place)


def _java() -> Any:
    """What leads to the classes of Spark's own process."""
    return session().sparkContext._jvm  # noqa: SLF001 - there is no other word for it


def _system(place: str) -> tuple[Any, Any]:
    """The file system of a place, and the place in it."""
    path = _path(place)
    return path.getFileSystem(session().sparkContext._jsc.hadoopConfiguration()), path  # noqa: SLF001
