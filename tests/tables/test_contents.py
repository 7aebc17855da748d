"""What cells say by themselves, under a name that says nothing: codes, places, births, names."""

import base64
import hashlib
import json
import string

import numpy as np
import pytest

from incrowd import read_table
from incrowd.tables import suggest_roles
from incrowd.tables.roles.check_digits import have_check_digits

VALUES, ROWS = 300, 900
FIRST = ["Anna", "Jan", "Maria", "Peter", "Eva", "Luis", "Paul", "Olga", "Hugo", "Lena"]
LAST = [
    "Kowalski",
    "Nowak",
    "Schneider",
    "Fischer",
    "Garcia",
    "Lopez",
    "Dubois",
    "Moreau",
    "Wojcik",
    "Kaminski",
    "Koch",
]


def digits(draw, count):
    return "".join(draw.choice(list("0123456789"), count))


def letters(draw, count, among=string.ascii_uppercase):
    return "".join(draw.choice(list(among), count))


def luhn(code):
    total = sum(digit * 2 - 9 * (digit > 4) for digit in map(int, code[-1::-2])) + sum(map(int, code[-2::-2]))
    return f"{code}{-total % 10}"


def weighted(code, weights, modulus):
    return f"{code}{-sum(weight * int(digit) for weight, digit in zip(weights, code, strict=True)) % modulus % 10}"


def weigh(code):
    return sum(weight * int(digit) for weight, digit in zip(range(10, 1, -1), code, strict=True))


def with_letter(number):
    return f"{number:08}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


CHECKED = {
    "cards": lambda draw: luhn(f"4{digits(draw, 14)}"),
    "weights 1, 3, 7, 9": lambda draw: weighted(digits(draw, 10), [9, 7, 3, 1] * 2 + [9, 7], 10),
    "weights from 10 to 2, the remainder 10 written as 0": lambda draw: weighted(digits(draw, 9), range(10, 1, -1), 11),
    "a letter for the remainder of 23": lambda draw: with_letter(int(draw.integers(10**7, 10**8))),
    "two digits for the remainder of 97": lambda draw: f"{(one := digits(draw, 13))}{97 - int(one) % 97:02}",
    "blanks and points": lambda draw: f"756.{(one := luhn(digits(draw, 8)))[:4]} {one[4:]}",
}
CERTAIN = CHECKED | {
    "numbers of devices": lambda draw: ":".join(f"{one:02x}" for one in draw.bytes(6)),
    "long internet addresses": lambda draw: ":".join(f"{one:x}" for one in draw.integers(0, 65_536, 8)),
    "accounts in small letters": lambda draw: (
        f"de{digits(draw, 2)} {digits(draw, 4)} {digits(draw, 4)} {digits(draw, 4)}"
    ),
    "accounts on the internet": lambda draw: f"@{letters(draw, 5).lower()}_{digits(draw, 2)}",
    "coordinates": lambda draw: f"{52 + draw.random():.5f}, {13 + draw.random():.5f}",
    "points": lambda draw: f"POINT({13 + draw.random():.5f} {52 + draw.random():.5f})",
    "degrees": lambda draw: f"52°{draw.integers(0, 60)}'{draw.integers(0, 60)}\"N 13°{draw.integers(0, 60)}'7\"E",
    "open location codes": lambda draw: f"9F4M{letters(draw, 4, '23456789CFGHJMPQRVWX')}+2X",
    "random strings": lambda draw: base64.b64encode(hashlib.md5(draw.bytes(8)).digest()).decode(),
    "files": lambda draw: f"scan_{draw.choice(FIRST).lower()}_{draw.choice(LAST).lower()}{draw.integers(0, 9)}.pdf",
    "pages": lambda draw: f"https://example.org/{draw.choice(FIRST).lower()}-{draw.choice(LAST).lower()}",
    "records": lambda draw: json.dumps({"n": f"{draw.choice(FIRST)} {draw.choice(LAST)}", "v": int(draw.integers(9))}),
    "sentences": lambda draw: f"Called {draw.choice(FIRST)} {draw.choice(LAST)} at {draw.integers(8, 18)} o'clock",
}
POSSIBLE = {
    "surnames": lambda draw: str(draw.choice(LAST)),
    "plates": lambda draw: f"{letters(draw, 2)}-{digits(draw, 3)}-{letters(draw, 2)}",
    "numbers of staff": lambda draw: f"EMP-{digits(draw, 5)}",
    "short hashes": lambda draw: hashlib.sha1(draw.bytes(8)).hexdigest()[:8],
    "places in short": lambda draw: f"u33{letters(draw, 5, '0123456789bcdefghjkmnpqrstuvwxyz')}",
    "records without names": lambda draw: json.dumps({"u": int(draw.integers(10**6)), "v": int(draw.integers(9))}),
    "books": lambda draw: weighted(f"978{digits(draw, 9)}", [1, 3] * 6, 10),
    "older books": lambda draw: f"{(one := digits(draw, 9))}{'0123456789X'[-weigh(one) % 11]}",
    "pages by number": lambda draw: f"https://example.org/u/{digits(draw, 6)}",
}


def suggested(form, seed=0):
    draw = np.random.default_rng(seed)
    values = np.array([form(draw) for _ in range(VALUES)])
    (found,) = suggest_roles(read_table({"x": values[draw.integers(0, VALUES, ROWS)]}))
    return found


@pytest.mark.parametrize("form", CERTAIN)
def test_cells_that_name_people_or_their_things_are_identifiers_for_sure(form):
    found = suggested(CERTAIN[form])
    assert (found.role, found.confidence) == ("identifier", "high")


