"""Files of SPSS, Stata, SAS and R: value by value as their own library reads them, with labels and missing codes."""

from datetime import UTC, date, datetime, time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import rdata
import xarray
from tests.tables.made_files import LABELS, WRITERS, make_file, people

from incrowd import InputError, measure, protect, read_table
from incrowd.backends.scales import Scale
from incrowd.protection import write_protected
from incrowd.tables import write_table
from incrowd.tables.conversions import LabelConversion, TemporalConversion, WholeConversion
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats import r_data, sas, spss, stata, statistics_cells

pytestmark = pytest.mark.usefixtures("no_child_processes")


@pytest.fixture
def survey():
    """A frame with labels, missing codes, dates, times and a long name."""
    return pd.DataFrame(
        {
            "pain": [1.0, 2.0, 3.0, -9.0, np.nan, 2.0],
            "kids": [0.0, 2.0, 98.0, 99.0, 1.0, 3.0],
            "town": ["Ulm", "", "Żary", "x" * 300, "Ulm", "Köln"],
            "born": [date(2001, 2, 3), None, date(1950, 1, 1), date(1970, 1, 1), date(1899, 12, 31), date(2020, 2, 29)],
            "seen": pd.to_datetime(["2001-02-03 04:05:06", None, *["1950-01-01 00:00:00"] * 4]),
            "woken": [time(1, 2, 3), None, time(0), time(23, 59, 59), time(12), time(7, 30)],
            "a_name_of_more_than_thirty_ch": [0.5, 1.25, -3.0, np.nan, 1e300, 2.0],
        }
    )


PAIN = {1.0: "none", 2.0: "some", 3.0: "much", -9.0: "refused"}


def plain(value):
    """A cell of the library's own frame as a table has it: blank text and NaN are null."""
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)) or value == "":
        return None
    return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value


def same_cells(table, frame, labelled=()):
    """Every cell of a table is that of the library's own frame."""
    assert list(table.columns) == list(frame.columns)
    for name in frame.columns:
        cells = table.to_arrow([name])[name].to_pylist()
        if name not in labelled:
            assert cells == [plain(value) for value in frame[name]], name


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
def test_spss_value_by_value(tmp_path, survey, ending):
    file = tmp_path / f"survey{ending}"
    pyreadstat.write_sav(
        survey,
        file,
        compress=ending == ".zsav",
        column_labels={"pain": "How much pain?"},
        variable_value_labels={"pain": PAIN, "kids": {98.0: "does not know", 99.0: "no answer"}},
        missing_ranges={"pain": [-9.0], "kids": [{"lo": 97, "hi": 99}]},
        variable_measure={"pain": "ordinal", "kids": "scale"},
    )
    table = read_table(file)
    own, _ = pyreadstat.read_sav(file)  # with missing codes as NaN, and codes in place of labels
    same_cells(table, own, labelled=["pain"])
    labels = [PAIN.get(code) for code in own["pain"]]
    assert table.to_arrow(["pain"])["pain"].to_pylist() == labels == ["none", "some", "much", None, None, "some"]
    assert table.scale_of("pain") == "ordered"
    assert table.scales["pain"].levels == ("none", "some", "much")
    assert table.codebook.missing == {"pain": {"refused": 1}, "kids": {"does not know": 1, "no answer": 1}}
    assert table.codebook.descriptions == {"pain": "How much pain?"}
    assert len(table.notes) == 2


def test_stata_value_by_value_with_kinds_of_missing_values(tmp_path, survey):
    survey["pain"] = [1.0, 2.0, 3.0, "a", np.nan, "b"]
    labels = {1: "none", 2: "some", 3: "much", "a": "refused"}
    known = {"variable_value_labels": {"pain": labels}, "missing_user_values": {"pain": ["a", "b"]}}
    pyreadstat.write_dta(survey, tmp_path / "survey.dta", **known)
    table = read_table(tmp_path / "survey.dta")
    own, _ = pyreadstat.read_dta(tmp_path / "survey.dta")
    same_cells(table, own, labelled=["pain"])
    assert table.to_arrow(["pain"])["pain"].to_pylist() == ["none", "some", "much", None, None, None]
    assert table.codebook.missing == {"pain": {"refused": 1, ".b": 1}}


