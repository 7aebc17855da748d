"""One command to measure everything: `make bench`."""
