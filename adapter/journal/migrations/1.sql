-- What the sidecar meant to do and did (intents), and what happened (events), in one sequence.
-- Points in time are microseconds since the Unix epoch.
CREATE TABLE entry (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,          -- never used again, so that a follower misses nothing
  kind      TEXT    NOT NULL CHECK (kind IN ('intent', 'event')),
  at        INTEGER NOT NULL,
  cluster   TEXT    NOT NULL,
  job       INTEGER NOT NULL,
  submitted INTEGER NOT NULL,                           -- Unix seconds; names the job together with its id
  verb      TEXT    NOT NULL,
  text      TEXT    NOT NULL,
  args      TEXT    NOT NULL,                           -- a JSON object, or empty
  finished  INTEGER,                                    -- NULL until the outcome is known
  outcome   TEXT                                        -- done, failed: …, lost: …
) STRICT;

CREATE INDEX entry_unfinished ON entry (id) WHERE kind = 'intent' AND outcome IS NULL;
CREATE INDEX entry_job ON entry (job, id);
CREATE INDEX entry_at ON entry (at);

-- What the sidecar must remember of each managed job over a restart; the sidecar's own JSON.
CREATE TABLE record (
  job       INTEGER NOT NULL,
  submitted INTEGER NOT NULL,
  data      BLOB    NOT NULL,
  PRIMARY KEY (job, submitted)
) STRICT, WITHOUT ROWID;

-- What `accordion status` shows: one row.
CREATE TABLE view (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  data BLOB    NOT NULL
) STRICT;
