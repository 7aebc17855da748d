"""Secret keys of the user: under one key, a person has the same pseudonym in every protected table."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.files import read_small
from incrowd.backends import Coded
from incrowd.backends.counts import record_without_person
from incrowd.errors import InputError
from incrowd.protection.batch_fingerprints import cells_as_text
from incrowd.wording import counted

Key = bytes | str | os.PathLike[str]
_SHORTEST = 16  # bytes; a shorter key can be guessed
_FEWEST_DIFFERENT = 8  # different bytes; a key with fewer was typed, not drawn at random
_BITS = 53  # of a pseudonym: spreadsheets and JSON keep whole numbers up to 2^53


def read_key(key: Key) -> bytes:
    """Read a key from bytes or from a file; white space around it is ignored.

    Raises:
        InputError: the file cannot be read, or the key is so short or so uniform that it can be guessed.
    """
    try:
        content = (key if isinstance(key, bytes) else read_small(key)).strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"the key cannot be read: {why}; write one to a file that only you can read") from None
    if len(content) < _SHORTEST:
        raise InputError(
            f"a key of {counted(len(content), 'byte', 'bytes')} can be guessed; give {_SHORTEST} random ones or more"
        )
    if (different := len({*content})) < _FEWEST_DIFFERENT:
        raise InputError(
            f"a key of only {counted(different, 'different byte', 'different bytes')} can be guessed; "
            f"give {_SHORTEST} random ones or more"
        )
    return content


def derive_pseudonyms(person: Coded, key: bytes, purpose: bytes = b"person") -> NDArray[np.int64]:
    """Derive the pseudonym of every person: a keyed hash (BLAKE2b) of the value of the person column as text.

    7, 7.0 and "7 " are one person, as are a date and its midnight. Pseudonyms for different purposes are unrelated.
    `key` is a result of `read_key`.

    Raises:
        InputError: some records have no person, or two people differ only in how they are written.
    """
    secret = hashlib.sha256(key).digest()
    texts = cells_as_text(pa.chunked_array([person.values]))
    if None in texts:
        raise record_without_person(person.name)
    if same := len(texts) - len({*texts}):
        raise InputError(
            f"{counted(same, 'person differs', 'people differ')} from another in {person.name!r} only by blanks or in "
            "how a number is written; write everybody in one way"
        )
    hashes = (hashlib.blake2b(str(text).encode(), key=secret, digest_size=8, person=purpose).digest() for text in texts)
    return as_pseudonyms(b"".join(hashes))


def as_pseudonyms(drawn: bytes) -> NDArray[np.int64]:
    """Pseudonyms (whole numbers below 2^53) from hashed or random bytes, eight for each."""
    return (np.frombuffer(drawn, dtype=">u8") >> np.uint64(64 - _BITS)).astype(np.int64)