def test_sas_transport_value_by_value(tmp_path, survey):
    survey["a_name_of_more_than_thirty_ch"] = [0.5, 1.25, -3.0, np.nan, 1e60, 2.0]  # its doubles end near 1e75
    pyreadstat.write_xport(survey, tmp_path / "survey.xpt", file_format_version=8)
    own, _ = pyreadstat.read_xport(tmp_path / "survey.xpt")
    same_cells(read_table(tmp_path / "survey.xpt"), own)
    nulls = read_table(tmp_path / "survey.xpt", null="-9,98,Ulm")
    assert nulls.to_arrow(["kids"])["kids"].to_pylist() == [0, 2, None, 99, 1, 3]
    assert nulls.to_arrow(["town"])["town"].to_pylist()[0] is None
    assert nulls.codebook.missing["pain"] == {"-9": 1}
    single = read_table(tmp_path / "survey.xpt", null={"kids": "98-99", "pain": [-8]})
    assert single.to_arrow(["kids"])["kids"].to_pylist() == [0, 2, None, None, 1, 3]
    assert single.to_arrow(["pain"])["pain"].to_pylist()[3] == -9
    assert single.codebook.missing == {"kids": {"98": 1, "99": 1}}
    assert single.notes[-1] == "no cell of pain holds the missing code -8; check the stated codes"


def test_labels_of_a_catalogue_beside_a_sas_file(tmp_path, survey, monkeypatch):
    """No library here writes SAS's own files, so a transport file stands in for what is read of one."""
    pyreadstat.write_xport(survey, tmp_path / "survey.xpt", file_format_version=8)
    (tmp_path / "survey.sas7bdat").write_bytes((tmp_path / "survey.xpt").read_bytes())
    (tmp_path / "survey.sas7bcat").write_bytes(b"catalogue")

    def read(path, user_missing=True, **how):
        cells, meta = pyreadstat.read_xport(path, **how)
        meta.variable_to_label["pain"] = "PAINF"
        return cells, meta

    catalogue = SimpleNamespace(value_labels={"PAINF": PAIN})
    monkeypatch.setattr(pyreadstat, "read_sas7bdat", read)
    monkeypatch.setattr(pyreadstat, "read_sas7bcat", lambda path: (None, catalogue))
    table = read_table(tmp_path / "survey.sas7bdat")
    assert table.to_arrow(["pain"])["pain"].to_pylist() == ["none", "some", "much", "refused", None, "some"]


def test_portable_spss(tmp_path):
    path, _ = make_file(tmp_path, ".por")
    own, _ = pyreadstat.read_por(path)
    same_cells(read_table(path), own)


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_chunks_give_what_the_whole_gives(tmp_path, monkeypatch, ending):
    path, _ = make_file(tmp_path, ending)
    whole = read_table(path).to_arrow().to_pydict()
    monkeypatch.setattr(statistics_cells, "_FEWEST_ROWS", 7)
    monkeypatch.setattr(statistics_cells, "_BYTES_A_CELL", 10**12)
    assert read_table(path).to_arrow().to_pydict() == whole


@pytest.mark.parametrize("ending", [ending for ending in WRITERS if ending not in {".rds", ".RData", ".por"}])
def test_every_format_counts_the_same_classes(tmp_path, ending):
    path, options = make_file(tmp_path, ending)
    reference, _ = make_file(tmp_path, ".parquet")
    columns = ["age", "sex", "zip", "income", "born"]
    for size in (1, 2, 5):
        found = measure(read_table(path, **options), quasi_identifiers=columns[:size])
        expected = measure(reference, quasi_identifiers=columns[:size])
        assert {**found.to_dict(), "notes": []} == expected.to_dict()


def test_past_the_memory_limit_the_database_gives_the_same_values(tmp_path, survey):
    """Labels, whole numbers and dates are converted in SQL as they are in Arrow."""
    file = tmp_path / "survey.sav"
    pyreadstat.write_sav(survey, file, variable_value_labels={"pain": {**PAIN, 2.0: "it's"}})
    table = read_table(file)
    columns = ["pain", "kids", "born", "seen", "woken"]
    grouped = table.lazy(columns).collect("pyarrow").to_native()
    for place, name in enumerate(columns):
        assert grouped.column(place).to_pylist() == table.to_arrow([name])[name].to_pylist(), name


