"""The tasks that jobs run, one subject per file. A task calls the library and returns a result with its figures."""
