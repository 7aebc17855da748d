"""The tasks that jobs run: one kind a file, each calls the library and gives its result and its figures."""
