"""Hostile files are read in a child process: what crashes, hangs or asks for too much there ends nothing here."""

import ctypes
import os
import subprocess
import sys
import time

import pytest

from incrowd._support.limited_process import ChildError, call_limited
from incrowd.errors import ColumnNotFoundError, InputError


def take_memory(size):
    return len(bytearray(size))


def crash():
    ctypes.string_at(0)


def hang():
    end = time.process_time() + 60
    while time.process_time() < end:
        pass


def panic():
    raise KeyboardInterrupt


def end_quietly():
    os._exit(0)


def talk():
    sys.stdout.write("hello")
    os.write(1, b"hello")
    return 5


def refuse(kind):
    raise {"input": InputError, "column": ColumnNotFoundError}[kind]("so it is", hint=("memory", "sheet"))


def ask(function, *arguments, seconds=20):
    return call_limited(f"tests.support.test_limited_process:{function}", *arguments, memory=10**8, seconds=seconds)


def test_arguments_and_answers_pass_both_ways():
    assert ask("take_memory", 10**6) == 10**6


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        ("take_memory", [10**9], "memory"),
        ("crash", [], "crash"),
        ("panic", [], "crash"),
        ("end_quietly", [], "crash"),
        ("hang", [], "time"),
    ],
)
def test_a_child_that_ends_badly_says_why(function, arguments, reason):
    with pytest.raises(ChildError) as ended:
        ask(function, *arguments, seconds=2)
    assert ended.value.reason == reason


def test_an_error_in_words_is_the_same_error_here():
    with pytest.raises(InputError, match="so it is") as refused:
        ask("refuse", "input")
    assert refused.value.hint == ("memory", "sheet")
    with pytest.raises(ColumnNotFoundError, match="so it is"):
        ask("refuse", "column")


def test_what_a_library_prints_is_no_part_of_the_answer():
    assert ask("talk") == 5


@pytest.mark.parametrize(("function", "argument", "said"), [("sqrt", 25, "5.0"), ("factorial", 10**9, "time")])
def test_a_limit_of_processor_time_that_is_lower_already_is_kept(function, argument, said):
    code = f"""
import resource
from incrowd._support.limited_process import ChildError, call_limited
resource.setrlimit(resource.RLIMIT_CPU, (4, 4))
try:
    print(call_limited("math:{function}", {argument}, memory=10**9, seconds=60))
except ChildError as error:
    print(error.reason)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [said]