def test_two_codes_with_one_label_stay_apart_and_partly_labelled_numbers_stay_numbers(tmp_path):
    frame = pd.DataFrame({"job": [1.0, 2.0, 3.0], "age": [0.0, 41.0, 95.0]})
    labels = {"job": {1.0: "other", 2.0: "other", 3.0: "nurse"}, "age": {95.0: "95 or older"}}
    pyreadstat.write_sav(frame, tmp_path / "jobs.sav", variable_value_labels=labels)
    table = read_table(tmp_path / "jobs.sav")
    assert table.to_arrow().to_pydict() == {"job": ["other (1)", "other (2)", "nurse"], "age": [0, 41, 95]}
    assert "only some values have labels" in table.notes[1]


def test_a_file_that_lost_rows_is_refused(tmp_path, monkeypatch):
    path, _ = make_file(tmp_path, ".sav")
    whole = pyreadstat.read_sav

    def short(*given, **how):
        cells, meta = whole(*given, **how)
        return {name: values[:-1] for name, values in cells.items()}, meta

    monkeypatch.setattr(
        pyreadstat, "read_sav", lambda *a, **k: whole(*a, **k) if "metadataonly" in k else short(*a, **k)
    )
    with pytest.raises(InputError, match="cut short: 59 of its 60 rows"):
        read_table(path)


