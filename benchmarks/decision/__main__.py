"""`python -m benchmarks.decision`."""

from benchmarks.decision import main

main()
