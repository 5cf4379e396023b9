import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createRepository } from "../../core/forge/create.ts";
import { createBranch } from "../../core/forge/refs.ts";
import type { Mirror } from "../../core/mirror/mirror.ts";
import { type App, appOf } from "../support/app.ts";
import { fsck, git, gitLines } from "../support/git.ts";
import { type Machine, openMachine } from "../support/machine.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { freshTid, type Json, openOwner, type Owner } from "../support/owner.ts";

const REFS = "dev.knotless.refs";
const ONLINE = { offline: false, maxAge: 0 };

const refsIn = (path: string) =>
  Object.fromEntries(
    gitLines(path, "for-each-ref", "--format=%(refname) %(objectname)").map((line) =>
      line.split(" ")
    ),
  );

describe("a manifest that goes back", () => {
  let network: Network;
  /** The machine that saw the newer one. */
  let left: Machine;
  let reader: Machine;
  let owner: Owner;
  let number = 0;
  let app: App;
  let mirror: Mirror;
  /** The manifests of the first and the second commit. */
  let manifests: Json[];
  let commits: string[];

  beforeAll(async () => {
    network = await openNetwork();
    const account = await network.createAccount("back");
    left = await openMachine(network, { account });
    reader = await openMachine(network, { account, login: false });
    owner = await openOwner(network, account);
  });

  afterAll(async () => {
    await left[Symbol.asyncDispose]();
    await reader[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    const name = `app${number++}`;
    const made = await createRepository(await left.open("write"), { name });
    app = appOf({ network, owner }, made);
    manifests = [];
    commits = [];
    for (const content of ["one\n", "two\n"]) {
      commits.push(await write(left, { path: "a", content }));
      manifests.push(await app.manifest());
    }
    mirror = await mirrorOn(reader);
    await mirror.latest();
    reader.notes.splice(0);
    left.notes.splice(0);
  });

  const write = async (machine: Machine, change: { path: string; content: string }) =>
    (await app.commit(machine, [change])).commit;

  async function mirrorOn(machine: Machine): Promise<Mirror> {
    const { identity, mirrors } = await machine.open("read");
    return mirrors.at(await identity.resolve(left.account.did), app.repository.rkey);
  }

  /** Sees the copy on the reader's machine stay, with a note. */
  async function stays(says: RegExp): Promise<void> {
    const before = git(mirror.path, "for-each-ref");
    const { refs, generation } = await mirror.view(ONLINE);
    assertEquals([refs.get("refs/heads/main")?.oid, generation], [commits[1], 3]);
    assertEquals(git(mirror.path, "for-each-ref"), before);
    assertEquals(reader.notes.length, 1);
    assertMatch(reader.notes[0] ?? "", says);
    fsck(mirror.path);
  }

  /** Commits on the machine that saw the newer one; every copy follows that. */
  async function repair(parent: string): Promise<void> {
    const commit = await write(left, { path: "b", content: "repaired\n" });
    assertMatch(left.notes.join("\n"), /went back/);
    assertEquals((await app.manifest()).generation, 4);
    const { refs } = await mirror.view(ONLINE);
    assertEquals(refs.get("refs/heads/main")?.oid, commit);
    assertEquals(git(mirror.path, "rev-parse", "main^"), parent);
    assertEquals(await app.readAnew(refsIn), { "refs/heads/main": commit });
    fsck(mirror.path);
    fsck((await mirrorOn(left)).path);
    const next = await write(left, { path: "b", content: "and on\n" });
    assertEquals(await app.readAnew(refsIn), { "refs/heads/main": next });
  }

  it("leaves copies as they are, with a note, until its owner publishes above it", async () => {
    const [first = {}] = manifests;
    await owner.put(REFS, app.repository.rkey, first);
    await stays(/went back: it is at generation 2 \(bafy\w+\), this machine has seen 3 \(bafy/);
    assertEquals(await app.readAnew(refsIn), { "refs/heads/main": commits[0] ?? "" });
    await repair(commits[0] ?? "");
  });

  it("is told of two at one generation too", async () => {
    const [first = {}] = manifests;
    await owner.put(REFS, app.repository.rkey, { ...first, generation: 3, id: freshTid() });
    await stays(/went back: it is at generation 3 \(bafy\w+\), this machine has seen 3 \(bafy/);
    await repair(commits[0] ?? "");
  });

  it("may hold what another machine wrote on it, which the repair keeps", async () => {
    const [first = {}] = manifests;
    await owner.put(REFS, app.repository.rkey, first);
    await using right = await openMachine(network, { account: left.account });
    const commit = await write(right, { path: "c", content: "right\n" });
    await stays(/generation 3/);
    await repair(commit);
  });

  it("is followed again by itself once others have gone above it", async () => {
    const [first = {}] = manifests;
    await owner.put(REFS, app.repository.rkey, first);
    await using right = await openMachine(network, { account: left.account });
    await write(right, { path: "c", content: "right\n" });
    const commit = await write(right, { path: "c", content: "and on\n" });
    assertEquals((await app.manifest()).generation, 4);
    assertEquals((await mirror.view(ONLINE)).refs.get("refs/heads/main")?.oid, commit);
    assertEquals(reader.notes, []);
    fsck(mirror.path);
  });

  it("may have lost commits that the machine which saw them brings back", async () => {
    const [first = {}] = manifests;
    await owner.put(REFS, app.repository.rkey, first);
    const [one = "", two = ""] = commits;
    await createBranch(await left.open("write"), app.named, { name: "saved", rev: "main" });
    assertEquals(await app.readAnew(refsIn), { "refs/heads/main": one, "refs/heads/saved": two });
    assertEquals((await mirror.view(ONLINE)).refs.size, 2);
    fsck(mirror.path);
  });

  it("that breaks the rules is no more than gone back to a reader", async () => {
    const [first = {}] = manifests;
    const refs = [{ name: "refs/heads/main", oid: "1".repeat(40) }];
    await owner.put(REFS, app.repository.rkey, { ...first, refs });
    await stays(/went back/);
    assert(await write(left, { path: "b", content: "x\n" }).catch(() => true) === true);
  });
});
