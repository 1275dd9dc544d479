"""One Spark for all tests of this folder: it takes longer to start than any of them."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

from dpnb.trusted.curator.engines import spark_session

NEEDS = (
    "Spark's tests need pyspark and Java: pip install -e '.[spark]'; apt-get install openjdk-17-jre-headless"
)


def available() -> bool:
    """Tell whether a Spark can be started here."""
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    return java is not None and importlib.util.find_spec("pyspark") is not None


@pytest.fixture(scope="session", autouse=True)
def started(tmp_path_factory):
    """Start Spark on two cores, its tables in a folder of these tests. Where continuous integration runs, a missing one fails."""
    if not available():
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say(NEEDS)
    warehouse = tmp_path_factory.mktemp("warehouse")
    with pytest.MonkeyPatch.context() as patch:
        # nothing here runs long enough to be worth compiling well
        java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        patch.setenv(
            "PYSPARK_SUBMIT_ARGS",
            f"--master local[2] --driver-memory 1g --driver-java-options '{java}' "
            f"--conf spark.sql.warehouse.dir={warehouse} pyspark-shell",
        )
        spark_session.session()
        yield
        spark_session.stop()
