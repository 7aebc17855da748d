"""Data flows one way through the rooms: a room imports only from rooms above it on the map in docs/dev."""

import ast
import re
import subprocess
import sys
from collections import Counter, deque
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.source_trees import nodes_of, parsed

import incrowd
from incrowd.tables.formats import EXTENSIONS

pytestmark = pytest.mark.xdist_group("source")  # one worker: the source is parsed once
SOURCE = Path(incrowd.__file__).parent
MAP = Path(__file__).parents[1] / "docs" / "dev" / "architecture.md"


def rooms_on_the_map():
    """The rooms in the order of the first block of the architecture page."""
    (block, *_) = re.findall(r"```text\n(.*?)```", MAP.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [line.split()[0].removesuffix("/").removesuffix(".py") for line in block.splitlines()]


def room_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


MODULE = re.compile(r"incrowd(\.(?!toml)\w+)+\.?")


def imported_modules(nodes):
    """Every module of incrowd that code names: import statements at any depth, and texts that are module names."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
            yield from (
                (node.lineno, f"{node.module}.{alias.name}") for alias in node.names if node.module == "incrowd"
            )
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE.fullmatch(node.value):
            yield node.lineno, node.value.rstrip(".")


def wrong_imports(source, rooms):
    """Imports of rooms below; the package's own names (`from incrowd import measure`) are below all rooms."""
    rooms = [*rooms, "__init__"]
    for path, tree in parsed(source).items():
        room = path.relative_to(source).parts[0].removesuffix(".py")
        for line, name in imported_modules(nodes_of(tree)):
            parts = name.split(".")
            if parts[0] == "incrowd" and len(parts) > 1:
                imported = parts[1] if parts[1] in rooms else "__init__"
                if rooms.index(imported) > rooms.index(room):
                    yield f"{path.relative_to(source)}:{line} imports {name}"


def test_every_room_is_on_the_map_once():
    found = {room_of(path) for path in SOURCE.rglob("*.py")} - {"__init__"}
    assert sorted(found) == sorted(rooms_on_the_map())


def test_rooms_import_only_from_rooms_above():
    assert list(wrong_imports(SOURCE, rooms_on_the_map())) == []


@pytest.mark.parametrize(
    "line",
    [
        "from incrowd.below import name",
        "def f():\n    import incrowd.below.deep",
        "from incrowd import below",
        "from incrowd import measure",
        "from importlib import import_module\nimport_module('incrowd.below')",
        "from importlib import import_module\nimport_module(f'incrowd.below.{name}')",
    ],
)
def test_the_test_sees_every_kind_of_import(tmp_path, line):
    (tmp_path / "above.py").write_text(line)
    assert len(list(wrong_imports(tmp_path, ["above", "below"]))) == 1


def module_name(source, path):
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def lazy_modules(source):
    """By package, the module of each public name that its stub lists and that is imported on first use."""
    return {
        module_name(source, stub): {
            alias.name: node.module
            for node in ast.parse(stub.read_text(encoding="utf-8")).body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for stub in source.rglob("__init__.pyi")
    }


def nodes_at_run_time(tree):
    """The nodes of a file as `ast.walk` gives them, without what only a type checker reads."""
    left = deque([tree])
    while left:
        node = left.popleft()
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            left.extend(node.orelse)
        else:
            left.extend(ast.iter_child_nodes(node))
            yield node


def imports_of_modules(source, nodes):
    """The modules that each module imports, at any depth, among its `nodes`."""
    names, lazy = {path: module_name(source, path) for path in parsed(source)}, lazy_modules(source)
    modules = {*names.values()}
    graph = {}
    for path, tree in parsed(source).items():
        found = set()
        for node in nodes(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    found.add(whole if whole in modules else lazy.get(node.module, {}).get(alias.name, node.module))
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == "iter_modules":
                (package,) = {one for one in found if one.endswith(f".{ast.unparse(node.args[0]).split('.')[0]}")}
                found |= {one for one in modules if one.startswith(f"{package}.")}
        graph[names[path]] = (found & modules) - {names[path]}
    return graph


def modules_at_run_time(source):
    """The modules that each module imports when it runs; annotations may name what is further down."""
    return imports_of_modules(source, nodes_at_run_time)


def cycles(graph):
    """The sets of modules that import each other, directly or through others."""
    reached = {}
    for start in graph:
        seen, left = set(), [start]
        while left:
            new = graph[left.pop()] - seen
            seen |= new
            left += new
        reached[start] = seen
    rings = {
        frozenset(other for other in reached[one] if one in reached[other]) for one in graph if one in reached[one]
    }
    return [sorted(name.removeprefix("incrowd.") for name in ring) for ring in rings]


def test_no_two_modules_import_each_other():
    assert cycles(modules_at_run_time(SOURCE)) == []


# Rings that only annotations close, each by the modules that other modules of the ring name as a type:
RINGS_OF_TYPES = {
    # the answers of a backend that most engines share are functions of a backend, a module for each subject
    ("backends.base",): 5,
    ("backends.spark.backend",): 4,
    # a section shows numbers of the whole assessment, which holds the answers of all sections and the verdict on them
    ("assessment.result", "assessment.sections.evidence", "assessment.verdict"): 16,
    # roles are settled for a question, which is then asked with these roles and typed as a command
    ("assessment.question", "assessment.roles"): 3,
    # a problem holds hierarchies and populations, which are read by its columns
    ("protection.hierarchies", "protection.k_map", "protection.problem"): 6,
    # a sample caches the posterior of its class sizes, which keeps to the limits of intervals about samples
    ("populations.sample",): 3,
}


def test_annotations_close_few_rings_of_modules_and_each_has_a_reason():
    rings = cycles(imports_of_modules(SOURCE, nodes_of))
    found = {named: len(ring) for ring in rings for named in RINGS_OF_TYPES if {*named} <= {*ring}}
    assert len(found) == len(rings), rings
    assert all(size <= RINGS_OF_TYPES[named] for named, size in found.items()), found  # it may only become less


def test_the_test_sees_rings_that_annotations_close(tmp_path):
    source = tmp_path / "incrowd"
    source.mkdir()
    (source / "a.py").write_text("from incrowd.b import f")
    (source / "b.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from incrowd.a import g")
    assert cycles(imports_of_modules(source, nodes_of)) == [["a", "b"]]
    assert cycles(modules_at_run_time(source)) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from incrowd.b import f", "def f():\n    from incrowd.a import g"),
        ("from incrowd.b import f", "import incrowd.a"),
        ("from incrowd.room import name", "from incrowd.a import g"),
        ("from pkgutil import iter_modules\nfrom incrowd import room\niter_modules(room.__path__)", "import incrowd.a"),
    ],
)
def test_the_test_sees_every_kind_of_cycle(tmp_path, first, second):
    source = tmp_path / "incrowd"
    (source / "room").mkdir(parents=True)
    files = {"a.py": first, "b.py": second, "room/__init__.py": "", "room/c.py": second}
    for name, text in files.items():
        (source / name).write_text(text)
    (source / "room/__init__.pyi").write_text("from incrowd.room.c import name as name")
    assert len(cycles(modules_at_run_time(source))) == 1
    (source / "a.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from incrowd.b import f")
    assert cycles(modules_at_run_time(source)) == []


def test_only_the_package_itself_imports_by_name():
    found = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search(r"import_module\(f?.incrowd|__import__", path.read_text(encoding="utf-8"))
    ]
    assert found == []


