"""`python -m incrowd.cli`."""

from incrowd.cli.app import main

main()
