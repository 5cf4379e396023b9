import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Identity, openIdentity } from "../../core/atproto/identity.ts";
import { NotFoundError, RemoteError, UsageError } from "../../core/errors.ts";
import { closedUrl, type Edge, openDns, openEdge, type Zone } from "./edge.ts";

const ALICE = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
const BOB = "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb";

/** A network of two accounts, whose parts a test may change or break. */
class Place {
  folder = "";
  clock = Date.parse("2026-11-30T20:00:00Z");
  asked: string[] = [];
  zone: Zone = (name) => name === "_atproto.alice.test" ? [`did=${ALICE}`] : "absent";
  documents: Record<string, unknown> = {};
  wellKnown: Record<string, string> = { "bob.test": BOB };
  status = 200;
  closed = "";
  web: Edge | undefined;
  dns: Awaited<ReturnType<typeof openDns>> | undefined;

  async open(): Promise<void> {
    this.closed = await closedUrl();
    this.folder = await mkdtemp(join(tmpdir(), "identity-"));
    this.documents[ALICE] = document(ALICE, "alice.test");
    this.documents[BOB] = document(BOB, "bob.test");
    this.dns = await openDns((name) => {
      this.asked.push(name);
      return this.zone(name);
    });
    this.web = await openEdge((request, response) => {
      const path = decodeURIComponent(request.url ?? "");
      this.asked.push(path);
      const host = String(request.headers["x-forwarded-host"] ?? "");
      const found = path === "/.well-known/atproto-did"
        ? this.wellKnown[host]
        : path === "/.well-known/did.json"
        ? this.documents["web"]
        : this.documents[path.slice(1)];
      response.statusCode = this.status !== 200 ? this.status : found === undefined ? 404 : 200;
      response.end(typeof found === "string" ? found : JSON.stringify(found ?? {}));
    });
  }

  identity(changed: Partial<Parameters<typeof openIdentity>[0]> = {}): Identity {
    return openIdentity({
      plc: this.web?.url ?? "",
      dns: this.dns?.address,
      handleHttp: this.web?.url,
      cacheFile: join(this.folder, "identities.json"),
      fetch,
      now: () => new Date(this.clock),
      signal: new AbortController().signal,
      offline: false,
      timeoutMs: 800,
      random: () => 0,
      ...changed,
    });
  }

  async close(): Promise<void> {
    await this.web?.[Symbol.asyncDispose]();
    await this.dns?.[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true });
  }
}

function document(did: string, handle: string, pds = "https://pds.example.com"): unknown {
  return {
    id: did,
    alsoKnownAs: [`at://${handle}`],
    service: [{ id: "#atproto_pds", type: "AtprotoPersonalDataServer", serviceEndpoint: pds }],
  };
}

