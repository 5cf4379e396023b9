import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

const POLL_MS = 20;

/**
 * Runs `work` while no other process of this machine, and no other caller in this one, holds the lock at `path`.
 *
 * The lock is SQLite's on an empty database file: the kernel drops it when its holder dies, however it dies, so there is
 * no stale lock to guess about. Rejects when `signal` aborts before the lock is had.
 */
export async function withLock<T>(
  path: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const release = await takeLock(path, signal);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Takes the lock at `path` if nobody holds it, and gives what lets it go; undefined when somebody does. */
export async function tryLock(path: string): Promise<(() => void) | undefined> {
  const database = await open(path);
  let isHeld = false;
  try {
    isHeld = tryBegin(database);
    return isHeld ? () => database.close() : undefined;
  } finally {
    if (!isHeld) database.close();
  }
}

async function takeLock(path: string, signal: AbortSignal): Promise<() => void> {
  const database = await open(path);
  try {
    while (true) {
      signal.throwIfAborted();
      if (tryBegin(database)) return () => database.close();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } catch (error) {
    database.close();
    throw error;
  }
}

async function open(path: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import("node:sqlite");
  await mkdir(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  // Without this SQLite sleeps inside the call and would hold up everything else in the process.
  database.exec("PRAGMA busy_timeout = 0");
  return database;
}

function tryBegin(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && /\b(locked|busy)\b/i.test(error.message)) return false;
    throw error;
  }
}
