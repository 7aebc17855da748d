"""Generated tables on which a careless tool says yes, and harmless look-alikes of them."""

import numpy as np

PERSON_NUMBERS = ("dossier", "IPP", "num_adherent", "case", "sprawa", "zaak", "processo", "Vorgang", "ref", "x1")
"""Innocent names under which a file numbers its people."""


def survey(rows=4_000, seed=0):
    """A survey in which nobody stands out by age group, sex and region, but most do by everything else."""
    draw = np.random.default_rng(seed)
    return {
        "age_group": draw.choice(["18-34", "35-54", "55+"], rows),
        "sex": draw.choice(["f", "m"], rows),
        "region": draw.choice(["north", "south"], rows),
        "birth_year": draw.integers(1935, 2007, rows),
        "occupation_code": draw.integers(1_000, 1_400, rows),
        "municipality": draw.integers(1, 250, rows),
        "nationality": draw.choice(["a", "b", "c", "d", "e"], rows, p=[0.9, 0.04, 0.03, 0.02, 0.01]),
        "marital": draw.integers(1, 6, rows),
        "answer": draw.choice(["yes", "no", "cannot say"], rows),
    }


def numbered(name, rows=2_000, seed=1):
    """A table that is safe by its quasi-identifiers and carries an all-different whole number under a plain name."""
    draw = np.random.default_rng(seed)
    return {
        name: draw.permutation(np.arange(100_000, 100_000 + 7 * rows, 7)),
        "sex": draw.choice(["f", "m"], rows),
        "age_group": draw.choice(["young", "old"], rows),
    }


def kept_beside(altered, rows=6_000, seed=2):
    """Towns by number, which protection makes coarser, beside the town's name; a share of the names is altered."""
    draw = np.random.default_rng(seed)
    town = draw.integers(0, 600, rows)
    wrong = draw.random(rows) < altered
    if altered:
        wrong[0] = True
    named = np.where(wrong, draw.integers(0, 600, rows), town)
    return {
        "town": town,
        "sex": draw.choice(["f", "m"], rows),
        "town_name": np.array([f"town {number}" for number in named]),
    }


def villages(kind, altered=0.0, rows=2_000, seed=12):
    """People of 60 villages beside a column of their village or of a place in it; a share of its cells is altered.

    Several villages share a rate, a type and a region. Each village has four places, and other villages share their
    rates. Incomes belong to people.
    """
    draw = np.random.default_rng(seed)
    village, place = draw.integers(0, 60, rows), draw.integers(0, 4, rows)
    of_places = np.where(draw.random(240) < 0.3, 1 + np.arange(240) / 1_000, draw.integers(0, 30, 240) / 32)
    kept = {
        "rate": (draw.integers(0, 20, 60) / 32)[village],
        "type": draw.choice(["rural", "urban"], 60, p=[0.6, 0.4])[village],
        "region": draw.choice([*"abcdefgh"], 60)[village],
        "rate of places": of_places[4 * village + place],
        "income": np.exp(draw.normal(10, 0.6, rows)).round(-3),
    }[kind]
    kept = np.where(draw.random(rows) < altered, draw.permutation(kept), kept)
    names = np.array([f"V{number:02}" for number in range(60)])
    return {"village": names[village], "age": draw.integers(20, 80, rows), "kept": kept}


def panel(people=600, waves=4, seed=3):
    """A panel, where people are asked in several waves: a row is a person in a wave."""
    draw = np.random.default_rng(seed)
    person = np.repeat(draw.permutation(np.arange(50_000, 50_000 + people)), waves)
    region = np.repeat(draw.integers(0, 8, people), waves)
    return {
        "case": person,
        "wave": np.tile(np.arange(1, waves + 1), people),
        "region": region,
        "status": draw.integers(0, 4, people * waves),
        "hours": draw.integers(0, 6, people * waves),
    }


