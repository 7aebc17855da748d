"""Antoniou et al., Assessing the risk of re-identification arising from an attack on anonymised data."""

from papers.leak_attack.mixed_class_sizes import reproduce_mixed_class_sizes
from papers.leak_attack.partial_histories import reproduce_partial_histories
from papers.leak_attack.several_targets import reproduce_several_targets
from papers.leak_attack.single_target import reproduce_single_target
from papers.leak_attack.slips import reproduce_slips
from papers.leak_attack.worked_example import reproduce_worked_example
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
        Part("worked-example", "The worked example: Tables 1 to 4 and Figure 1", reproduce_worked_example),
        Part("one-person", "One person: Figures 2 and 3", reproduce_single_target),
        Part(
            "several", "Several people: Figure 4, and the exact answer beside the recursion", reproduce_several_targets
        ),
        Part("mixed", "Classes of several sizes: Figure 5", reproduce_mixed_class_sizes),
        Part("partial", "Partial leaks and knowledge: true and false positives", reproduce_partial_histories),
        Part("slips", "Slips in the paper", reproduce_slips),
    ),
)
