import { assert, assertEquals, assertRejects } from "@std/assert";
import { KnotlessError, RemoteError } from "../../core/errors.ts";
import { createRepository } from "../../core/forge/create.ts";
import { deleteRepository } from "../../core/forge/remove.ts";
import { findRepository } from "../../core/forge/repository.ts";
import { archiveRepository, renameRepository } from "../../core/forge/settings.ts";
import { answer, describeFaults } from "../support/faults.ts";
import { noise } from "../support/owner.ts";
import type { Fault } from "../support/proxy.ts";
import { APPLY } from "../support/racer.ts";

describeFaults("while an account's records are written", (it) => {
  it("is no matter for a repository that was made though the answer was lost", async ({ left, owner, proxies }) => {
    for (const fault of [{ kind: "drop", when: "after" }, { kind: "cut" }] as Fault[]) {
      using _ = proxies.pds.inject({ nsid: APPLY, times: 1 }, fault);
      const name = `made-${fault.kind}`;
      const named = { owner: owner.account.did, name };
      const made = await createRepository(await left.open("write"), { name });
      assertEquals((await findRepository(await left.open("read"), named)).uri, made.uri);
    }
  });

  it("leaves nothing of one that was not made", async ({ app, left, owner, proxies }) => {
    const before = await owner.list("dev.knotless.repo");
    const old = app.named.name;
    await renameRepository(await left.open("write"), app.named, `${old}-b`);
    for (const taken of ["unmade", old]) {
      for (
        const fault of [{ kind: "drop", when: "before" }, answer(500), answer(429)] as Fault[]
      ) {
        using _ = proxies.pds.inject({ nsid: APPLY, times: 1 }, fault);
        const writing = await left.open("write");
        const error = await assertRejects(
          () => createRepository(writing, { name: taken }),
          KnotlessError,
        );
        assertEquals(error.exit, 7);
      }
      assertEquals((await owner.list("dev.knotless.repo")).length, before.length);
    }
    // The old name leads where it led.
    const found = await findRepository(await left.open("read"), app.named);
    assertEquals(found.uri, app.repository.uri);
    await createRepository(await left.open("write"), { name: "unmade" });
  });

  it("renames, or does not", async ({ app, left, proxies }) => {
    let { named } = app;
    for (
      const [fault, isRenamed] of [
        [{ kind: "drop", when: "after" }, true],
        [{ kind: "drop", when: "before" }, false],
        [answer(429), false],
      ] as [Fault, boolean][]
    ) {
      const next = `${named.name}x`;
      using _ = proxies.pds.inject({ nsid: APPLY, times: 1 }, fault);
      const renaming = renameRepository(await left.open("write"), named, next);
      if (isRenamed) {
        await renaming;
        named = { ...named, name: next };
      } else assertEquals((await assertRejects(() => renaming, KnotlessError)).exit, 7);
      const found = await findRepository(await left.open("read"), named);
      assertEquals([found.uri, found.name], [app.repository.uri, named.name]);
    }
  });

  it("deletes a repository whose first answer was lost, and one cut off leaves orphans only", async ({ app, left, owner, proxies, write, start }) => {
    await write(noise(60_000));
    {
      using _ = proxies.pds.inject({ nsid: APPLY, times: 1 }, { kind: "drop", when: "after" });
      await deleteRepository(await left.open("write"), app.named, app.named.name);
    }
    assertEquals(await app.packs(), []);

    const { commit, named, packs, repository } = await start();
    await commit(left, [{ path: "file.bin", base64: noise(60_000).toBase64() }]);
    {
      using _ = proxies.pds.inject({ nsid: APPLY, skip: 1 }, { kind: "drop", when: "before" });
      const writing = await left.open("write");
      await assertRejects(() => deleteRepository(writing, named, named.name), RemoteError);
    }
    const orphans = await packs();
    assert(orphans.length > 0);
    for (const collection of ["repo", "refs", "name"]) {
      const left = await owner.list(`dev.knotless.${collection}`);
      assertEquals(
        left.filter(({ uri, value }) =>
          [app.repository, repository].some((gone) =>
            uri.endsWith(gone.rkey) || value.repo === gone.uri
          )
        ),
        [],
        collection,
      );
    }
    const made = await createRepository(await left.open("write"), { name: named.name });
    assert(made.uri !== repository.uri);
    const later = {
      ...await left.open("write"),
      now: () => new Date(Date.now() + 25 * 60 * 60 * 1000),
    };
    await deleteRepository(later, named, named.name);
    assertEquals(await packs(), [], "the orphans of a day ago");
  });

  it("writes nothing on what it knew before when what permits it cannot be read", async ({ app, right, proxies, write }) => {
    await archiveRepository(await right.open("write"), app.named, false);
    const before = await app.manifest();
    const match = { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.(repo|name)/ };
    using _down = proxies.pds.inject(match, { kind: "drop", when: "before" });
    const error = await assertRejects(() => write("archived\n"), RemoteError);
    assertEquals(error.exit, 7);
    assertEquals(await app.manifest(), before);
  });
});
