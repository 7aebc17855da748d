"""Mutations that know what they break: bytes, binary numbers, lines and cells of a text, parts of a zip file."""

import copy
import io
import json
import struct
import zipfile

EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**63]
CELLS = [
    *("", " ", '"', '""', "'", "\0", "\ufeff", "\n", "\r", "\t", ";", "|", "[]", "{}", "null", "true", "*", "=1+1"),
    *(
        "NaN",
        "nan",
        "inf",
        "-inf",
        "-0",
        "-0.0",
        "1e308",
        "1e309",
        "5e-324",
        "9" * 400,
        "0x10",
        "1_000",
        "1,5",
        "1.5.2",
    ),
    *("2024-02-30", "0000-00-00", "9999-12-31", "[24;28]", "[28;24]", "[;", "]", "[a;b]", "{a,b}", "{"),
    *("\u202e", "\ud7ff", "é", "e\u0301", "A" * 5_000),
]


ODD = [
    None,
    True,
    0,
    -1,
    1e308,
    10**400,
    5e-324,
    2**63,
    "",
    " ",
    "*",
    "\0",
    "\ud7ff",
    "é",
    "a" * 6_000,
    "../../etc/passwd",
]
ODD += [
    [],
    {},
    [[]],
    [None],
    {"": None},
    "[24;28]",
    "{a,b}",
    "2024-02-30",
    "9999-12-31",
    "/dev/zero",
    "__proto__",
    "Zyxwvut1",
]


def bytes_anywhere(data, rng):
    """Set, repeat, drop or overwrite a few bytes, or cut the end off."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not data:
            break
        place, kind = rng.randrange(len(data)), rng.randrange(6)
        if kind == 0:
            data[place] = rng.randrange(256)
        elif kind == 1:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[place : place + rng.randrange(1, 40)]
        elif kind == 3:
            data[place:place] = data[place : place + rng.randrange(1, 40)]
        elif kind == 4:
            edge = struct.pack("<Q", rng.choice(EDGES))[: rng.choice([1, 2, 4, 8])]
            data[place : place + len(edge)] = edge
        elif rng.random() < 0.2:
            del data[place:]
    return bytes(data)


def lines_and_cells(data, rng):
    """Change cells, lines, separators, quotes or the encoding of a text."""
    kind = rng.randrange(9)
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    if kind <= 3:
        place = rng.randrange(len(lines))
        cells = lines[place].split(",")
        cells[rng.randrange(len(cells))] = rng.choice(CELLS)
        lines[place] = ",".join(cells)
    elif kind == 4:
        place = rng.randrange(len(lines))
        lines[place : place + 1] = rng.choice(
            [[], [lines[place]] * 2, [lines[place] + ",more"], [""], ['"' + lines[place]]]
        )
    elif kind == 5:
        return text.replace(",", rng.choice([";", "\t", "|", " ", ",,"])).encode()
    elif kind == 6:
        return text.encode(rng.choice(["utf-16", "utf-16-le", "latin-1", "utf-32", "cp037"]), "replace")
    elif kind == 7:
        return text.replace("\n", rng.choice(["\r\n", "\r", "\n\n", "\u2028"])).encode()
    else:
        return bytes_anywhere(data, rng)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def zip_parts(data, rng):
    """Change a part of a zip file, which stays whole; or its bytes."""
    if rng.random() < 0.3:
        return bytes_anywhere(data, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after:
        names = before.namelist()
        chosen = rng.choice(names)
        for name in names:
            part = before.read(name)
            if name == chosen:
                kind = rng.randrange(5)
                if kind == 0:
                    continue
                part = [b"", bytes_anywhere(part, rng), xml_values(part, rng), part * 2, b" " * 5_000_000][kind]
            after.writestr(name, part)
    return out.getvalue()


def xml_values(data, rng):
    """Change numbers and references in XML: far cells, negative indexes, unknown types."""
    import re

    text = data.decode("utf-8", "replace")
    found = list(re.finditer(r'"[A-Z]{0,3}\d+"', text))
    if not found:
        return bytes_anywhere(data, rng)
    one = rng.choice(found)
    value = rng.choice(["XFD1048576", "A1048576", "ZZZZ9", "-1", "99999999999", "A0", "", "1e9", "AN200000"])
    return (text[: one.start() + 1] + value + text[one.end() - 1 :]).encode()


def json_values(data, rng):
    """Change values, keys and nesting of JSON; or its bytes."""
    values = [
        "1e999",
        "-1e999",
        "9" * 400,
        "NaN",
        "[" * 500,
        "{}",
        "[]",
        '"\\ud800"',
        "null",
        "true",
        '{"a":{"b":[1]}}',
        '""',
        "-0.0",
    ]
    text = data.decode()
    kind = rng.randrange(4)
    if kind == 0:
        return bytes_anywhere(data, rng)
    places = [place for place, letter in enumerate(text) if letter in (":" if kind < 3 else ",{[\n")]
    place = rng.choice(places)
    rest = text[place + 1 :]
    if kind == 1:  # another value
        end = min([rest.find(mark) for mark in ",}\n" if mark in rest] or [0])
        rest = rest[end:]
    return (text[: place + 1] + rng.choice(values) + rest).encode("utf-8", "surrogatepass")


def json_tree(data, rng):
    """JSON with some of its parts replaced, removed, repeated, moved or said twice; its checksum stays."""
    tree = json.loads(data)
    changed = json.dumps(
        mutated(tree, rng) | {name: tree[name] for name in ("schema", "sha256") if name in tree and rng.random() < 0.95}
    )
    if rng.random() < 0.1:
        changed = changed[:-1] + f', "{rng.choice(list(tree))}": []}}'
    return changed.encode()


def mutated(tree, rng):
    """The tree with one to three of its parts replaced, removed, repeated or moved."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = list(_places(tree))
        if not places:
            return tree
        holder, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            other, place = rng.choice(places)
            holder[key] = copy.deepcopy(other[place])
        elif kind == 2 and isinstance(holder, list):
            holder[key:key] = [copy.deepcopy(holder[key])] * rng.choice([1, 50])
        elif kind == 3 and isinstance(holder, dict):
            holder[rng.choice([*map(str, ODD[8:16]), "more"])] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))
    return tree


def _places(tree):
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])
