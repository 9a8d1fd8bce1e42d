import type { Clock } from "#base/clock.ts";
import { type Logger, silentLogger } from "#base/logger.ts";
import { randomId } from "#base/random-id.ts";
import { MEMORIES_PER_TEAM, Memory, type MemoryStore, MemoryText } from "#contract/agent/memory.ts";
import { parseRequest } from "#contract/parse.ts";
import { Database } from "./database.ts";
import { openDatabase } from "./open-database.ts";
import { assertRoom, parseRow } from "./page.ts";

/** What the teams of a machine remember: one SQLite file, which many workers have open at once. */
interface Memories extends Disposable {
  of(team: string): MemoryStore;
}

interface MemoriesOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log?: Logger;
}

/** More words of a query would not make it clearer. */
const QUERY_WORDS = 20;

const TABLE = `
  CREATE TABLE memories (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (team, text)
  ) STRICT;
`;
/** The index of words. It holds no text of its own, so it is told what goes. */
const INDEX = `
  CREATE VIRTUAL TABLE memory_words USING fts5 (text, content='memories', content_rowid='position');
  CREATE TRIGGER memory_added AFTER INSERT ON memories BEGIN
    INSERT INTO memory_words (rowid, text) VALUES (new.position, new.text);
  END;
  CREATE TRIGGER memory_removed AFTER DELETE ON memories BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.position, old.text);
  END;
`;
/** Where SQLite was built without it, every text is looked through instead. */
export const plainSteps: readonly string[] = [TABLE];
const indexedSteps: readonly string[] = [TABLE + INDEX];

export function openMemories(options: MemoriesOptions, steps = chooseSteps()): Memories {
  const { path, clock, log = silentLogger } = options;
  const database = openDatabase(path, steps);
  const table: Table = { database, clock, log, isIndexed: hasIndex(database) };
  return {
    of: (team) => createMemoryStore(table, team),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

interface Table {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly isIndexed: boolean;
}

const COLUMNS = "memories.memory_id, memories.text, memories.created_at";

function createMemoryStore(table: Table, team: string): MemoryStore {
  const { database } = table;
  const parse = (rows: readonly unknown[]) =>
    rows.map((row) => parseRow(table, Memory, row)).filter((row) => row !== undefined);
  const count = () => database.number("SELECT count(*) FROM memories WHERE team = :team", { team });
  return {
    count,
    add: (given) => {
      const text = parseRequest(MemoryText, given.trim());
      return database.transaction(() => {
        const [known] = parse(
          database.all(`SELECT ${COLUMNS} FROM memories WHERE team = :team AND text = :text`, {
            team,
            text,
          }),
        );
        if (known !== undefined) return known;
        assertRoom(count(), MEMORIES_PER_TEAM, "memories");
        return insert(table, team, text);
      });
    },
    search: (query, limit) => {
      const words = findWords(query);
      if (words.length === 0) return [];
      const byIndex = table.isIndexed ? searchIndex(database, { team, words, limit }) : [];
      // The index knows beginnings of words, in languages that have blanks between them.
      return parse(byIndex.length > 0 ? byIndex : searchTexts(database, { team, words, limit }));
    },
    list: (limit) =>
      parse(
        database.all(
          `SELECT ${COLUMNS} FROM memories WHERE team = :team ORDER BY position DESC LIMIT :limit`,
          { team, limit },
        ),
      ),
    remove: (memory_id) =>
      database.run("DELETE FROM memories WHERE team = :team AND memory_id = :memory_id", {
        team,
        memory_id,
      }) > 0,
  };
}

function insert({ database, clock }: Table, team: string, text: string): Memory {
  const created_at = new Date(clock.now()).toISOString();
  const memory: Memory = { memory_id: randomId("mem"), text, created_at };
  database.run(
    "INSERT INTO memories (memory_id, team, text, created_at) VALUES (:memory_id, :team, :text, :created_at)",
    { ...memory, team },
  );
  return memory;
}

interface Query {
  readonly team: string;
  readonly words: readonly string[];
  readonly limit: number;
}

function searchIndex(database: Database, { team, words, limit }: Query): readonly unknown[] {
  // Quoted, because a bare word may be an operator.
  const match = words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(" OR ");
  return database.all(
    `SELECT ${COLUMNS} FROM memory_words JOIN memories ON memories.position = memory_words.rowid
     WHERE memory_words MATCH :match AND team = :team ORDER BY bm25(memory_words) LIMIT :limit`,
    { match, team, limit },
  );
}

/** Those with the most of the words first. */
function searchTexts(database: Database, { team, words, limit }: Query): readonly unknown[] {
  const patterns = words.map((word) => `%${word.replace(/[\\%_]/g, "\\$&")}%`);
  return database.all(
    `SELECT ${COLUMNS},
       (SELECT count(*) FROM json_each(:patterns) WHERE memories.text LIKE value ESCAPE '\\') AS hits
     FROM memories WHERE team = :team AND hits > 0 ORDER BY hits DESC, position DESC LIMIT :limit`,
    { patterns: JSON.stringify(patterns), team, limit },
  );
}

function findWords(query: string): string[] {
  const words = query.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [query.trim()];
  return [...new Set(words)].filter((word) => word !== "").slice(0, QUERY_WORDS);
}

function chooseSteps(): readonly string[] {
  using database = new Database(":memory:");
  const isBuilt = database.number("SELECT sqlite_compileoption_used('ENABLE_FTS5')") === 1;
  return isBuilt ? indexedSteps : plainSteps;
}

function hasIndex(database: Database): boolean {
  return database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'memory_words'") > 0;
}
