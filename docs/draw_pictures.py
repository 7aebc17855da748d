"""Draw the pictures of the concepts page anew: `python docs/draw_pictures.py`."""

from pathlib import Path

from incrowd import demo_table
from incrowd.figures.concept_charts import sample_against_population, what_kappa_is
from incrowd.figures.theme import save

if __name__ == "__main__":
    folder = Path(__file__).parent / "pictures"
    save(what_kappa_is(), folder / "kappa.svg", force=True)
    known = ["age_yrs", "sex", "race", "patcnty"]
    save(sample_against_population(demo_table(100_000), known), folder / "sample.svg", force=True)
