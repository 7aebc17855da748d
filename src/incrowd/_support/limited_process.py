"""A child process with limited memory and time, for files that may be hostile; its crash does not end the parent."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from incrowd import errors
from incrowd._support.memory import NO_RESERVE

_OUT_OF_MEMORY, _BROKEN = 3, 4  # exit codes of the child


class ChildError(Exception):
    """The child process ended without an answer; `reason` is "memory", "time" or "crash"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def call_limited(function: str, *arguments: Any, memory: int, seconds: int, imports: tuple[str, ...] = ()) -> Any:
    """Call a function in a child process.

    Args:
        function: "module:name" of the function.
        arguments: its arguments; arguments and return value must be JSON values.
        memory: bytes that the call may take.
        seconds: processor time that the call may take.
        imports: modules to import before the limits are set.

    Raises:
        IncrowdError: the one that the function raised.
        ChildError: the child ran out of memory or time, or crashed.

    >>> call_limited("math:hypot", 3, 4, memory=10**9, seconds=10)
    5.0
    """
    request = {
        "function": function,
        "arguments": arguments,
        "memory": memory,
        "seconds": seconds,
        "imports": imports,
    }
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
    try:
        child = subprocess.run(  # -P: modules in the current folder are not ours
            [sys.executable, "-P", "-m", "incrowd._support.limited_process"],
            input=json.dumps(request).encode(),
            capture_output=True,  # not shown: error messages of libraries may quote cells
            env={**os.environ, "PYTHONPATH": paths, **NO_RESERVE},
            timeout=10 * seconds + 30,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ChildError("time") from None
    return _result(child.returncode, child.stdout, child.stderr)


def _result(code: int, output: bytes, errors_output: bytes = b"") -> Any:
    """Return the child's answer, or raise the error that its exit code, stdout and stderr describe."""
    if code:
        if code == _OUT_OF_MEMORY or b"memory allocation of" in errors_output:  # Rust prints this, then aborts
            raise ChildError("memory")
        raise ChildError("time" if code == -getattr(signal, "SIGXCPU", 0) else "crash")
    try:
        answer = json.loads(output)
    except json.JSONDecodeError:  # a library ended the child with exit code 0
        raise ChildError("crash") from None
    if "error" in answer:
        raise getattr(errors, answer.pop("error"))(answer.pop("message"), **answer)
    return answer["value"]


def _limit(memory: int, seconds: int) -> None:
    """Limit the memory and time of this process; no effect on systems without such limits."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would hold cells
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:  # below the hard limit, because its signal does not give the reason
        seconds = max(1, min(seconds, hard - 1))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5 if hard == resource.RLIM_INFINITY else hard))
    pages = Path("/proc/self/statm")
    if pages.exists():
        in_use = int(pages.read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = in_use + memory if hard == resource.RLIM_INFINITY else min(in_use + memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _main() -> int:
    """Answer the request on stdin; the exit code says what went wrong."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print goes to stderr: stdout is for the answer
    request = json.loads(sys.stdin.buffer.read())
    for package in request.pop("imports"):
        importlib.import_module(package)
    code, answer = _answer(**request)
    with answers:
        answers.write(json.dumps(answer))
    return code


def _answer(function: str, arguments: list[Any], memory: int, seconds: int) -> tuple[int, dict[str, Any]]:
    """Call the function within the limits; return the exit code, and the function's value or error as JSON."""
    module, _, name = function.partition(":")
    called = getattr(importlib.import_module(module), name)
    _limit(memory, seconds)
    try:
        return 0, {"value": called(*arguments)}
    except errors.IncrowdError as error:
        keywords = {"hint": list(error.hint), "choices": list(error.choices)}
        return 0, {"error": type(error).__name__, "message": str(error), **keywords}
    except MemoryError:
        return _OUT_OF_MEMORY, {}
    except BaseException:  # a panic of compiled code is no Exception
        return _BROKEN, {}


if __name__ == "__main__":
    sys.exit(_main())
