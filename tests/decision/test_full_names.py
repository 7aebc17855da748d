"""Full names in languages without a word list are found by their structure; towns, occupations and streets are not."""

import numpy as np
import pytest

from incrowd import read_table, suggest_roles
from incrowd.assessment import Question, find_release, judge_release

DRAW = np.random.default_rng(8)
ROWS = 600
FINNISH = (
    "Matti Timo Juha Kari Mikko Antti Aino Helmi Tuula Anneli Päivi Riitta Jukka Pekka Seppo Ilkka Liisa Sari Minna",
    "Virtanen Korhonen Nieminen Mäkinen Laine Heikkinen Koskinen Järvinen Lehtonen Saarinen Salminen Niemi Salo",
)
TURKISH = (
    "Mehmet Ayşe Fatma Mustafa Emine Ahmet Zeynep Hüseyin Hatice İbrahim Elif Murat Özlem Yusuf Meryem Osman Kemal",
    "Yılmaz Kaya Demir Çelik Şahin Yıldız Öztürk Aydın Özdemir Arslan Doğan Kılıç Aslan Çetin Kara Koç Kurt Polat",
)
HUNGARIAN = (
    "Kovács Szabó Tóth Nagy Horváth Varga Kiss Molnár Németh Farkas Balogh Papp Takács Juhász Lakatos Oláh Simon Rácz",
    "János István Éva Katalin Zoltán László Ildikó Ágnes József Ferenc Sándor Mária Erzsébet Ilona Gábor Attila Judit",
)
RUSSIAN = (
    "Петров Иванов Смирнова Кузнецова Попов Волков Соколова Лебедев Козлов Новикова Морозов Павлова Семёнов Голубев",
    "Иван Сергей Ольга Наталья Дмитрий Елена Татьяна Алексей Андрей Мария Светлана Юрий Галина Владимир Николай",
)
INDIAN = (
    "Rahul Priya Amit Sunita Rajesh Anjali Vikram Deepa Sanjay Kavita Arun Meena Suresh Lakshmi Ravi Pooja Manoj Neha",
    "Sharma Patel Gupta Reddy Iyer Nair Das Bose Singh Kumar Verma Mehta Joshi Rao Pillai Mukherjee Desai Kulkarni",
)
ARABIC = (
    "محمد أحمد فاطمة علي خديجة عمر زينب حسن مريم يوسف سعيد نور",
    "العلي الحسن المصري الخطيب السيد حداد منصور الأحمد النجار شاهين عبدالله الشامي",
)
HINDI = (
    "राहुल प्रिया अमित सुनीता राजेश अंजलि विक्रम दीपा संजय कविता अरुण मीना",
    "शर्मा पटेल गुप्ता रेड्डी अय्यर नायर दास बोस सिंह कुमार वर्मा मेहता",
)
LANGUAGES = [FINNISH, TURKISH, HUNGARIAN, RUSSIAN, INDIAN, ARABIC, HINDI]


def combined(first, last, rows=ROWS):
    first, last = first.split(), last.split()
    return [f"{DRAW.choice(first)} {DRAW.choice(last)}" for _ in range(rows)]


def suggested(cells, name="region"):
    (one,) = suggest_roles(read_table({name: cells}))
    return one


def table_of(cells):
    return {
        "age": DRAW.integers(18, 22, len(cells)),
        "sex": DRAW.choice(["m", "f"], len(cells)),
        "illness": DRAW.choice(["flu", "asthma", "diabetes", "none"], len(cells)),
        "region": cells,
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_full_names_are_no_yes_under_any_role(language):
    cells = combined(*language)
    found = suggested(cells)
    assert (found.role, found.confidence, found.names_people) == ("identifier", "high", True)
    table = table_of(cells)
    asked = {"quasi_identifiers": ["age", "sex"], "sensitive": ["illness"], "rows_are_people": True}
    verdict = judge_release(table, Question(**asked, other=["region"]))
    assert verdict.decision == "exposed"
    assert any("region names people" in one for one in verdict.exposures)
    asked["quasi_identifiers"] = ["age", "sex", "region"]
    assert judge_release(table, Question(**asked)).decision in ("exposed", "over")


def test_full_names_are_left_out_of_a_release():
    table = table_of(combined(*FINNISH))
    asked = {"quasi_identifiers": ["age", "sex", "region"], "sensitive": ["illness"]}
    question = Question(**asked, rows_are_people=True)
    found = find_release(table, question, **asked)
    assert found.passes
    assert "region" not in read_table(found.protected.table).columns


CITIES = "Berlin Paris Rome Oslo Bern Wien Prag Riga Bonn Genf Ulm Kiel"
TOWNS = [
    f"{saint} {one}" for saint in ("San", "Santa", "New", "Port", "Lake") for one in ("Alba", "Cruz", "Dora", "Fox")
]
TOWNS += [
    f"{one}{end} {kind}"
    for one in ("Ash", "Oak", "Elm", "Win")
    for end in ("ton", "ford", "ham")
    for kind in ("Springs", "Heights", "Falls", "City")
]
TOWNS += [f"{one}{end}" for one in ("Ash", "Bel", "Car", "Dun") for end in ("ton", "ville", "ford", "ham", "bury")]


@pytest.mark.parametrize(
    "cells",
    [
        DRAW.choice(TOWNS, ROWS).tolist(),
        combined(
            "Acute Chronic Severe Mild Recurrent Bilateral", "bronchitis sinusitis otitis colitis gastritis myositis"
        ),
        combined(
            "Senior Junior Lead Chief Assistant Deputy", "Nurse Teacher Engineer Clerk Driver Cook Lawyer Cleaner"
        ),
        combined(
            "red blue green black white grey yellow pink brown navy tan", "shirt coat hat scarf belt sock boot dress"
        ),
        combined(
            "Oak Maple Pine Cedar Elm Main Park Lake Hill High Church Mill", "Street Avenue Road Lane Drive Court"
        ),
        combined(CITIES, CITIES),
    ],
    ids=["towns", "diagnoses", "occupations", "products", "streets", "routes"],
)
def test_other_words_are_no_full_names(cells):
    found = suggested(cells, "x")
    assert not found.names_people
    assert (found.role, found.confidence) != ("identifier", "high")


def test_full_names_that_many_records_share_are_left_to_who_judges():
    """A name that twenty records share may be that of a place or a thing; the yes says so where few do."""
    assert not suggested(combined(*FINNISH, rows=8_000)).names_people


def test_a_kept_text_with_few_records_each_is_told():
    cells = [f"team {'abcdefghij'[place % 10]}{'abcdefghijklmno'[place // 40]}" for place in range(ROWS)]
    asked = {"quasi_identifiers": ["age", "sex"], "rows_are_people": True}
    for role in ({"other": ["region"], "sensitive": ["illness"]}, {"sensitive": ["illness", "region"]}):
        verdict = judge_release(table_of(cells), Question(**asked, **role))
        assert any(
            "Few records share each text of region (150 texts, 4 records each)" in str(one)
            for one in (verdict.internal_reasons)
        )
    many = table_of([cell[:-1] for cell in cells])
    verdict = judge_release(many, Question(**asked, other=["region"], sensitive=["illness"]))
    assert not any("Few records" in str(one) for one in verdict.internal_reasons)
