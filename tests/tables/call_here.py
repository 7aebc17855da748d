"""What a child process does for a reader of files, done in this process: a child takes a second to start."""

import importlib

from incrowd._support.limited_process import ChildError
from incrowd.errors import IncrowdError


def call_here(function, *arguments, **limits):
    """The reader's function in this process; what it fails by is reported as its child process does."""
    module, name = function.split(":")
    try:
        return getattr(importlib.import_module(module), name)(*arguments)
    except IncrowdError:
        raise
    except BaseException as error:  # a panic in Rust is no Exception
        raise ChildError("memory" if isinstance(error, MemoryError) else "crash") from None