describe("an identity", () => {
  let place = new Place();
  beforeEach(async () => {
    place = new Place();
    await place.open();
  });
  afterEach(() => place.close());

  it("is found by handle in DNS, in any case and with an @", async () => {
    const alice = { did: ALICE, handle: "alice.test", pds: "https://pds.example.com" };
    assertEquals(await place.identity().resolve("@Alice.TEST"), alice);
    assertEquals(place.asked, ["_atproto.alice.test", `/${ALICE}`]);
  });

  it("is found at the well-known address when DNS does not have it", async () => {
    assertEquals((await place.identity().resolve("bob.test")).did, BOB);
  });

  it("is found at the well-known address when DNS is silent", async () => {
    place.zone = () => "silent";
    assertEquals((await place.identity().resolve("bob.test")).did, BOB);
  });

  it("is found by DID, with its handle verified", async () => {
    assertEquals((await place.identity().resolve(BOB)).handle, "bob.test");
  });

  it("shows handle.invalid for a handle that names another account, none, or is none", async () => {
    for (const claimed of ["alice.test", "nobody.test", "not a handle", "alice.local"]) {
      place.documents[BOB] = document(BOB, claimed);
      const identity = place.identity();
      await identity.forget(BOB);
      assertEquals((await identity.resolve(BOB)).handle, "handle.invalid");
    }
  });

  it("is not found by a handle that its document does not name back", async () => {
    place.documents[ALICE] = document(ALICE, "other.test");
    const error = await assertRejects(
      () => place.identity().resolve("alice.test"),
      NotFoundError,
      "does not name it back",
    );
    assertStringIncludes(error.message, ALICE);
  });

  it("is not found by a handle that DNS gives to two accounts", async () => {
    place.zone = () => [`did=${ALICE}`, `did=${BOB}`];
    await assertRejects(() => place.identity().resolve("alice.test"), NotFoundError, "several");
  });

  it("of nobody is not found, and the error says what was asked", async () => {
    const error = await assertRejects(
      () => place.identity().resolve("nobody.test"),
      NotFoundError,
      "nobody.test",
    );
    assertStringIncludes(error.message, "_atproto.nobody.test");
    assertStringIncludes(error.message, "/.well-known/atproto-did");
  });

  it("is never called missing when the network is down", async () => {
    place.zone = () => "silent";
    const error = await assertRejects(
      () => place.identity({ handleHttp: place.closed }).resolve("alice.test"),
      RemoteError,
    );
    assertEquals(error.host, new URL(place.closed).host);
    await assertRejects(() => place.identity().resolve("nobody.test"), RemoteError, "_atproto");
    const down = place.identity({ plc: place.closed });
    assertEquals(
      (await assertRejects(() => down.resolve(ALICE), RemoteError)).host,
      new URL(place.closed).host,
    );
  });

  it("is asked for again after an answer of 503, then the server is named", async () => {
    place.status = 503;
    const error = await assertRejects(() => place.identity().resolve(ALICE), RemoteError, "503");
    assertEquals(error.retryable, true);
    assertEquals(place.asked.length, 3);
  });

  it("tells a deleted account from one that never was", async () => {
    place.status = 410;
    await assertRejects(() => place.identity().resolve(ALICE), NotFoundError, "deleted");
    place.status = 404;
    await assertRejects(() => place.identity().resolve(BOB), NotFoundError, "no account");
  });

  it("refuses what is no handle and no DID of an account", async () => {
    for (
      const actor of ["jo@hn.test", "john..test", "cn.8", "", "did:example:alice", "did:plc:x"]
    ) {
      await assertRejects(() => place.identity().resolve(actor), UsageError);
    }
    assertEquals(place.asked, []);
  });

  it("is read from the host of a did:web", async () => {
    const did = `did:web:localhost%3A${place.web?.port}`;
    place.documents["web"] = document(did, "web.test");
    assertEquals((await place.identity().resolve(did)).pds, "https://pds.example.com");
  });

  it("never leads a public network's client to this machine or a private one", async () => {
    const elsewhere = new URL(place.web?.url ?? "");
    const identity = place.identity({
      plc: "https://plc.example.com",
      fetch: (input, init) => {
        const url = new URL(String(input));
        return fetch(url.host === "plc.example.com" ? new URL(url.pathname, elsewhere) : url, init);
      },
    });
    for (
      const pds of [
        "http://localhost:8080",
        "http://pds.example.com",
        "https://10.0.0.1",
        "https://[fd00::1]",
        "https://0x7f.1",
        "https://me:secret@pds.example.com",
        "ftp://pds.example.com",
        "nonsense",
      ]
    ) {
      place.documents[ALICE] = document(ALICE, "alice.test", pds);
      await assertRejects(() => identity.resolve(ALICE), NotFoundError, "address");
    }
    await assertRejects(() => identity.resolve("did:web:localhost%3A80"), UsageError);
    const error = await assertRejects(() => identity.resolve("did:web:localhost:1"), UsageError);
    assertMatch(String(error.hint), /a public host and no port/);
  });

  it("is answered from disk for ten minutes, then asked for again", async () => {
    await place.identity().resolve("alice.test");
    place.asked = [];
    assertEquals((await place.identity().resolve(ALICE)).handle, "alice.test");
    assertEquals((await place.identity().resolve("alice.test")).did, ALICE);
    assertEquals(place.asked, []);
    place.clock += 10 * 60_000;
    await place.identity().resolve("alice.test");
    assertEquals(place.asked.length, 2);
  });

  it("is asked for again once forgotten", async () => {
    const identity = place.identity();
    await identity.resolve("alice.test");
    place.documents[ALICE] = document(ALICE, "alice.test", "https://moved.example.com");
    await identity.forget(ALICE);
    assertEquals((await identity.resolve("alice.test")).pds, "https://moved.example.com");
  });

  it("is answered from disk at any age offline, and where the network is down", async () => {
    await place.identity().resolve("alice.test");
    place.clock += 1e10;
    place.asked = [];
    assertEquals((await place.identity({ offline: true }).resolve("alice.test")).did, ALICE);
    assertEquals(place.asked, []);
    assertEquals((await place.identity({ plc: place.closed }).resolve("alice.test")).did, ALICE);
    const error = await assertRejects(
      () => place.identity({ offline: true }).resolve("bob.test"),
      RemoteError,
    );
    assertEquals(error.code, "remote.offline");
  });

  it("survives a cache that is corrupt, hostile or cannot be written", async () => {
    const file = join(place.folder, "identities.json");
    for (
      const text of ["", "{", "null", '[{"did":1}]', `[{"did":"${ALICE}","handle":"alice.test"}]`]
    ) {
      await writeFile(file, text);
      assertEquals((await place.identity().resolve("alice.test")).did, ALICE);
    }
    assert((await readFile(file, "utf8")).includes(ALICE));
    const nowhere = place.identity({ cacheFile: join(file, "below", "a", "file") });
    assertEquals((await nowhere.resolve("alice.test")).did, ALICE);
  });

  it("asks once for many who ask at the same time", async () => {
    const identity = place.identity();
    await Promise.all(Array.from({ length: 20 }, () => identity.resolve("alice.test")));
    assertEquals(place.asked.length, 2);
  });
});
