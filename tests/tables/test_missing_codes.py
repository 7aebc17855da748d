"""Missing codes of a whole file and of single columns, from text to the profile."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import run

from incrowd import read_table
from incrowd.assessment.question import Question
from incrowd.assessment.settings_file import file_of, from_toml
from incrowd.errors import InputError
from incrowd.tables.formats import delimited
from incrowd.tables.missing_codes import ColumnCodes, MissingCodes

pytestmark = pytest.mark.usefixtures("no_child_processes")

TEXT = "age,kids,income\n30,97,.\n-9,98,1200\n98,-9,.\n41,2,NA\n"
STATED = {"age": [-9, "97-99"], "income": "."}


@pytest.fixture
def people(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text(TEXT)
    return file


def test_a_code_of_one_column_is_a_value_in_the_others(people):
    table = read_table(people, null=STATED)
    assert table.to_arrow().to_pydict() == {
        "age": [30, None, None, 41],
        "kids": [97, 98, -9, 2],
        "income": [None, 1200, None, None],  # NA, as in every column of numbers
    }
    assert table.codebook.missing == {"age": {"-9": 1, "97-99": 1}, "income": {".": 2}}
    assert table.reading == {"null": "age=-9,97-99;income=."}


def test_types_are_found_without_the_codes_and_a_text_may_be_a_code(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age,town\nrefused,Ulm\n30,unknown\n41,refused\n97-99,Bonn\n")
    assert read_table(file, null="age=refused,97-99;town=unknown").to_arrow().to_pydict() == {
        "age": [None, 30, 41, None],
        "town": ["Ulm", None, "refused", "Bonn"],
    }


def test_both_kinds_at_once_and_several_files(tmp_path):
    for place, text in enumerate(["a,b\n-9,x\n1,-9\n", "a,b\n3,x\n-9,7\n"]):
        (tmp_path / f"part{place}.csv").write_text(text)
    table = read_table(str(tmp_path / "part*.csv"), null=["x", "a=-9"])
    assert table.to_arrow().to_pydict() == {"a": [None, 1, 3, None], "b": [None, -9, None, 7]}
    assert table.codebook.missing == {"a": {"-9": 2}}


NUMBERS = {"hiv": [-1.0, 0.0, 1.0, -1.0], "score": [999.0, 2.5, 3.0, -1.0]}


def number_file(tmp_path, ending):
    """A file of floats, with a layout if it needs one."""
    frame, file = pd.DataFrame(NUMBERS), tmp_path / f"people{ending}"
    if ending == ".dta":
        pyreadstat.write_dta(frame, str(file))
        return {"source": file}
    if ending == ".dat":
        lines = [f"{hiv:5}{score:7}\n" for hiv, score in zip(*NUMBERS.values(), strict=True)]
        file.write_text("".join(lines))
        (tmp_path / "layout.csv").write_text("name,start,end\nhiv,1,5\nscore,6,12\n")
        return {"source": file, "layout": tmp_path / "layout.csv"}
    frame.to_csv(file, index=False)
    return {"source": file}


@pytest.mark.parametrize("ending", [".csv", ".dat", ".dta"])
@pytest.mark.parametrize(
    ("hiv", "score"), [("-1", "999"), ("-1.0", "999.0"), ("-1.00", "9.99e2")], ids=["whole", "as written", "otherwise"]
)
def test_a_code_that_is_a_number_is_every_notation_of_it(tmp_path, ending, hiv, score):
    file = number_file(tmp_path, ending)
    table = read_table(**file, null={"hiv": hiv, "score": score})
    assert table.to_arrow().to_pydict() == {"hiv": [None, 0, 1, None], "score": [None, 2.5, 3, -1]}
    assert not [note for note in table.notes if "holds the missing code" in note]
    assert sum(table.codebook.missing["hiv"].values()) == 2
    both = read_table(**file, null=hiv).to_arrow().to_pydict()  # in every column
    assert both == {"hiv": [None, 0, 1, None], "score": [999, 2.5, 3, None]}


def test_notations_of_a_code_in_whole_numbers_commas_and_several_files(tmp_path):
    (tmp_path / "part0.csv").write_text("a;b;c\n-1;-1,00;1.000,5\n2;0,5;1.000,0\n")
    (tmp_path / "part1.csv").write_text("a;b;c\n-1;-1;1\n3;-1,0;2,5\n")
    table = read_table(str(tmp_path / "part*.csv"), null="a=-1.0,-1.5;b=-1;c=1,1000")
    assert table.to_arrow().to_pydict() == {
        "a": [None, 2, None, 3],
        "b": [None, 0.5, None, None],
        "c": [1000.5, None, None, 2.5],
    }
    assert table.codebook.missing == {"a": {"-1.0": 2}, "b": {"-1": 3}, "c": {"1": 1, "1000": 1}}


def test_a_code_of_a_text_column_is_that_text_only(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("icd,number\n250.0,999999999999999999\n250.00,999999999999999998\nV10,1\n250,2\n")
    table = read_table(file, null="icd=250.0;number=999999999999999999.0,1e18")
    assert table.to_arrow().to_pydict() == {
        "icd": [None, "250.00", "V10", "250"],
        "number": [999999999999999999, 999999999999999998, 1, 2],  # of which a double keeps no last digit
    }
    assert read_table(file, null="250").to_arrow()["icd"].to_pylist() == ["250.0", "250.00", "V10", None]


def test_the_suggested_code_works(tmp_path, capsys):
    file = tmp_path / "people.csv"
    pd.DataFrame({"hiv": [-1.0, 0.0, 1.0, None] * 30, "age": [30, 40, 50, 60] * 30}).to_csv(file, index=False)
    asked = ["assess", file, "--qi", "age", "--sensitive", "hiv", "--rows-are-people"]
    assert "--null hiv=-1" in run(capsys, *asked)[2]
    _, _, messages = run(capsys, *asked, "--null", "hiv=-1")
    assert "missing code" not in messages
    assert "may stand for missing values" not in messages


def test_a_code_that_does_not_occur_is_told(people):
    notes = read_table(people, null={"kids": ["97-98", "7", "1-1"]}).notes
    assert "no cell of kids holds the missing code 7, 1-1; check the stated codes" in notes


def test_another_encoding_does_not_count_codes_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 1 << 16)
    file = tmp_path / "people.csv"
    line = f"-9,{'Ulm' * 70}\n"
    file.write_bytes(f"age,town\n{line * 2_000}30,Köln\n".encode("cp1252"))  # UTF-8 up to its last line
    table = read_table(file, null="age=-9")
    assert table.notes[0].startswith("the file is not UTF-8")
    assert table.codebook.missing == {"age": {"-9": 2_000}}


@pytest.mark.parametrize("stated", ["nobody=-9", "age=", "=-9", {"age": []}, "age=5-1", "age=-1--3"])
def test_what_cannot_be_meant_is_refused(people, stated):
    with pytest.raises(InputError):
        read_table(people, null=stated)


def test_a_member_of_a_zip_file_that_has_no_texts_refuses_codes(tmp_path):
    import zipfile

    import pyarrow.parquet as pq

    pq.write_table(pa.table({"age": [-9, 30]}), tmp_path / "people.parquet")
    with zipfile.ZipFile(tmp_path / "people.zip", "w") as packed:
        packed.write(tmp_path / "people.parquet", "people.parquet")
    with pytest.raises(InputError, match="the option 'null' is for"):
        read_table(tmp_path / "people.zip", null="age=-9")


def test_the_question_the_command_and_the_settings_file_carry_them(people):
    asked = Question().about(read_table(people, null=STATED))
    assert asked.null == "age=-9,97-99;income=."
    assert asked.named == ("people.csv", "--null", "age=-9,97-99", "--null", "income=.")
    saved = f"[table]\nfile = {json.dumps(file_of(asked))}\n"
    assert from_toml(saved).null == asked.null


def test_the_command_line_repeats_the_option_and_the_profile_tells_them(people, capsys):
    stated = ["--null", "NA", "--null", "age=-9,97-99", "--null", "kids=-9"]
    code, output, _ = run(capsys, "profile", people, *stated)
    assert code == 0
    assert "Missing in age: -9 (1), 97-99 (1)." in output
    assert " ".join(stated) in output
    code, _, messages = run(capsys, "profile", people, "--null", "nobody=-9")
    assert (code, "no column named 'nobody'" in messages) == (2, True)


codes = st.lists(
    st.one_of(st.integers(-9, 12).map(str), st.tuples(*[st.integers(-9, 12)] * 2).map("{0[0]}-{0[1]}".format)),
    min_size=1,
    max_size=4,
    unique=True,
)


def in_words(cell, code):
    """The meaning of a code, in plain Python."""
    if cell == code:
        return True
    parts = code[1:].split("-", 1)
    if len(parts) == 1:
        return False
    low, high = int(code[0] + parts[0]), int(parts[1])
    return cell.lstrip("-").isdigit() and low <= int(cell) <= high


@given(codes, st.lists(st.sampled_from([*map(str, range(-9, 13)), "x", ".", "1-3"]), max_size=20))
def test_texts_and_numbers_are_blanked_as_in_plain_python(stated, cells):
    counted = ColumnCodes({"a": stated})
    found = counted.blank("a", pa.array(cells, pa.string())).to_pylist()
    assert found == [None if any(in_words(cell, code) for code in stated) else cell for cell in cells]
    assert sum(counted.counts["a"].values()) == found.count(None)
    numbers = [int(cell) for cell in cells if cell.lstrip("-").isdigit()]
    typed = ColumnCodes({"a": [*stated, "x"]}).blank("a", pa.array(np.array(numbers, float))).to_pylist()
    assert typed == [None if any(in_words(str(one), code) for code in stated) else one for one in numbers]


@given(st.text("ab=,;- 9"))
def test_what_is_parsed_is_written_and_parsed_again(text):
    try:
        parsed = MissingCodes.parse(text)
    except InputError:
        return
    assert MissingCodes.parse(str(parsed)) == parsed
