-- What `accordion queue` and `accordion explain` show: one row.
CREATE TABLE queue (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  data BLOB    NOT NULL
) STRICT;
