"""What the tests of databases share."""

import datetime
import sqlite3

PASSWORD = "s3cr3t-never-shown"
DEMO = ["age_yrs", "sex", "race", "patcnty"]


def to_sqlite(path, table, name="people"):
    """A file with these rows; days and moments as text, as SQLite has them."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        columns = ", ".join('"' + column.replace('"', '""') + '"' for column in table.column_names)
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        rows = [
            [str(cell) if isinstance(cell, datetime.date) else cell for cell in row.values()]
            for row in table.to_pylist()
        ]
        marks = ", ".join("?" * table.num_columns)
        connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    connection.close()
    return path
