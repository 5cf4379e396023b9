import { CorruptError } from "../errors.ts";
import type { Account } from "./identity.ts";
import { isObject } from "./json.ts";
import type { Records } from "./records.ts";

/** A record by its key, without its value. */
export interface RecordKey {
  readonly collection: string;
  readonly rkey: string;
  readonly cid: string;
}

/** More nodes than this are not walked through; an account has about one for every three records. */
const MOST_NODES = 1_000_000;

/** One entry of a node: its key as far as the one before has not told it, the record's CID, and what is after it. */
interface Entry {
  readonly key: string;
  readonly cid: string;
  readonly after: string | undefined;
}

/** A subtree, and the keys between which all of its own are; absent where nothing bounds them. */
interface Subtree {
  readonly cid: string;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/**
 * Lists the keys of collections as a commit has them, by the parts of the account's tree that they are in: some 100 bytes
 * a record, whatever it holds. Undefined when the PDS gives no part of the tree, or no longer, because the account has
 * been written to.
 */
export async function listKeys(
  records: Pick<Records, "getBlocks">,
  account: Account,
  commit: string,
  collections: readonly string[],
): Promise<RecordKey[] | undefined> {
  const [root] = await nodesOf(records, account, [commit]) ?? [];
  if (root === undefined) return undefined;
  const data = isObject(root) ? linkOf(root["data"]) : undefined;
  if (data === undefined) throw new CorruptError(`the commit ${commit} has no tree`);
  const found: RecordKey[] = [];
  let level: Subtree[] = [{ cid: data }];
  for (let walked = 0; level.length > 0;) {
    walked += level.length;
    if (walked > MOST_NODES) throw new CorruptError(`the tree of ${account.did} has no end`);
    const nodes = await nodesOf(records, account, level.map(({ cid }) => cid));
    if (nodes === undefined) return undefined;
    const next: Subtree[] = [];
    for (const [at, node] of nodes.entries()) {
      const { first, entries } = readNode(node);
      const around = level[at];
      if (first !== undefined) {
        next.push({ cid: first, after: around?.after, before: entries[0]?.key ?? around?.before });
      }
      for (const [i, { key, cid, after }] of entries.entries()) {
        const slash = key.indexOf("/");
        const collection = key.slice(0, slash);
        if (collections.includes(collection)) {
          found.push({ collection, rkey: key.slice(slash + 1), cid });
        }
        const before = entries[i + 1]?.key ?? around?.before;
        if (after !== undefined) next.push({ cid: after, after: key, before });
      }
    }
    level = next.filter((subtree) => collections.some((one) => mayHold(subtree, one)));
  }
  return found;
}

/** Tells whether keys of a collection may be in a subtree: keys start with its name and a slash, which "0" follows. */
function mayHold({ after, before }: Subtree, collection: string): boolean {
  return (after === undefined || after < `${collection}0`) &&
    (before === undefined || before > `${collection}/`);
}

async function nodesOf(
  records: Pick<Records, "getBlocks">,
  account: Account,
  cids: readonly string[],
): Promise<unknown[] | undefined> {
  const blocks = await records.getBlocks(account, cids);
  return cids.every((cid) => blocks.has(cid)) ? cids.map((cid) => blocks.get(cid)) : undefined;
}

function readNode(node: unknown): { first: string | undefined; entries: Entry[] } {
  const broken = new CorruptError("a node of an account's tree breaks its format");
  if (!isObject(node) || !Array.isArray(node["e"])) throw broken;
  let before = "";
  const entries = node["e"].map((entry): Entry => {
    if (!isObject(entry)) throw broken;
    const { p: shared, k: rest, v, t } = entry;
    const cid = linkOf(v);
    if (typeof shared !== "number" || !(rest instanceof Uint8Array) || cid === undefined) {
      throw broken;
    }
    const key = before.slice(0, shared) + Buffer.from(rest).toString("latin1");
    if (shared > before.length || key <= before) throw broken;
    before = key;
    return { key, cid, after: linkOf(t) };
  });
  return { first: linkOf(node["l"]), entries };
}

function linkOf(value: unknown): string | undefined {
  const link = isObject(value) ? value["$link"] : undefined;
  return typeof link === "string" ? link : undefined;
}
