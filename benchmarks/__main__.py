"""`python -m benchmarks [name …]`: run all benchmarks, or the named ones."""

import pkgutil
import sys
from importlib import import_module

import benchmarks

_NOT_BENCHMARKS = {"__main__", "harness"}

names = sys.argv[1:] or [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in _NOT_BENCHMARKS]
for name in names:
    print(f"\n## {name}")
    sys.argv = [name]
    import_module(f"benchmarks.{name}").main()
