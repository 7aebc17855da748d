"""What jobs do: one kind a file, each a call of the library with its result, its figures and nothing else."""