def test_without_the_extra_the_message_names_it(tmp_path, monkeypatch):
    path, _ = make_file(tmp_path, ".sav")
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"pip install 'incrowd\[stats\]'"):
        read_table(path)


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta", ".xpt"])
def test_a_protected_file_goes_back_in_its_own_format(tmp_path, ending):
    frame = people(200).drop(columns="name").assign(age=lambda table: table["age"] // 30)
    path = tmp_path / f"people{ending}"
    labels = {} if ending == ".xpt" else {"variable_value_labels": {"sex": LABELS}}
    {".xpt": pyreadstat.write_xport, ".dta": pyreadstat.write_dta}.get(ending, pyreadstat.write_sav)(
        frame, path, column_labels={"sex": "Sex of the person"}, **labels
    )
    safe = protect(path, quasi_identifiers=["age", "sex"], k=5, identifiers=["zip", "born"])
    out = write_protected(safe, tmp_path / f"safe{ending}")
    again = read_table(out)
    assert measure(again, quasi_identifiers=["age", "sex"]).k >= 5
    before = safe.table.to_pydict()
    assert {name: [str(cell) for cell in cells] for name, cells in again.to_arrow().to_pydict().items()} == {
        name: [str(cell) for cell in cells] for name, cells in before.items()
    }
    assert again.codebook.descriptions == {"sex": "Sex of the person"}
    if ending != ".xpt":
        assert set(again.codebook.value_labels["sex"].values()) == set(before["sex"])
        assert again.codebook.unused_labels == ()


def test_labels_that_no_cell_has_are_not_written(tmp_path):
    table = pa.table({"sex": ["male", "{male,female}", None]})
    write_table(table, tmp_path / "x.sav", codebook=FileCodebook(value_labels={"sex": {**LABELS, 9.0: PAIN[-9.0]}}))
    _, meta = pyreadstat.read_sav(tmp_path / "x.sav")
    assert meta.variable_value_labels == {"sex": {1.0: "male", 10.0: "{male,female}"}}


def test_labels_too_long_for_a_format_are_written_as_text(tmp_path):
    long = "{" + ",".join(f"level {number}" for number in range(30)) + "}"
    table = pa.table({"sex": ["male", long]})
    write_table(table, tmp_path / "x.sav", codebook=FileCodebook(value_labels={"sex": LABELS}))
    assert read_table(tmp_path / "x.sav").to_arrow().to_pydict() == {"sex": ["male", long]}


@pytest.mark.parametrize(("letter", "length", "kept"), [("e", 80, 80), ("é", 80, 80), ("é", 81, 79), ("e", 206, 79)])
def test_a_description_too_long_for_stata_is_shortened(tmp_path, letter, length, kept):
    known = FileCodebook(descriptions={"age": letter * length})  # files of other programs hold longer ones
    write_table(pa.table({"age": [1, 2]}), tmp_path / "x.dta", codebook=known)
    again = read_table(tmp_path / "x.dta")
    assert again.codebook.descriptions == {"age": letter * kept + "…" * (kept < length)}
    assert again.to_arrow().to_pydict() == {"age": [1, 2]}


def test_a_full_disk_is_no_fault_of_the_columns(tmp_path, monkeypatch):
    def full(*_, **__):
        raise pyreadstat.ReadstatError("Unable to write data")  # as it says on a disk that is full

    monkeypatch.setattr(pyreadstat, "write_dta", full)
    with pytest.raises(InputError, match=r"cannot write .*x\.dta: the disk may be full"):
        write_table(pa.table({"age": [1]}), tmp_path / "x.dta")
    assert list(tmp_path.iterdir()) == []


def test_what_a_format_cannot_hold_is_refused_without_a_cell(tmp_path):
    with pytest.raises(InputError, match="cannot hold the name of 'a b';") as refused:
        write_table(pa.table({"age": [1], "a b": ["Zaphod"]}), tmp_path / "x.dta")
    assert "Zaphod" not in str(refused.value)
    with pytest.raises(InputError, match="'visits' holds list"):
        write_table(pa.table({"visits": [[1]]}), tmp_path / "x.sav")
    assert list(tmp_path.iterdir()) == []


def test_conversions_of_columns():
    days = TemporalConversion("date", 86_400.0, stata.PACKAGE.origin)
    assert days.convert(pa.array([0.0, None, 21_915.0])).to_pylist() == [date(1960, 1, 1), None, date(2020, 1, 1)]
    seconds = TemporalConversion("timestamp", 1.0, spss.PACKAGE.origin)
    assert seconds.convert(pa.array([13_200_552_306.0])).to_pylist() == [datetime(2001, 2, 3, 4, 5, 6)]
    assert not days.fits(-1e9, 0)
    assert not TemporalConversion("time", 1.0, stata.PACKAGE.origin).fits(0, 90_000)
    assert WholeConversion().convert(pa.array([1.0, None])).to_pylist() == [1, None]
    assert LabelConversion({1.0: "a"}, pa.float64()).convert(pa.array([1.0, None])).to_pylist() == ["a", None]


def test_r_value_by_value(tmp_path):
    frame = pd.DataFrame(
        {
            "age": [30, 41, 25],
            "income": [1.5, None, 2.25],
            "pain": pd.Categorical(["some", "none", "some"], categories=["none", "some"]),
            "town": pd.Series(["Ulm", None, "Żary"], dtype=object),
            "smokes": [True, False, True],
        }
    )
    rdata.write_rds(tmp_path / "people.rds", frame)
    table = read_table(tmp_path / "people.rds")
    own = rdata.read_rds(tmp_path / "people.rds")
    for name in own.columns:
        expected = [None if pd.isna(value) else value for value in own[name]]
        assert table.to_arrow([name])[name].to_pylist() == expected, name
    assert table.scale_of("pain") == "nominal"


@pytest.mark.parametrize("case", ["dataframe_dtypes_with_na", "dataframe_float_with_na_nan", "dataframe_rownames"])
@pytest.mark.parametrize("kind", ["xdr", "ascii"])
def test_files_that_r_wrote(tmp_path, case, kind):
    """The library carries files that R itself wrote, with its missing values."""
    source = rdata.TESTDATA_PATH / "generated" / f"test_{case}__{kind}__version_3.rds"
    if not source.is_file():
        pytest.skip("this version of rdata does not carry its test files")
    (tmp_path / "t.rds").write_bytes(source.read_bytes())
    own = rdata.read_rds(tmp_path / "t.rds")
    table = read_table(tmp_path / "t.rds")
    kept = [name for name in own.columns if name != "complex"]
    assert table.to_arrow().to_pydict() == {
        name: [None if pd.isna(cell) else cell for cell in own[name]] for name in kept
    }
    assert table.notes == (("set aside, because they are no plain vectors: complex",) if "complex" in own else ())


def test_classes_of_r_vectors():
    """Factors, dates, times and labelled codes as R stores them: numbers with attributes."""
    codes = np.ma.masked_array([1, 2, 0], mask=[False, False, True])
    labels = xarray.DataArray([1.0, 2.0], dims=["dim_0"], coords={"dim_0": ["yes", "no"]})
    frame = r_data._Frame(
        {
            "sex": r_data._Factor(codes, {"levels": ["f", "m"]}),
            "pain": r_data._OrderedFactor(codes, {"levels": ["low", "high"]}),
            "born": r_data._Days(np.array([0.0, 18_262.0, np.nan]), {}),
            "seen": r_data._Seconds(np.array([0.0, 1.5, np.nan]), {"tzone": ["UTC"]}),
            "vote": r_data._Labelled(np.array([1.0, 2.0, np.nan]), {"labels": labels, "label": ["Did you vote?"]}),
        },
        {},
    )
    contents = r_data._contents(frame, "t.rds")
    assert contents.rows.to_pydict() == {
        "sex": ["f", "m", None],
        "pain": ["low", "high", None],
        "born": [date(1970, 1, 1), date(2020, 1, 1), None],
        "seen": [datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC), None],
        "vote": ["yes", "no", None],
    }
    assert contents.codebook.scales == {"pain": Scale("ordered", ("low", "high"))}
    assert contents.codebook.descriptions == {"vote": "Did you vote?"}
    assert contents.codebook.value_labels == {"vote": {1.0: "yes", 2.0: "no"}}


