/** What pushes have left at a PDS. */
export interface Left {
  /** Packs that the manifest lists, and those in its tail. */
  readonly packs: number;
  readonly tail: number;
  /** The bytes of the manifest as JSON. */
  readonly manifest: number;
  readonly records: number;
  readonly blobs: number;
}

/** Asks a PDS what an account's only repository has come to. */
export async function leftAt(pds: string, did: string): Promise<Left> {
  const list = async (collection: string) => {
    const found = await listAll(pds, "com.atproto.repo.listRecords", "records", {
      repo: did,
      collection,
      limit: "100",
    });
    return found as { value: Record<string, unknown[]> }[];
  };
  const [refs] = await list("dev.knotless.refs");
  const blobs = await listAll(pds, "com.atproto.sync.listBlobs", "cids", { did, limit: "1000" });
  return {
    packs: refs?.value["packs"]?.length ?? NaN,
    tail: refs?.value["tail"]?.length ?? NaN,
    manifest: JSON.stringify(refs?.value).length,
    records: (await list("dev.knotless.pack")).length,
    blobs: blobs.length,
  };
}

async function listAll(
  pds: string,
  method: string,
  key: string,
  query: Readonly<Record<string, string>>,
): Promise<unknown[]> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  do {
    const asked = new URLSearchParams({ ...query, ...(cursor !== undefined && { cursor }) });
    const answer = await (await fetch(`${pds}/xrpc/${method}?${asked}`)).json();
    found.push(...answer[key]);
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return found;
}
