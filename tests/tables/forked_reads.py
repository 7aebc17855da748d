"""Reads in child processes that are forks of one process which has imported everything: a new one takes half a second.

The limits, the crash and the answer are those of a child that is started anew (tests/support/test_limited_process.py
tests that one). Forks are not made of the process of the tests, which has threads.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading

from incrowd._support import limited_process

_IMPORTS = ("incrowd.tables.formats", "pyarrow.dataset")


@contextlib.contextmanager
def reading_process():
    """`call_limited` by forks of a process that waits for requests; it ends at the end of its input."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    command, one_by_one = [sys.executable, "-m", "tests.tables.forked_reads"], threading.Lock()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:

        def call(*called, memory, seconds, imports=()):
            with one_by_one:
                process.stdin.write(json.dumps([called, memory, seconds, imports]) + "\n")
                process.stdin.flush()
                code, answer = json.loads(process.stdout.readline())
            return limited_process._result(code, answer.encode())

        yield call


def call_forked(function, *arguments, memory, seconds, imports=()):
    """`call_limited` by a fork of this process."""
    return limited_process._result(*_fork(function, arguments, memory, seconds, imports))


def _fork(function, arguments, memory, seconds, imports):
    """The exit code of a fork that calls a function within limits, and its answer."""
    for module in imports:
        importlib.import_module(module)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = limited_process._BROKEN
        with contextlib.suppress(BaseException):
            code, answer = limited_process._answer(function, arguments, memory, seconds)
            os.write(write, json.dumps(answer).encode())
        os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answered = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), answered


def _serve():
    """Answer the requests on stdin, one a line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no part of an answer
    for module in _IMPORTS:
        importlib.import_module(module)
    for line in sys.stdin:
        (function, *arguments), *limits = json.loads(line)
        code, answered = _fork(function, arguments, *limits)
        answers.write(json.dumps([code, answered.decode()]) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
