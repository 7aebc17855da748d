"""Texts that are the same in every report: glossary, caveats, terms of use."""

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
        "Prosecutor: the attacker knows that the person is in the table. The risk is 1 ÷ f, with f people alike in the "
        "table. Journalist: the attacker does not know it. The risk is 1 ÷ F, with F people alike in the population. "
        "Marketer: the average over everybody.",
    ),
    (
        "attribute disclosure",
        "A sensitive value becomes known without naming a record, because everybody in an equivalence class has it.",
    ),
    (
        "undecided column",
        "A column without a role from a person that distinguishes people. It counts as known to the attacker.",
    ),
    ("k", "The size of the smallest class. With k = 5 everybody looks like at least four others."),
    ("unique", "Alone in their class. An attacker who knows the attributes finds a unique person with certainty."),
    (
        "average risk (κ, correctness)",
        "The share of people named correctly by somebody who guesses within each class: classes ÷ people.",
    ),
    (
        "highest risk",
        "The chance of naming the person at highest risk: 1 ÷ k in the table, 1 ÷ F in the population.",
    ),
    ("l", "The smallest number of different values of a sensitive attribute in a class."),
    ("t", "The distance between the values of the most unusual class and of the whole table, from 0 to 1."),
    ("population", "All people from whom the table is a sample."),
    ("interval", "The range in which the true number lies with the stated confidence, if the assumptions hold."),
    ("detail kept (granularity)", "1 if no value was generalised, 0 if no information is left."),
    (
        "limit (threshold)",
        f"The highest accepted risk, by kind of recipient: {choices()}. In classes of 3, the person at highest risk is "
        "named with a chance of 1/3. If an agreement forbids attempts, the average has its own limit. These are "
        "conventions, not laws.",
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

CAVEATS: tuple[str, ...] = (
    "A low risk is not a proof of anonymity: it is low for an attacker who knows what was assumed here.",
    "The numbers hold for the quasi-identifiers named here. An attacker who knows another column knows more.",
    "They cover re-identification and, with l and t, attribute disclosure. They do not cover every harm.",
    "Estimates for a population assume that the table is a random sample of it.",
    "Thresholds are conventions. The decision, and the law, remain yours.",
)

CONDITION = (
    "This holds only if nobody outside knows what the holder of the table takes as secret or as unknown to others, and "
    "if whatever else the holder assumed is true."
)
"""The conditions of a yes for outsiders, without the columns, which would help an attacker."""

PUBLIC_TERMS: tuple[str, ...] = (
    "Do not look for people in it, and do not join it with other data on persons.",
    "If you recognise somebody in it, tell those who gave it to you, and nobody else.",
)
TERMS: tuple[str, ...] = (
    "Use the table only for the agreed purpose, and give it to nobody else.",
    *PUBLIC_TERMS,
    "Delete it when the purpose is fulfilled.",
)
"""Terms that a recipient of a table accepts."""
