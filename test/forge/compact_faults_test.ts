import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { KnotlessError } from "../../core/errors.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { compactRepository } from "../../core/forge/compact.ts";
import { createRepository } from "../../core/forge/create.ts";
import { createBranch, deleteBranch } from "../../core/forge/refs.ts";
import type { Repository } from "../../core/forge/repository.ts";
import { sweep } from "../../core/forge/sweep.ts";
import { openWriting } from "../../core/forge/writing.ts";
import { binary } from "../support/binary.ts";
import { answer } from "../support/faults.ts";
import { git } from "../support/git.ts";
import { run } from "../support/run.ts";
import { killAt } from "../support/kill.ts";
import { type Machine, openMachine } from "../support/machine.ts";
import type { Network } from "../support/network.ts";
import { type Json, noise, type Owner } from "../support/owner.ts";
import { openProxied, type Proxied } from "../support/proxied.ts";
import type { Fault, NetworkProxies } from "../support/proxy.ts";

const PACK = "dev.knotless.pack";
const DAY_MS = 24 * 60 * 60 * 1000;
/** Any but questions about the PDS itself. */
const REQUEST = /^\/xrpc\/(?!.*describeServer)/;
/** A TID of long ago. */
const OLD = "3jzfcijpj2z2a";

describe("compacting that is disturbed", () => {
  let world: Proxied;
  let network: Network;
  let proxies: NetworkProxies;
  let machine: Machine;
  let owner: Owner;
  let program: string;
  let number = 0;

  beforeAll(async () => {
    program = await binary();
    world = await openProxied("disturbed");
    ({ network, proxies, owner } = world);
    machine = await world.open();
  });

  afterAll(async () => {
    await machine[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  interface Subject {
    readonly named: { owner: string; name: string };
    readonly repository: Repository;
    readonly files: string[];
    tip: string;
  }

  /** A repository with a pack that holds what no ref reaches. */
  async function start(): Promise<Subject> {
    const context = await machine.open("write");
    const named = { owner: machine.account.did, name: `app${number++}` };
    const repository = await createRepository(context, { name: named.name });
    const subject = { named, repository, files: [], tip: "" };
    await grow(subject);
    await createBranch(context, named, { name: "side" });
    await commitChanges(context, named, {
      branch: "side",
      message: "dropped",
      changes: [{ path: "dropped", base64: noise(20_000).toBase64() }],
    });
    await deleteBranch(context, named, "side");
    return subject;
  }

  /** Adds a pack to fold, and an orphan of long ago. */
  async function grow(subject: Subject): Promise<void> {
    const { named, repository, files } = subject;
    const path = `f${String(files.length).padStart(2, "0")}`;
    const changes = [{ path, base64: noise(20_000).toBase64() }];
    const context = await machine.open("write");
    subject.tip = (await commitChanges(context, named, { message: path, changes })).commit;
    files.push(path);
    await owner.put(PACK, OLD, {
      repo: repository.uri,
      sha256: "0".repeat(64),
      bytes: 1,
      objects: 0,
      needs: [],
      folds: [],
      data: { $bytes: "AA" },
    });
  }

  /** What must hold however a compact ended: a clone of it by who never saw it is whole. */
  async function checkWhole({ named, tip, files }: Subject): Promise<void> {
    await using fresh = await openMachine(network, { account: machine.account });
    const { repository: { mirror }, manifest } = await openWriting(
      await fresh.open("write"),
      named,
    );
    assertEquals(git(mirror.path, "fsck", "--strict", "--no-dangling"), "");
    assertEquals(manifest.refs.get("refs/heads/main")?.oid, tip);
    assertEquals(git(mirror.path, "ls-tree", "--name-only", "main"), files.join("\n"));
  }

  /** The next try folds; two days later nothing is left but what the manifest lists. */
  async function checkMended({ named, repository }: Subject): Promise<void> {
    const context = await machine.open("write");
    await compactRepository(context, named);
    const { manifest: { record } } = await openWriting(context, named);
    assertEquals([record.packs.length, record.tail.length], [1, 0]);
    const later = { ...context, now: () => new Date(Date.now() + 2 * DAY_MS) };
    await sweep(later, repository);
    const { value } = await owner.get("dev.knotless.refs", repository.rkey);
    const left = (await owner.list(PACK)).filter(({ value }) => value.repo === repository.uri);
    assertEquals(
      left.map(({ uri }) => uri.split("/").at(-1)),
      value.packs.map(({ rkey }: Json) => rkey),
    );
    assertEquals(value.retired, []);
  }

  it("by a kill at any request leaves the repository whole, and the next one folds", async () => {
    const subject = await start();
    let kills = 0;
    for (let at = 0;; at++) {
      await grow(subject);
      const repo = `${machine.account.handle}/${subject.named.name}`;
      const args = ["repo", "compact", repo];
      const options = { cwd: machine.dir, env: { ...machine.env } };
      const isKilled = await killAt(proxies.pds, at, [program, ...args], options);
      await checkWhole(subject);
      const { status, err } = await run(program, args, options);
      assertEquals(status, 0, err);
      await checkMended(subject);
      if (!isKilled) break;
      kills++;
    }
    assert(kills >= 8, `${kills} requests`);
  });

  const faults: [string, Fault][] = [
    ["a lost request", { kind: "drop", when: "before" }],
    ["a lost answer", { kind: "drop", when: "after" }],
    ["half an answer", { kind: "cut" }],
    ["500", answer(500)],
    ["429", answer(429)],
    ["413", answer(413)],
  ];

  for (const [what, fault] of faults) {
    it(`by ${what} at any request leaves it whole, and the next one folds`, async () => {
      const subject = await start();
      for (let at = 0;; at++) {
        await grow(subject);
        let hits: number;
        {
          using rule = proxies.pds.inject({ path: REQUEST, skip: at, times: 1 }, fault);
          try {
            await compactRepository(await machine.open("write"), subject.named);
          } catch (error) {
            assert(error instanceof KnotlessError, `${at}: ${error}`);
            assertEquals(error.exit, 7, `${at}: ${error}`);
          }
          hits = rule.hits;
        }
        await checkWhole(subject);
        await checkMended(subject);
        if (hits === 0) {
          assert(at >= 8, `${at} requests`);
          break;
        }
      }
    });
  }
});
