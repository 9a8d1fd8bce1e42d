/**
 * Step n takes a file from `user_version` n to n + 1. Steps are only ever added. `position` is where a row stands in
 * its list; AUTOINCREMENT never gives one twice, so a cursor stays right while rows come and go.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE workspaces (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT;

  CREATE TABLE tasks (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    title TEXT NOT NULL,
    work_dir TEXT NOT NULL,
    issue_id TEXT,
    prior_session_id TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX tasks_by_workspace ON tasks (workspace_id);

  CREATE TABLE tokens (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    token_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('token', 'local', 'cookie')),
    parent_token_id TEXT REFERENCES tokens (token_id) ON DELETE CASCADE,
    secret_hash BLOB NOT NULL UNIQUE,
    label TEXT NOT NULL,
    user_id TEXT NOT NULL,
    role TEXT NOT NULL,
    is_everywhere INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    last_used_at TEXT,
    CHECK ((kind = 'cookie') = (parent_token_id IS NOT NULL))
  ) STRICT;
  CREATE INDEX tokens_by_parent ON tokens (parent_token_id);
  CREATE INDEX tokens_by_expiry ON tokens (expires_at);

  CREATE TABLE token_workspaces (
    token_id TEXT NOT NULL REFERENCES tokens (token_id) ON DELETE CASCADE,
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id) ON DELETE CASCADE,
    UNIQUE (token_id, workspace_id)
  ) STRICT;
  CREATE INDEX token_workspaces_by_workspace ON token_workspaces (workspace_id);

  CREATE TABLE tickets (
    secret_hash BLOB PRIMARY KEY,
    token_id TEXT NOT NULL REFERENCES tokens (token_id) ON DELETE CASCADE,
    expires_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX tickets_by_token ON tickets (token_id);
  CREATE INDEX tickets_by_expiry ON tickets (expires_at);

  CREATE TABLE audit (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    action TEXT NOT NULL,
    user_id TEXT,
    token_id TEXT,
    workspace_id TEXT,
    target_id TEXT,
    details TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_workspace ON audit (workspace_id);
  CREATE INDEX audit_by_target ON audit (target_id);

  CREATE TABLE shells (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    shell_id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL,
    user_id TEXT,
    work_dir TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_run_at TEXT,
    running TEXT
  ) STRICT;
  CREATE INDEX shells_by_workspace ON shells (workspace_id);
  `,
];