@pytest.mark.parametrize("form", POSSIBLE)
def test_cells_that_may_name_people_are_left_to_a_person(form):
    found = suggested(POSSIBLE[form])
    assert (found.role, found.confidence) == ("identifier", "medium")


@pytest.mark.parametrize("form", CHECKED)
def test_check_digits_are_found_in_whole_numbers_and_among_mistyped_codes(form):
    draw = np.random.default_rng(1)
    codes = [CHECKED[form](draw) for _ in range(200)]
    mistyped = [f"{code[:3]}{(int(code[4]) + 1) % 10 if code[4].isdigit() else 0}{code[4:]}" for code in codes[:4]]
    assert have_check_digits([*mistyped, *codes[4:]])
    assert not have_check_digits([code[:-1] + str(draw.integers(10)) for code in codes])
    if all(code.isdigit() and code[0] != "0" for code in codes):
        (found,) = suggest_roles(read_table({"x": np.repeat([int(code) for code in codes], 2)}))
        assert (found.role, found.confidence) == ("identifier", "high")


@pytest.mark.parametrize("number", [2, 6, 12])
def test_check_digits_are_found_after_a_few_prefixes_and_nothing_where_there_are_none(number):
    draw = np.random.default_rng(0)
    prefixes = ["411111", "550022", *(digits(draw, 6) for _ in range(10))][:number]
    bodies = [prefixes[row % number] + digits(draw, 9) for row in range(400)]
    assert have_check_digits(map(luhn, bodies))
    assert not have_check_digits(bodies)


@pytest.mark.parametrize("step", [1, 5, 7, 11, 97])
def test_numbers_given_out_in_order_have_no_check_digit(step):
    assert not have_check_digits(str(number) for number in range(30_000_000, 30_000_000 + 400 * step, step))


@pytest.mark.parametrize(("questions", "answers"), [(10, 4), (9, 5), (12, 3)])
def test_answers_that_their_sum_follows_have_no_check_digit(questions, answers):
    given = np.random.default_rng(3).integers(0, answers, (300, questions))
    assert not have_check_digits("".join(map(str, row)) + f"{row.sum():02}" for row in given)


def test_dates_and_articles_have_no_check_digit_of_people():
    days = np.datetime64("1950-01-01") + np.arange(0, 20_000, 60)
    assert not have_check_digits(str(day) for day in days)
    draw = np.random.default_rng(2)
    articles = [weighted(digits(draw, 12), [1, 3] * 6, 10) for _ in range(60)]
    (found,) = suggest_roles(read_table({"x": draw.choice(articles, 3_000)}))
    assert found.role != "identifier"


OTHERS = {
    "codes of few things": lambda draw: f"{'ABCDEF'[draw.integers(6)]}-{draw.integers(1_000, 1_060)}",
    "body mass": lambda draw: f"{draw.integers(1_500, 4_500) / 100:.2f} kg/m²",
    "nested brackets": lambda draw: "[" * 1_500 + str(draw.integers(10**6)),
    "versions": lambda draw: f"{draw.integers(3)}.{draw.integers(6)}.{draw.integers(4)}",
    "blood pressure": lambda draw: f"{draw.integers(90, 180)}/{draw.integers(50, 110)}",
    "quarters of an hour": lambda draw: f"{draw.integers(24):02}:{draw.integers(4) * 15:02}",
    "towns": lambda draw: str(
        draw.choice(["Hamburg", "Bremen", "Lublin", "Lyon", "Nantes", "Sevilla", "Gent", "Bern", "Graz", "Linz"])
    ),
    "makes": lambda draw: str(
        draw.choice(["Toyota", "Renault", "Peugeot", "Skoda", "Audi", "Fiat", "Volvo", "Mazda", "Honda", "Opel"])
    ),
}


AMOUNTS_AND_SPANS = {
    "multiples of 11": lambda draw: str(11 * draw.integers(10**7, 9 * 10**7)),
    "amounts with a tenth of tax": lambda draw: f"{11 * draw.integers(10**6, 9 * 10**6) / 100:.2f}",
    "seasons": lambda draw: f"{(year := draw.integers(1700, 2400))}-{year + 1}",
    "spans of months": lambda draw: (
        f"{(year := draw.integers(1900, 2100))}-{(month := draw.integers(1, 13)):02}/{year + 1}-{month:02}"
    ),
}


@pytest.mark.parametrize("form", AMOUNTS_AND_SPANS)
def test_amounts_with_tax_and_spans_have_no_check_digit(form):
    draw = np.random.default_rng(5)
    assert not have_check_digits([AMOUNTS_AND_SPANS[form](draw) for _ in range(400)])
    assert suggested(AMOUNTS_AND_SPANS[form]).confidence != "high"


@pytest.mark.parametrize("form", OTHERS)
def test_other_codes_and_words_are_not_taken_for_people(form):
    assert suggested(OTHERS[form]).role != "identifier"


def test_days_over_a_life_are_births_whatever_their_form_and_those_of_a_career_are_not():
    draw = np.random.default_rng(3)
    for years, topic in ((70, "birth"), (35, "date")):
        days = np.datetime64("1942-01-01") + draw.integers(0, 365 * years, ROWS)
        texts = [str(day) for day in days]
        forms = (
            days,
            texts,
            [f"{one[8:]}.{one[5:7]}.{one[:4]}" for one in texts],
            [int(one.replace("-", "")) for one in texts],
        )
        for cells in forms:
            for name in ("x", "datum"):
                (found,) = suggest_roles(read_table({name: cells}))
                assert (found.topic, found.exact) == (topic, topic == "birth")
