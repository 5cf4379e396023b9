import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { namesIn, readText, writeAtomic } from "../files.ts";
import { isObject, type JsonObject } from "./json.ts";
import { type Did, isDid } from "./syntax.ts";

/** What is kept of every login. */
interface Kept {
  readonly did: Did;
  /** As it was when they signed in. */
  readonly handle: string;
  readonly pds: string;
  /** What the login may do. */
  readonly scopes: readonly string[];
  /** What was asked for and not granted. */
  readonly missing: readonly string[];
  /** True once the PDS has said that it takes it no more. */
  readonly ended?: boolean;
}

/** A login with a password. */
export interface PasswordSession extends Kept {
  readonly kind: "password";
  readonly accessJwt: string;
  readonly refreshJwt: string;
}

/** A login through the browser. */
export interface BrowserSession extends Kept {
  readonly kind: "oauth";
  /** The client that it was granted to: its scopes are part of its name. */
  readonly clientId: string;
  readonly dpopJwk: JsonObject;
  readonly authMethod: JsonObject;
  readonly tokenSet: JsonObject & {
    readonly access_token: string;
    readonly refresh_token: string;
    readonly expires_at: string;
  };
}

export type StoredSession = PasswordSession | BrowserSession;

/** A file that holds a login which cannot be read. */
export interface DamagedSession {
  /** The account, by the name of the file. */
  readonly did: Did;
  readonly path: string;
}

/** The logins of this machine: one file each, readable by their user alone. */
export interface SessionStore {
  /** Undefined where there is no file. */
  read(did: Did): StoredSession | "damaged" | undefined;
  readAll(): { sessions: StoredSession[]; damaged: DamagedSession[] };
  /** Returns once the file is on disk. */
  write(session: StoredSession): Promise<void>;
  remove(did: Did): Promise<void>;
  /** The account that commands act as where nobody says otherwise. */
  readDefault(): Did | "damaged" | undefined;
  writeDefault(did: Did | undefined): Promise<void>;
  /** The last nonce that the account's PDS gave out for proofs. */
  readNonce(did: Did): string | undefined;
  writeNonce(did: Did, nonce: string): Promise<void>;
  path(did: Did): string;
  /** The file that names the default. */
  readonly defaultPath: string;
  /** The lock under which the login of an account changes. */
  lockPath(did: Did): string;
}

/** Opens the logins kept in a folder, which is made when first written to. */
export function openSessionStore(dir: string): SessionStore {
  let writes = 0;
  const named = (did: Did, ending: string) => join(dir, `${did.replaceAll(":", "_")}.${ending}`);
  const path = (did: Did) => named(did, "json");
  const defaultPath = join(dir, "default");

  async function put(file: string, text: string): Promise<void> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await chmod(dir, 0o700);
    await writeAtomic(file, text, { mode: 0o600, unique: `${process.pid}.${writes++}` });
  }

  return {
    path,
    defaultPath,
    lockPath: (did) => named(did, "lock"),
    read: (did) => readSession(path(did)),

    readAll() {
      const sessions: StoredSession[] = [];
      const damaged: DamagedSession[] = [];
      for (const file of namesIn(dir).filter((name) => name.endsWith(".json")).sort()) {
        const did = file.slice(0, -".json".length).replaceAll("_", ":");
        if (!isDid(did)) continue;
        const session = readSession(join(dir, file));
        if (session === "damaged") damaged.push({ did, path: join(dir, file) });
        else if (session !== undefined) sessions.push(session);
      }
      sessions.sort((a, b) =>
        a.handle < b.handle || (a.handle === b.handle && a.did < b.did) ? -1 : 1
      );
      return { sessions, damaged };
    },

    write: (session) => put(path(session.did), JSON.stringify(session)),

    async remove(did) {
      await rm(path(did), { force: true });
      await rm(named(did, "nonce"), { force: true });
    },

    readDefault() {
      try {
        const text = readText(defaultPath)?.trim();
        return text === undefined || isDid(text) ? text : "damaged";
      } catch {
        return "damaged";
      }
    },

    async writeDefault(did) {
      if (did === undefined) await rm(defaultPath, { force: true });
      else await put(defaultPath, `${did}\n`);
    },

    readNonce: (did) => readText(named(did, "nonce")),

    async writeNonce(did, nonce) {
      try {
        await put(named(did, "nonce"), nonce);
      } catch {
        // Without it the next request only has to be sent twice.
      }
    },
  };
}

function readSession(path: string): StoredSession | "damaged" | undefined {
  try {
    const text = readText(path);
    if (text === undefined) return undefined;
    const session: unknown = JSON.parse(text);
    return isSession(session) ? session : "damaged";
  } catch {
    return "damaged";
  }
}

function isSession(value: unknown): value is StoredSession {
  if (!isObject(value) || !isDid(String(value["did"]))) return false;
  const isText = (from: JsonObject, ...keys: string[]) =>
    keys.every((key) => typeof from[key] === "string");
  if (!isText(value, "handle", "pds") || !URL.canParse(String(value["pds"]))) return false;
  if (!Array.isArray(value["scopes"]) || !Array.isArray(value["missing"])) return false;
  if (value["kind"] === "password") return isText(value, "accessJwt", "refreshJwt");
  const tokens = value["tokenSet"];
  return value["kind"] === "oauth" && isText(value, "clientId") && isObject(value["dpopJwk"]) &&
    isObject(value["authMethod"]) && isObject(tokens) &&
    isText(tokens, "access_token", "refresh_token", "expires_at");
}
