"""Damage to the bytes of a file; apart from its tests, for a child process that reads many such files."""

import numpy as np


def damage(whole, seed):
    """Bytes cut short, overwritten, removed or repeated."""
    generator = np.random.default_rng(seed)
    data = bytearray(whole)
    at = int(generator.integers(0, len(data)))
    size = int(generator.integers(1, 40))
    match seed % 5:
        case 0:
            return bytes(data[:at])
        case 1:
            data[at : at + size] = generator.bytes(size)
        case 2:
            del data[at : at + size]
        case 3:
            data[at:at] = data[at : at + size]
        case _:
            for place in generator.integers(0, min(len(data), 600), 8):  # headers are at the beginning
                data[place] = generator.integers(0, 256)
    return bytes(data)