def households(count=900, seed=4):
    """People in households: a household number, and a person's number within it."""
    draw = np.random.default_rng(seed)
    size = draw.integers(1, 6, count)
    return {
        "hh": np.repeat(np.arange(1, count + 1), size),
        "person_no": np.concatenate([np.arange(1, members + 1) for members in size]),
        "region": np.repeat(draw.integers(0, 5, count), size),
        "age_group": draw.integers(0, 5, size.sum()),
        "sex": draw.integers(1, 3, size.sum()),
    }


def communes(rows=1_200, seed=5):
    """One row for each commune: no row is a person."""
    draw = np.random.default_rng(seed)
    return {
        "commune": np.array([f"commune {number}" for number in range(rows)]),
        "departement": draw.integers(1, 96, rows),
        "population": (draw.pareto(1.1, rows) * 400 + 50).astype(np.int64),
        "births": draw.poisson(20, rows),
        "deaths": draw.poisson(18, rows),
    }


def rare_drug(rows=40_000, seed=6):
    """A drug that four people in forty thousand take: its absence is no secret."""
    draw = np.random.default_rng(seed)
    drug = np.full(rows, "No")
    drug[draw.choice(rows, 4, replace=False)] = "Up"
    return {
        "age_group": draw.choice(["0-30", "30-60", "60+"], rows),
        "sex": draw.choice(["f", "m"], rows),
        "examide": drug,
    }


def skip_pattern(rows=6_000, seed=7):
    """A question that only children were asked: it is missing for every adult."""
    draw = np.random.default_rng(seed)
    child = draw.random(rows) < 0.3
    school = draw.choice(["primary", "secondary", "none"], rows).astype(object)
    school[~child] = None
    return {
        "age_group": np.where(child, "child", draw.choice(["adult", "old"], rows)),
        "sex": draw.choice(["f", "m"], rows),
        "school_trouble": school,
    }


def skip_patterns(rows=3_000, seed=11, refused=0.08):
    """Three questions that only some were asked, by age, or by age and sex; and a few of those did not answer."""
    draw = np.random.default_rng(seed)
    age, sex = draw.integers(5, 80, rows), draw.choice(["f", "m"], rows)
    asked = {"smokes": age >= 16, "works": (age >= 20) & (age < 60), "pregnancies": (sex == "f") & (age >= 24)}
    answers = {name: draw.choice(["a", "b", "c", "d"], rows).astype(object) for name in asked}
    for name, who in asked.items():
        answers[name][~who | (draw.random(rows) < refused)] = None
    return {"age": age, "sex": sex, "region": draw.choice(["n", "e", "s"], rows), **answers}


def ten_in_pairs(rows=4_000, seed=8):
    """Everybody is in a crowd, but for ten people in five pairs: low on average, a half for those."""
    draw = np.random.default_rng(seed)
    region = draw.integers(0, 4, rows)
    region[:10] = 100 + np.repeat(np.arange(5), 2)
    return {"region": region, "sex": np.where(np.arange(rows) < 10, 1, draw.integers(1, 3, rows))}


def body_mass(altered=0.0, rows=3_000, seed=7):
    """Heights, which protection makes coarser, beside weights and body mass indices, of which a share is altered."""
    draw = np.random.default_rng(seed)
    sex = draw.choice(["f", "m"], rows)
    height = (np.where(sex == "f", 165, 178) + draw.normal(0, 7, rows)).round()
    weight = (draw.normal(24, 4, rows) * (height / 100) ** 2).round()
    bmi = (weight / (height / 100) ** 2).round(2)
    bmi = np.where(draw.random(rows) < altered, draw.permutation(bmi), bmi)
    return {"sex": sex, "height_cm": height.astype(int), "weight_kg": weight.astype(int), "bmi": bmi}


def stays(altered=0.0, rows=3_000, seed=8):
    """Days in hospital, which protection makes coarser, beside the first and the last; a share of these is altered."""
    draw = np.random.default_rng(seed)
    days = np.minimum(draw.geometric(0.12, rows), 90)
    first = np.datetime64("2023-01-01") + draw.integers(0, 300, rows)
    last = first + days
    last = np.where(draw.random(rows) < altered, draw.permutation(last), last)
    return {"sex": draw.choice(["f", "m"], rows), "los": days, "admitted": first, "discharged": last}
