"""Antoniou et al., Assessing the risk of re-identification arising from an attack on anonymised data."""

from papers.leak_attack.mixed import mixed_classes
from papers.leak_attack.several import several_people
from papers.leak_attack.single import one_person
from papers.parts import Paper, Part

PAPER = Paper(
    name="leak-attack",
    title="Leak attack",
    citation=(
        "A. Antoniou, G. Dossena, J. MacMillan, S. Hamblin, D. Clifton, P. Petrone: Assessing the risk of "
        "re-identification arising from an attack on anonymised data."
    ),
    about=(
        "Part of a k-anonymous table leaks, and somebody who knows the quasi-identifiers of the people they look for "
        "guesses among the leaked records that fit. The paper gives a formula for one person, a recursion for several, "
        "and simulations. Its figures have no printed numbers, so the paper's number here is its formula or recursion, "
        "worked out as it stands in the text; ours is the exact chance, from a generating function."
    ),
    parts=(
        Part("one-person", "One person: Figures 2 and 3", one_person),
        Part("several", "Several people: Figure 4, and the exact answer beside the recursion", several_people),
        Part("mixed", "Classes of several sizes: Figure 5", mixed_classes),
    ),
)
