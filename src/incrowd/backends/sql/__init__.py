"""Tables in PostgreSQL and SQLite."""
