"""`incrowd serve`: run the web app on this machine."""

from __future__ import annotations

import html
import sys
import threading
from pathlib import Path
from typing import Annotated

from typer import Option

from incrowd.cli import terminal
from incrowd.cli.command_files import Output
from incrowd.errors import InputError


def serve_app(
    port: Annotated[int, Option(min=0, max=65535, help="Port to listen on; 0: a free one.")] = 8765,
    open_browser: Annotated[bool, Option("--open", help="Open the browser.")] = False,
    folder: Annotated[
        list[Path] | None, Option(help="Folder whose tables may be opened by path. Repeat. Default: the current one.")
    ] = None,
    host: Annotated[
        str, Option(help="Address to listen on. Others than 127.0.0.1 can be reached from outside.")
    ] = "127.0.0.1",
    name: Annotated[list[str] | None, Option(help="Further host name that people reach it by. Repeat.")] = None,
    max_upload: Annotated[str, Option(help="Largest file that may be dropped.")] = "4GB",
    jobs: Annotated[int, Option(min=1, max=64, help="Jobs that run at the same time.")] = 2,
    memory: Annotated[str | None, Option(help="Memory limit of work on a table: 2GB.")] = None,
    keep: Annotated[
        Path | None,
        Option(help="Private folder that keeps tables and work for the next start. Default: delete them."),
        Output("folder", replaces=True),
    ] = None,
) -> None:
    """Start the web app on this machine and print the address to open. Nothing is sent anywhere.

    [bold]incrowd serve --open[/bold]

    The address holds a token that is new at every start; requests without it are refused. Ctrl+C stops the app and
    deletes everything that was uploaded, unless --keep names a folder for it.
    """
    try:
        import uvicorn  # noqa: F401 - to say which extra is missing

        from incrowd.web.app import create_app
        from incrowd.web.serving import listening, serve_until_stopped
    except ImportError as error:
        raise InputError(
            f"the web app needs {error.name or 'more packages'}, which is not installed; "
            "install it with: pip install 'incrowd[web]'"
        ) from None
    from incrowd._support.memory import memory_in_bytes
    from incrowd.web.server_settings import LOOPBACK, ServerSettings

    with listening(host, port) as socket:
        settings = ServerSettings(
            host=host,
            port=socket.getsockname()[1],
            names=tuple(name or ()),
            folders=tuple(one.resolve() for one in folder or [Path.cwd()]),
            max_bytes=memory_in_bytes(max_upload),
            workers=jobs,
            memory=memory,
            keep=None if keep is None else keep.resolve(),
        )
        if memory is not None:
            memory_in_bytes(memory)  # refuses a wrong text now, not when the first table is opened
        if host not in LOOPBACK:
            terminal.note("this address can be reached from other machines, and what is sent to it is not encrypted")
        app = create_app(settings)
        terminal.line(f"incrowd is ready: open {settings.address}")
        end = "deletes what was uploaded" if keep is None else f"keeps what was uploaded in {keep}"
        terminal.line(f"The address holds your key: do not pass it on. Ctrl+C stops it and {end}.")
        sys.stdout.flush()  # another program may read the address from a pipe
        if open_browser:
            _open_later(settings.address, app.state.server.store.scratch)
        serve_until_stopped(app, [socket])


def _open_later(address: str, folder: Path) -> None:
    """Open the browser. The socket listens already, so the browser waits for the answer.

    Every user of a machine can read the arguments of its processes. So the browser gets a private file that redirects
    to the address, not the address with its token.
    """
    import webbrowser

    page = folder / "open.html"  # in a folder that this user alone can read
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={html.escape(address)}">'
        f'<title>incrowd</title><p><a href="{html.escape(address)}">Open incrowd</a></p>\n',
        encoding="utf-8",
    )
    page.chmod(0o600)
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
