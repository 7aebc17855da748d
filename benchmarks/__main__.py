"""`python -m benchmarks [name …]`: run all benchmarks, or the named ones."""

import pkgutil
import sys
from importlib import import_module

import benchmarks

_NOT_BENCHMARKS = {"__main__", "harness", "protect_anjana", "protect_anonypy", "standalone"}

options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
every = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name not in _NOT_BENCHMARKS]
for name in names or every:
    print(f"\n## {name}")
    sys.argv = [name, *options]
    import_module(f"benchmarks.{name}").main()
