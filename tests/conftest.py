"""What tests share: where real data is, if anywhere."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# a gate draws the same examples every time; elsewhere each run looks at new ones
settings.register_profile("incrowd", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.load_profile("incrowd")


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real microdata, or a skip where there is none."""
    folder = Path(os.environ.get("INCROWD_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real microdata here; set INCROWD_DATA")
    return folder
