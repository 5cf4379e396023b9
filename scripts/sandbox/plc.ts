/**
 * A PLC directory: checks signed operations as the public one does, keeps them as JSON lines, and
 * answers documents, data and logs.
 */

type Operation = Readonly<Record<string, unknown>>;

interface Cid {
  toString(): string;
}

interface DidData {
  readonly alsoKnownAs: readonly string[];
  readonly verificationMethods: Readonly<Record<string, string>>;
  readonly services: Readonly<Record<string, { readonly type: string; readonly endpoint: string }>>;
}

interface Indexed {
  readonly did: string;
  readonly operation: Operation;
  readonly cid: Cid;
  readonly nullified: boolean;
  readonly createdAt: Date;
}

/** The part of `@did-plc/lib` that decides what a DID is. */
export interface PlcLibrary {
  /** Throws when `proposed` may not follow; names the operations that it takes back. */
  assureValidNextOp(
    did: string,
    log: readonly Indexed[],
    proposed: Operation,
  ): Promise<{ nullified: Cid[] }>;
  getLastOpWithCid(log: readonly Operation[]): Promise<{ cid: Cid }>;
  /** Null once the DID is a tombstone. */
  opToData(did: string, operation: Operation): DidData | null;
}

/** One line of the file and one item of an audit log. */
interface Entry {
  readonly did: string;
  readonly operation: Operation;
  readonly cid: string;
  nullified: boolean;
  readonly createdAt: string;
}

/** Answers a request to the directory. */
export type Directory = (request: Request) => Promise<Response>;

const handles = "_handles/";

/** Asks a sandbox's directory for the DID whose document claims the handle. */
export async function findClaimant(plc: string, handle: string): Promise<string | undefined> {
  const response = await fetch(`${plc}/${handles}${handle}`, {
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  return response.ok ? text : undefined;
}

function toDocument(did: string, data: DidData): unknown {
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
    id: did,
    alsoKnownAs: data.alsoKnownAs,
    verificationMethod: Object.entries(data.verificationMethods).map(([name, key]) => ({
      id: `${did}#${name}`,
      type: "Multikey",
      controller: did,
      publicKeyMultibase: key.replace(/^did:key:/, ""),
    })),
    service: Object.entries(data.services).map(([name, { type, endpoint }]) => ({
      id: `#${name}`,
      type,
      serviceEndpoint: endpoint,
    })),
  };
}

function refuse(status: number, message: string): Response {
  return Response.json({ message }, { status });
}

async function readEntries(file: string): Promise<Entry[]> {
  try {
    const text = await Deno.readTextFile(file);
    return text.split("\n").filter(Boolean).map((line): Entry => JSON.parse(line));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Opens the directory kept in `file`. */
export async function openDirectory(library: PlcLibrary, file: string): Promise<Directory> {
  const logs = new Map<string, Entry[]>();
  const take = (entry: Entry) => {
    const log = logs.get(entry.did) ?? [];
    if (entry.nullified) {
      for (const old of log) if (old.cid === entry.cid) old.nullified = true;
    } else {
      logs.set(entry.did, [...log, entry]);
    }
  };
  for (const entry of await readEntries(file)) take(entry);

  const current = (did: string) => (logs.get(did) ?? []).filter(({ nullified }) => !nullified);
  const dataOf = (did: string) => {
    const last = current(did).at(-1);
    return last && library.opToData(did, last.operation);
  };

  let last: Promise<unknown> = Promise.resolve();
  /** One at a time: each operation is checked against the log that it will follow. */
  const append = (did: string, operation: Operation) => {
    const run = last.then(async () => {
      const log = await Promise.all(
        current(did).map(async (entry) => ({
          ...entry,
          cid: (await library.getLastOpWithCid([entry.operation])).cid,
          createdAt: new Date(entry.createdAt),
        })),
      );
      const { nullified } = await library.assureValidNextOp(did, log, operation);
      const taken = new Set(nullified.map(String));
      const cid = String((await library.getLastOpWithCid([operation])).cid);
      const added: Entry[] = [
        ...current(did).filter((entry) => taken.has(entry.cid))
          .map((entry) => ({ ...entry, nullified: true })),
        { did, operation, cid, nullified: false, createdAt: new Date().toISOString() },
      ];
      const lines = added.map((entry) => `${JSON.stringify(entry)}\n`).join("");
      await Deno.writeTextFile(file, lines, { append: true });
      added.forEach(take);
    });
    last = run.catch(() => {});
    return run;
  };

  const read = (did: string, view: string): Response => {
    const log = current(did);
    const operations = log.map(({ operation }) => operation);
    if (log.length === 0) return refuse(404, `DID not registered: ${did}`);
    if (view === "log") return Response.json(operations);
    if (view === "log/last") return Response.json(operations.at(-1));
    if (view === "log/audit") return Response.json(logs.get(did));
    const data = dataOf(did);
    if (!data) return refuse(410, `DID not available: ${did}`);
    if (view === "data") return Response.json(data);
    if (view !== "") return refuse(404, "not found");
    return Response.json(toDocument(did, data), {
      headers: { "content-type": "application/did+ld+json" },
    });
  };

  const claimantOf = (handle: string) =>
    [...logs.keys()].find((did) => dataOf(did)?.alsoKnownAs.includes(`at://${handle}`));

  return async (request) => {
    const path = decodeURIComponent(new URL(request.url).pathname.slice(1));
    if (path.startsWith(handles)) {
      const did = claimantOf(path.slice(handles.length));
      return did ? new Response(did) : refuse(404, "no DID claims this handle");
    }
    const [did = "", ...view] = path.split("/");
    if (!did.startsWith("did:plc:")) return refuse(404, "not found");
    if (request.method !== "POST") return read(did, view.join("/"));
    try {
      await append(did, await request.json());
      return Response.json({});
    } catch (error) {
      return refuse(400, error instanceof Error ? error.message : String(error));
    }
  };
}
