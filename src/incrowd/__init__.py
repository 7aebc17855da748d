"""incrowd: how easily a person is picked out of a crowd of records, and how to make the data safe.

The public names are listed in `__init__.pyi` and nowhere else. Each is imported on first use, so that `import incrowd`
stays quick.
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    started = sys.orig_argv[-len(sys.argv)].partition(".")[0]
    if started == __name__ or (started.startswith("-") and started.endswith(f"m{__name__}")):
        del sys.path[0]  # `python -m incrowd` in a folder of data: modules there are not ours

import incrowd._service_providers  # noqa: F401 - registers figures, reports and evaluations
from incrowd._support.lazy_names import lazy_names
from incrowd.version import __version__  # noqa: F401 - public

__all__, __getattr__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