HEAVY = {"numba", "numpy", "pyarrow", "duckdb", "altair", "scipy", "narwhals", "fastapi", "pyspark", "pandas"}


@pytest.mark.parametrize(
    ("module", "needed"),
    [
        ("incrowd", set()),
        ("incrowd.cli.app", set()),
        ("incrowd.tables.formats", {"numpy", "pyarrow"}),
        ("incrowd.assessment.roles", {"numpy", "pyarrow", "pandas"}),  # Arrow loads it with its first array
    ],
)
def test_importing_the_package_its_commands_its_readers_and_its_roles_loads_nothing_heavy(module, needed):
    code = f"import sys, {module}; print(sorted({HEAVY - needed} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_list_of_commands_is_shown_without_anything_heavy():
    code = """
import sys
from incrowd.cli import main
try:
    main(["--help"])
finally:
    print(sorted(%r & set(sys.modules)), file=sys.stderr)
"""
    rooms = {"incrowd.tables", "incrowd.backends", "incrowd.measures"}
    heavy = HEAVY | rooms | {"psutil", "rich.progress", "urllib.request"}
    run = subprocess.run([sys.executable, "-c", code % heavy], capture_output=True, text=True, check=True)
    assert "demo-data" in run.stdout
    assert run.stderr == "[]\n"