@pytest.mark.parametrize("codes", [[0, 1], [1, 3]])
def test_a_factor_with_a_code_that_has_no_level_is_refused(codes):
    frame = r_data._Frame({"sex": r_data._Factor(np.array(codes), {"levels": ["f", "m"]})}, {})
    with pytest.raises(InputError, match="'sex' holds values that do not fit its class"):
        r_data._contents(frame, "t.rds")


def test_an_r_file_with_several_frames_lists_them(tmp_path):
    frame = pd.DataFrame({"age": [30, 41]})
    rdata.write_rda(tmp_path / "all.RData", {"one": frame, "numbers": [1.0, 2.0], "two": frame})
    with pytest.raises(InputError, match="holds 2 data frames; ask for one of: one, two") as error:
        read_table(tmp_path / "all.RData")
    assert (error.value.hint, error.value.choices) == (("sheet",), ("one", "two"))
    two = read_table(tmp_path / "all.RData", sheet="two")
    assert (two.rows, two.members) == (2, ("one", "two"))
    rdata.write_rds(tmp_path / "numbers.rds", [1.0, 2.0])
    with pytest.raises(InputError, match="holds no data frame"):
        read_table(tmp_path / "numbers.rds")


@pytest.mark.parametrize(
    ("cells", "how"),
    [
        ([1.0, 2.0], {"variable_value_labels": {"sex": {1.0: "female", 2.0: "male"}}}),
        ([1.0, 2.0], {}),
        ([1.0, 2.0], {"missing_ranges": {"sex": [2.0]}}),
        ([1.0, 2.0], {"variable_format": {"sex": "DATE11"}}),
        ([1.0, 2.0], {"variable_measure": {"sex": "ordinal"}}),
        (["1", "2"], {"variable_value_labels": {}}),
    ],
    ids=["swapped labels", "no labels", "missing", "date", "measure", "text"],
)
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_files_of_one_table_whose_codes_stand_for_other_things_are_refused(tmp_path, cells, how, order):
    usual = {"variable_value_labels": {"sex": {1.0: "male", 2.0: "female"}}, "variable_measure": {"sex": "nominal"}}
    other = {**usual, **how} if how else {"variable_measure": usual["variable_measure"]}
    parts = tmp_path / "parts"
    parts.mkdir()
    pyreadstat.write_sav(pd.DataFrame({"sex": [1.0, 2.0]}), parts / f"{order[0]}.sav", **usual)
    pyreadstat.write_sav(pd.DataFrame({"sex": cells}), parts / f"{order[1]}.sav", **other)
    with pytest.raises(InputError, match=r"b\.sav are not those of the first file: sex"):
        read_table(parts)


def test_files_of_one_table_may_differ_in_widths_and_decimals(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    for file, town, width in (("a.sav", "Ulm", "F8.2"), ("b.sav", "x" * 300, "F4.0")):
        frame = pd.DataFrame({"town": [town], "age": [30.0]})
        pyreadstat.write_sav(frame, parts / file, variable_format={"age": width})
    assert read_table(parts).to_arrow().to_pydict() == {"town": ["Ulm", "x" * 300], "age": [30, 30]}


def test_sas_files_of_one_table_with_different_catalogues_are_refused(tmp_path, monkeypatch):
    for file in ("a.sas7bdat", "b.sas7bdat"):
        (tmp_path / file).write_text("not read before its labels are compared")
    catalogues = {"a": {"SEX": {1.0: "male", 2.0: "female"}}, "b": {"SEX": {1.0: "female", 2.0: "male"}}}
    monkeypatch.setattr(sas, "_labels_beside", lambda file: catalogues[file.stem])
    with pytest.raises(InputError, match="catalogues with different labels"):
        read_table(tmp_path)
