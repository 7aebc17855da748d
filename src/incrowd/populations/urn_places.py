"""Indexes of the entries of `Urn.used`: numbers of groups, pairs, pool entries, classes and classes of one person."""

GROUPS, PAIRS, POOL, CLASSES, UNIQUES = range(5)
