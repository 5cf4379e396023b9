import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KnotlessError } from "../../core/errors.ts";
import type { Mirror } from "../../core/mirror/mirror.ts";
import { describeCopies, ONLINE } from "../support/copies.ts";
import { fsck, git } from "../support/git.ts";
import { commit, handmade, noise, packOf, sha256, tree } from "../support/owner.ts";
import { GET_BLOB } from "../support/races.ts";

describeCopies("work that is cut off in a mirror", (it) => {
  async function packsOf(path: string): Promise<[string, string][]> {
    return JSON.parse(await readFile(join(path, "knotless.json"), "utf8")).packs;
  }

  /** Puts the copy back to where it was when a first sync was moving its packs. */
  async function backToMoving({ path }: Mirror, endings: string[]) {
    const packs = await packsOf(path);
    const waiting = join(path, "incoming", "objects", "pack");
    await mkdir(waiting, { recursive: true });
    for (const [sha256, name] of packs) {
      await writeFile(join(path, "incoming", `${sha256}.name`), name);
    }
    for (const name of new Set(packs.map(([, name]) => name))) {
      for (const ending of endings) {
        const file = `${name}.${ending}`;
        await rename(join(path, "objects", "pack", file), join(waiting, file));
      }
    }
    await rm(join(path, "knotless.json"));
  }

  it("is taken up again wherever the packs were while they were moved", async ({ app, proxies, copyAnew }) => {
    for (const endings of [[], ["idx"], ["idx", "pack"]]) {
      await using reader = await copyAnew();
      await backToMoving(reader.mirror, endings);
      proxies.pds.forget();
      const again = await reader.again();
      assertEquals(
        (await again.view(ONLINE)).refs.get("refs/heads/main")?.oid,
        await app.tip(),
      );
      fsck(again.path);
      // Half a pack is fetched anew, a whole one is not.
      assertEquals(proxies.pds.count({ nsid: GET_BLOB }) > 0, endings.length === 1);
      assertEquals(existsSync(join(again.path, "incoming")), false);
    }
  });

  it("is made again when the state is lost or is no state", async ({ copyAnew }) => {
    await using reader = await copyAnew();
    const { mirror } = reader;
    for (const text of [undefined, "", "{", "[]", '{"format":99}', "null"]) {
      const file = join(mirror.path, "knotless.json");
      await (text === undefined ? rm(file) : writeFile(file, text));
      const again = await reader.again();
      assertEquals((await again.view(ONLINE)).refs.size, 1, text);
      fsck(again.path);
    }
  });

  it("is whole again when files are gone that the state tells of", async ({ app, copyAnew }) => {
    await using reader = await copyAnew();
    const { mirror } = reader;
    for (const gone of ["HEAD", "config", "packed-refs", "refs", "unverified", "objects"]) {
      await rm(join(mirror.path, gone), { recursive: true });
      const again = await reader.again();
      const { view: { objects, refs } } = await again.latest();
      assert(objects.read(refs.get("refs/heads/main")?.oid ?? ""), gone);
      assertEquals(git(again.path, "rev-parse", "HEAD"), await app.tip(), gone);
      fsck(again.path);
    }
  });

  it("does not count on packs that were moved while others they lead to were not", async ({ app, owner, copyAnew }) => {
    await using reader = await copyAnew();
    const { mirror } = reader;
    const blob = handmade("blob", crypto.randomUUID());
    const root = tree(["100644", "x", blob.oid]);
    // Small packs would be made one.
    const large = handmade("blob", noise(4_500_000));
    const second = packOf(root.entry, blob.entry, large.entry);
    const nameOf = (pack: Uint8Array) => `pack-${pack.subarray(-20).toHex()}`;
    let first: Uint8Array;
    let tip: ReturnType<typeof commit>;
    // Packs are moved in the order of their names: the commit's is to be the first.
    for (let salt = 0;; salt++) {
      const pad = handmade("blob", `${salt}`);
      tip = commit(root.oid);
      first = packOf(tip.entry, pad.entry, large.entry);
      if (nameOf(first) < nameOf(second)) break;
    }
    const { value } = await owner.get("dev.knotless.refs", app.repository.rkey);
    const refs = [{ name: "refs/heads/evil", oid: tip.oid }, ...value.refs];
    const listed = [...value.packs];
    for (const pack of [first, second]) {
      const fields = { bytes: pack.length, objects: 3 };
      const { rkey, cid } = await owner.create("dev.knotless.pack", {
        ...fields,
        repo: app.repository.uri,
        sha256: sha256(pack),
        needs: [],
        folds: [],
        blobs: [await owner.upload(pack)],
      });
      listed.push({ rkey, cid, ...fields });
    }
    const block = join(mirror.path, "objects", "pack", `${nameOf(second)}.pack`);
    await mkdir(join(block, "x"), { recursive: true });
    try {
      await owner.publish(app.repository.rkey, { refs, packs: listed });
      await assertRejects(() => mirror.latest(), Error);
      assert(existsSync(join(mirror.path, "objects", "pack", `${nameOf(first)}.idx`)));
      await rm(block, { recursive: true });
      await owner.publish(app.repository.rkey, { refs, packs: listed.slice(0, -1) });
      const again = await reader.again();
      const error = await assertRejects(() => again.latest(), KnotlessError);
      assertMatch(error.message, new RegExp(`${root.oid}.* is missing`));
      await owner.publish(app.repository.rkey, { refs, packs: listed });
      assertEquals((await (await reader.again()).latest()).view.refs.size, 2);
      fsck(mirror.path);
    } finally {
      await owner.publish(app.repository.rkey, { refs: value.refs, packs: value.packs });
    }
  });

  it("is swept of what was left over a day ago by the next sync", async ({ app, machine, copyAnew }) => {
    await using reader = await copyAnew();
    const { mirror } = reader;
    const old = new Date(Date.now() - 25 * 60 * 60 * 1000);
    for (const name of ["push-3kaaaaaaaaaaa", "push-3kbbbbbbbbbbb"]) {
      await mkdir(join(mirror.path, name, "objects"), { recursive: true });
    }
    await writeFile(join(mirror.path, "packed-refs.3kaaaaaaaaaaa.tmp"), "x");
    for (const name of ["push-3kaaaaaaaaaaa", "packed-refs.3kaaaaaaaaaaa.tmp"]) {
      await utimes(join(mirror.path, name), old, old);
    }
    await app.commit(machine, [{ path: "b", content: crypto.randomUUID() }]);
    await (await reader.again()).latest();
    const left = (await readdir(mirror.path)).filter((name) => /^push-|tmp$/.test(name));
    assertEquals(left, ["push-3kbbbbbbbbbbb"]);
  });
});
