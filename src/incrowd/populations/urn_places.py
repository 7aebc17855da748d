"""Places in `Urn.used`: how many groups, pairs, pool entries, classes and classes of one person there are."""

GROUPS, PAIRS, POOL, CLASSES, UNIQUES = range(5)
