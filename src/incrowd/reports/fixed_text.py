"""The words of a report that are the same for every table: glossary, methods and their sources, caveats."""

from __future__ import annotations

from incrowd.recipients import choices

GLOSSARY: tuple[tuple[str, str], ...] = (
    ("quasi-identifier", "An attribute that others may know about a person, such as age, sex or place of living."),
    ("sensitive", "An attribute that people keep to themselves, such as an illness or an income."),
    (
        "class (equivalence class)",
        "All people who share the same values in every quasi-identifier: they look alike.",
    ),
    ("re-identification risk", "The chance that a record is matched with the right person."),
    (
        "prosecutor, journalist and marketer risk",
        "Prosecutor: the attacker knows that the person is in the table, the risk is 1 ÷ f with f people alike in it. "
        "Journalist: they do not know it, the risk is 1 ÷ F with F people alike in the population. Marketer: the "
        "average over everybody.",
    ),
    (
        "attribute disclosure",
        "A sensitive value becomes known without naming a record, because everybody in an equivalence class has it.",
    ),
    (
        "undecided column",
        "A column that no person gave a role and that tells people apart. It counts as known to the attacker.",
    ),
    ("k", "The size of the smallest class. With k = 5 everybody looks like at least four others."),
    ("unique", "Alone in one's class. A unique person is found for certain by whoever knows the attributes."),
    (
        "average risk (κ, correctness)",
        "The share of people named correctly by somebody who guesses within each class: classes ÷ people.",
    ),
    (
        "highest risk",
        "The chance of naming the person who is easiest to name: 1 ÷ k in the table, 1 ÷ F in the population.",
    ),
    ("l", "The fewest different values of a sensitive attribute among people who look alike."),
    ("t", "How far the values in the most unusual class are from those of the whole table, from 0 to 1."),
    ("population", "Everybody the table could have been about. The table is a sample of them."),
    ("interval", "The range in which the true number lies with the stated confidence, if the assumptions hold."),
    ("detail kept (granularity)", "1 if no value was made coarser, 0 if nothing is left of any."),
    (
        "limit (threshold)",
        f"The most that is accepted, by kind of recipient: {choices()}. In classes of 3 the person at highest risk is "
        "named with a chance of 1/3. Where an agreement forbids attempts, the average has a limit of its own. "
        "A convention, not a law.",
    ),
)

OUTSIDE = frozenset(
    {
        "quasi-identifier",
        "class (equivalence class)",
        "re-identification risk",
        "limit (threshold)",
        "k",
        "average risk (κ, correctness)",
        "highest risk",
        "population",
    }
)
"""The words of the glossary that the page for outsiders uses."""

METHODS: tuple[tuple[str, str, str], ...] = (
    (
        "Classes, k and average risk",
        "People are grouped by all quasi-identifiers, a missing value being a value. Average risk is classes ÷ people.",
        "Sweeney 2002, k-anonymity; Rocher, Hendrickx & de Montjoye, a scaling law to model the effectiveness of "
        "identification techniques, 2025 (κ = Σ 1/f ÷ n).",
    ),
    (
        "l and t",
        "Counted in every class; t by the earth mover's distance, over ranks for numbers and dates, else all values "
        "equally far.",
        "Machanavajjhala et al. 2007, l-diversity; Li, Li & Venkatasubramanian 2007, t-closeness.",
    ),
    (
        "Which attribute drives the risk",
        "The Shapley value of each attribute in the game whose worth is the average risk: what it adds, averaged over "
        "all orders (up to 12 attributes, else over random orders).",
        "Shapley 1953, a value for n-person games.",
    ),
    (
        "Smallest sets that single people out",
        "Minimal sample uniques: sets by which a record is unique and by no part of which it is.",
        "Elliot, Manning & Ford 2002, a computational algorithm for handling the special uniques problem.",
    ),
    (
        "Sample against population",
        "An anchored Gaussian copula with smoothed margins, combined with the posterior of a Pitman–Yor model of the "
        "class sizes. Reported: the larger of table-to-population and population-to-table risk.",
        "Copula estimators of this kind: patent application US 2022/0050917; the class sizes: Pitman & Yor 1997.",
    ),
    (
        "Larger populations",
        "The same estimate along all populations: for a random sample the risk in a population of N and the average "
        "risk among N people are one number. Where people have several records, by the class sizes alone.",
        "As above, and the scaling law; Archer, Park & Pillow 2014 (prior).",
    ),
    (
        "Leaks",
        "The exact chance over all leaks of a size, from generating functions; no simulation.",
        "Antoniou et al., assessing the risk of re-identification arising from an attack on anonymised data; "
        "the exact form is this package's own.",
    ),
    (
        "Protection",
        "Local recoding by recursive partition: values become ranges or sets shared by at least k people, and k is "
        "counted on the result.",
        "Sánchez, Martínez & Domingo-Ferrer, how to avoid reidentification with proper anonymization "
        "(arXiv:1511.05957); LeFevre, DeWitt & Ramakrishnan 2006.",
    ),
)