def test_counting_a_file_loads_no_other_verb_no_frames_and_nothing_that_looks_for_disclosures(tmp_path):
    pq.write_table(pa.table({"age": [30, 30, 41]}), tmp_path / "people.parquet")
    code = f"""
import sys
from incrowd.cli import main
others = {{"narwhals", "duckdb", "incrowd.cli.protect", "incrowd.measures.auxiliary", "incrowd.tables.roles.rows"}}
try:
    main(["measure", {str(tmp_path / "people.parquet")!r}, "--qi", "age", "--json"])
finally:
    print(sorted(others & set(sys.modules)), file=sys.stderr)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert '"k": 1' in run.stdout
    assert run.stderr == "[]\n"


def test_no_room_has_the_name_of_a_function():
    assert set(rooms_on_the_map()).isdisjoint(incrowd.__all__)


def test_everything_promised_is_there():
    assert all(getattr(incrowd, name) is not None for name in incrowd.__all__)
    assert set(dir(incrowd)) == {*incrowd.__all__, "__version__"}


RISKS = {"probability", "correctness", "risk", "overall", "value", "high"}
LIMITS = {"at_most", "limit", "max_risk", "threshold"}


def names_in(node):
    return {getattr(one, "id", getattr(one, "attr", None)) for one in ast.walk(node)}


def judged_by_hand(source):
    """Comparisons of a risk with a limit outside the module that has the judge; figures only place their lines."""
    for path, tree in parsed(source).items():
        if path.relative_to(source).parts[0] in {"recipients.py", "figures"}:
            continue
        for node in nodes_of(tree):
            if isinstance(node, ast.Compare) and all(
                isinstance(one, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for one in node.ops
            ):
                sides = [names_in(side) for side in (node.left, *node.comparators)]
                if any(one & RISKS and other & LIMITS for one in sides for other in sides if one is not other):
                    yield f"{path.relative_to(source)}:{node.lineno} {ast.unparse(node)}"


def test_one_function_holds_a_risk_against_a_limit():
    assert list(judged_by_hand(SOURCE)) == []


KNOW_FORMATS = {"tables", "backends"}
READERS = re.compile(r"pyarrow\.(parquet|feather|orc|csv|json|dataset)|pyreadstat|openpyxl|python_calamine")


def endings_in(tree, endings):
    """Endings of files in code: with their dot, or two in one list; not those in the name of a file that is made."""
    made = {part for node in nodes_of(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant) and node.value in endings and node not in made:
            yield node.lineno, node.value
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            listed = [one.value for one in node.elts if isinstance(one, ast.Constant) and f".{one.value}" in endings]
            yield from [(node.lineno, listed)] if len(listed) > 1 else []


def formats_by_hand(source, endings):
    """Modules that read files themselves, and endings of files that are listed, outside the room of file formats."""
    for path, tree in parsed(source).items():
        if path.relative_to(source).parts[0] not in KNOW_FORMATS:
            named = imported_modules(nodes_of(tree))
            imports = [(line, f"imports {name}") for line, name in named if READERS.match(name)]
            listed = [(line, f"has {found!r}") for line, found in endings_in(tree, endings)]
            yield from (f"{path.relative_to(source)}:{line} {what}" for line, what in imports + listed)


def test_only_tables_and_backends_know_file_formats():
    endings = {*EXTENSIONS} - {".json", ".txt", ".md"}  # in which figures, kept texts and codebooks are written
    assert list(formats_by_hand(SOURCE, endings)) == []


NUMBERS = re.compile(r"(numpy|scipy|numba|incrowd\.special|incrowd(\.\w+)*\.kernels\w*)(\.|$)")
STORES_ARRAYS = {"web/saved_sessions.py"}  # which rows a protection kept is an array in a file


def test_the_command_line_and_the_app_have_no_maths():
    found = [
        f"{path.relative_to(SOURCE)}:{line} imports {name}"
        for path, tree in parsed(SOURCE).items()
        if room_of(path) in {"web", "cli"} and str(path.relative_to(SOURCE)) not in STORES_ARRAYS
        for line, name in imported_modules(nodes_at_run_time(tree))
        if NUMBERS.match(name)
    ]
    assert found == []


def test_arrow_is_imported_at_the_top_where_a_room_needs_it_anyway():
    """From measures/ down all modules import it with the tables; only commands start without it."""
    rooms = rooms_on_the_map()
    below = {room for room in rooms[rooms.index("classes") :] if room != "cli"}
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path, tree in parsed(SOURCE).items()
        if room_of(path) in below
        for part in nodes_of(tree)
        if isinstance(part, ast.FunctionDef)
        for node in ast.walk(part)
        if isinstance(node, ast.Import) and node.names[0].name in {"pyarrow", "pyarrow.compute", "numpy"}
    ]
    assert found == []


def test_a_public_class_or_type_has_one_definition():
    defined = {}
    for path, tree in parsed(SOURCE).items():
        for node in tree.body:
            literal = isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Literal[")
            name = node.name if isinstance(node, ast.ClassDef) else ast.unparse(node.targets[0]) if literal else "_"
            if not name.startswith("_"):
                defined.setdefault(name, []).append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in defined.items() if len(places) > 1} == {}


ENGINE_NAMES = {"spark", "duckdb", "postgresql", "sqlite", "cluster"}
# Where it is asked whether rows are here, and how often; it may only become less. These places look at rows (links
# between them, spellings, dates, samples, trials of a protection) or write them: rows of a cluster are not fetched for
# that, so they leave it out and say so, or have the cluster do it.
QUESTIONS = {
    "assessment/actions.py": 1,
    "assessment/comparison.py": 1,
    "assessment/roles.py": 1,
    "assessment/sections/evidence.py": 1,
    "assessment/sections/knowledge.py": 1,
    "assessment/solver.py": 1,
    "cli/measure.py": 1,
    "cli/population.py": 1,
    "cli/protect.py": 1,
    "populations/sample.py": 1,
    "protection/api.py": 1,
    "tables/roles/linked_rows.py": 1,
    "tables/suggest_reading.py": 1,
}


def test_only_backends_ask_which_engine_a_table_has():
    compared, asked = [], Counter()
    for path, tree in parsed(SOURCE).items():
        if room_of(path) == "backends":
            continue
        for node in nodes_of(tree):
            if isinstance(node, ast.Compare):
                named = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)} & ENGINE_NAMES
                compared += [f"{path.relative_to(SOURCE)}:{node.lineno} {ast.unparse(node)}"] if named else []
            if isinstance(node, ast.Attribute) and node.attr == "rows_are_local":
                asked[path.relative_to(SOURCE).as_posix()] += 1
    assert compared == []
    assert asked <= Counter(QUESTIONS), asked - Counter(QUESTIONS)
