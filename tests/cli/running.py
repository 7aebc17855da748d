"""How tests run the command line."""

import pytest

from incrowd.cli import main


def run(capsys, *arguments):
    """Run the command; its exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    streams = capsys.readouterr()
    return stopped.value.code, streams.out, streams.err
