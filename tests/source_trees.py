"""The syntax trees of the package's source, for tests of the source itself."""

import ast
import functools

_parse = functools.cache(ast.parse)  # of one text: what is on the disk may change


def parsed(source):
    """Every file of a folder of modules with its syntax tree."""
    return {path: _parse(path.read_text(encoding="utf-8")) for path in sorted(source.rglob("*.py"))}


@functools.cache
def nodes_of(tree):
    """All nodes of a tree, as `ast.walk` gives them."""
    return list(ast.walk(tree))
