"""What may be shown of an address: never its credentials, wherever a table's place is named."""

import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd import read_table
from incrowd._support.addresses import masked
from incrowd.backends.base import ArrowRows
from incrowd.backends.spark.session import open_on_spark, spark_errors
from incrowd.backends.spark.store import written_by_spark
from incrowd.errors import InputError
from incrowd.tables import Table

SECRET = "s3cr3t"
ADDRESSES = [
    "s3a://AKIAKEY:{}@bucket/people.parquet",
    "s3a://AKIAKEY:{}@bucket",
    "s3a://AKIAKEY:{}/x@bucket/people.parquet",
    "jdbc:postgresql://ann:{}@host/db",
    "JDBC:postgresql://host/db?user=ann&password={}",
    "jdbc:sqlserver://host;user=ann;password={}",
    "jdbc:oracle:thin:ann/{}@host",
    "ann:{}@host/db",
    "ann:{}@host/people.db",
    "sqlite://ann:{}@host/people.db",
    "mysql:/ann:{}@host/db",
    "host=db user=ann password={}",
    "ann:{}@*.parquet",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("secret", [SECRET, "7351902"])
def test_a_secret_is_in_no_address_that_is_shown_and_in_no_error(address, secret):
    given_address = address.format(secret)
    assert secret not in masked(given_address)
    with pytest.raises(InputError) as caught:
        read_table(given_address)
    assert secret not in str(caught.value)


@pytest.mark.parametrize("address", ["postgres://ann:12345", "s3a://ann:12345", "postgresql://ann:7351902/db"])
def test_digits_that_may_be_a_password_are_not_taken_for_a_port(address):
    assert masked(address).endswith("://…")


@pytest.mark.parametrize("address", [address for address in ADDRESSES if "://" in address])
def test_a_secret_is_in_no_word_about_spark(address, tmp_path):
    given_address = address.format(SECRET)

    def refuses(*paths):
        raise ValueError(paths)

    session = types.SimpleNamespace(read=types.SimpleNamespace(parquet=refuses))
    with pytest.raises(InputError, match="not Parquet that Spark reads") as caught:
        open_on_spark([given_address], session)
    assert SECRET not in str(caught.value)
    frame = types.SimpleNamespace(sparkSession=types.SimpleNamespace(sparkContext=types.SimpleNamespace()))
    frame.sparkSession.sparkContext._jvm = frame.sparkSession.sparkContext._jsc = _Java()
    with pytest.raises(InputError, match="exists already") as caught, written_by_spark(frame, given_address):
        pass
    assert SECRET not in str(caught.value)
    with pytest.raises(InputError) as caught, spark_errors(given_address, "it failed"):
        raise ValueError
    assert SECRET not in str(caught.value)
    with pytest.raises(InputError) as caught:
        read_table({"a": [1]}, master=given_address)
    assert SECRET not in str(caught.value)


class _Java:
    """Whatever is asked of it is there."""

    def __getattr__(self, name):
        return self

    def __call__(self, *arguments):
        return self

    def __bool__(self):
        return True


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_table_keeps_no_secret(address):
    import pyarrow as pa

    table = Table(ArrowRows(pa.table({"a": [1]}), name="people"), source=address.format(SECRET))
    assert SECRET not in "".join([table.source, table.place, repr(table)])


def test_files_are_shown_as_they_are(tmp_path, monkeypatch):
    odd = tmp_path / "ann:password@home.csv"
    odd.write_text("a,b\n1,2\n3,4\n")
    assert read_table(odd).source == str(odd)
    monkeypatch.chdir(tmp_path)
    assert masked("ann:pass*.csv") == "ann:pass*.csv"
    for plain in ("patients.csv", "C:/data/tokens.csv", "hdfs://store:9000/a/b.parquet", "spark://host:7077"):
        assert masked(plain) == plain


@settings(max_examples=40)
@given(st.text(st.characters(exclude_characters="\x00"), max_size=6), st.text(max_size=6))
def test_what_stands_before_the_last_at_is_never_shown(before, after):
    for scheme in ("postgresql", "s3a", "jdbc:mysql"):
        shown = masked(f"{scheme}://ann:{before}{SECRET}@host{after}")
        assert SECRET not in shown