CAVEATS: tuple[str, ...] = (
    "A low risk is not a proof of anonymity: it is low for an attacker who knows what was assumed here.",
    "The numbers hold for the quasi-identifiers named here. An attacker who knows another column knows more.",
    "They speak of naming people, and with l and t of learning a secret within a class; not of every harm.",
    "Estimates for a population assume that the table is a random sample of it.",
    "Thresholds are conventions. The decision, and the law, remain yours.",
)

PUBLIC_TERMS: tuple[str, ...] = (
    "Do not look for people in it, and do not join it with other data on persons.",
    "Whoever recognises somebody in it says so to those who gave it, and to nobody else.",
)
TERMS: tuple[str, ...] = (
    "Use the table for what it was given to you for, and give it to nobody else.",
    *PUBLIC_TERMS,
    "Delete it when the purpose is served.",
)
"""What whoever receives a table owes to the people in it."""

MEANINGS: dict[str, str] = {
    "verdict": "The upper mark is the person at highest risk, the lower one the average; the dashed lines are the most "
    "that is accepted for a person by each kind of recipient, as one over the smallest class. Left of a line is "
    "accepted there. A bar around a mark is what the risk may also be; a tick on the lower line is the limit on the "
    "average.",
    "class-sizes": "Sort the people into groups that look alike. The first bar holds those who are alone: whoever "
    "knows their attributes has found them. Bars further right are safer, because a guess among ten is right "
    "once in ten times.",
    "known": "Read it from left to right: an attacker who knows one attribute, then two, then three. Where the "
    "line rises steeply, one more attribute tells a great deal. Few attackers know all of them.",
    "sets": "Each bar is one kind of attacker, who knows these attributes and nothing else. The bar is the share "
    "of people whom that attacker would name correctly. Short bars are harmless combinations.",
    "drivers": "If you may change one column only, change the one with the longest bar: make it coarser, or leave it "
    "out. The parts add up to the whole risk, so they can be compared.",
    "population": "A neighbour who knows that somebody is in the table has it easy. A stranger who does not know it "
    "must find the person among everybody else in the population who looks alike; that is the lower risk.",
    "forecast": "In a village, age and sex may be enough to find somebody; in a country they are not. The line says "
    "how much of the risk is left when the crowd grows. The band is how sure that is, if the table is a "
    "random sample.",
    "leaks": "If a tenth of the table leaks, nine in ten people are not in it at all. The lines say how likely a "
    "certain person is in the stolen part and found there, as the table is now and with more doubles. Of a small "
    "leak the lines lie close together: one's doubles have seldom leaked too, so that protection helps little there.",
    "leak": "The line of this table against lines of tables in which everybody looks like k − 1 others. Where a "
    "line is below the limit, a leak of that size is bearable.",
    "protection": "Every point is the same table, protected more or less. Down is safer, right keeps more detail. "
    "Choose the point furthest right that is still below the threshold.",
    "frontier": "Every point is the same table protected in another way. Down is safer, left has lost less. A cross "
    "still has people who stand alone. Points that no other beats on both sides are the ones to choose "
    "from.",
    "before-after": "The values of one column before and after. The closer the two shapes, the more can still be "
    "learned from the column about everybody, while nobody stands out. A range or a set is spread evenly over its "
    "values, so that a rare value may seem to have grown.",
}
"""What each figure says to somebody who has never seen one, by its name."""
