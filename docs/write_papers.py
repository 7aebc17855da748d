"""Write the pages on the papers from a finished run: `python -m papers all --out DIR`, then

python -m docs.write_papers DIR
"""

import sys
from pathlib import Path

from papers.page import markdown
from papers.runner import load_part

from papers import PAPERS, paper

LARGEST = 200_000  # bytes of a figure

if __name__ == "__main__":
    source, docs = Path(sys.argv[1]), Path(__file__).parent
    for name in PAPERS:
        chosen = paper(name)
        parts = [load_part(source, chosen, part) for part in chosen.parts]
        if None in parts:
            sys.stdout.write(f"{name}: not finished in {source}, page left as it is\n")
            continue
        provenances = {(part.made_with["version"], part.made_with["seed"]) for part in parts}
        if len(provenances) > 1:
            sys.exit(f"{name}: parts of several versions or seeds in {source}; do it again with one")
        if len({part.made_with.get("code") for part in parts}) > 1:
            sys.stdout.write(f"{name}: its parts were made by several states of the code; --force does them again\n")
        for part in parts:
            for figure in part.figures:
                content = (source / name / figure.file).read_bytes()
                if len(content) > LARGEST:
                    sys.exit(f"{figure.file} has {len(content):,} bytes; draw it with fewer points")
                target = docs / "pictures" / "papers" / f"{name}-{figure.file}"
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(content)
        page = docs / "papers" / f"{name}.md"
        page.write_text(markdown(chosen, parts, pictures=f"../pictures/papers/{name}-"), encoding="utf-8")
        sys.stdout.write(f"{page}\n")
