import { assert, assertEquals, assertRejects } from "@std/assert";
import { CorruptError, NotFoundError } from "../../core/errors.ts";
import type { RepoName } from "../../core/forge/names.ts";
import { listRepositories } from "../../core/forge/repositories.ts";
import { findRepository } from "../../core/forge/repository.ts";
import { describeHostile, ONLINE, REFS } from "../support/hostile.ts";
import { freshTid } from "../support/owner.ts";

describeHostile("with names of a stranger's choosing", (it) => {
  it("writes a rkey and a DID of a stranger's choosing nowhere else", async ({ owner, reader, mirror, good }) => {
    const { mirrors } = await reader.open("read");
    await owner.put(REFS, "..x", { ...good, id: freshTid() });
    const odd = mirrors.at(mirror.account, "..x");
    assertEquals((await odd.view(ONLINE)).refs.size, 2);
    assert(odd.path.startsWith(`${reader.env.KNOTLESS_CACHE_DIR}/did_`), odd.path);
    await owner.delete(REFS, "..x");
    await odd.remove();
  });

  it("is no repository under a rkey or a name that could be another file's or steer a terminal", async ({ owner, reader, good, uri }) => {
    const { did } = owner.account;
    const record = { name: "odd", createdAt: new Date().toISOString() };
    const find = async (named: RepoName) => await findRepository(await reader.open("read"), named);
    for (const rkey of ["names.json", "3k", `${freshTid()}.lock`, "x".repeat(300)]) {
      const made = await owner.put("dev.knotless.repo", rkey, record);
      await owner.put(REFS, rkey, { ...good, id: freshTid() });
      await owner.put("dev.knotless.name", "odd", { repo: made.uri, createdAt: record.createdAt });
      for (const which of [{ name: "odd" }, { rkey }]) {
        const named = { owner: did, ...which };
        await assertRejects(() => find(named as RepoName), NotFoundError);
      }
      for (const collection of ["dev.knotless.repo", REFS]) await owner.delete(collection, rkey);
    }
    const odd = freshTid();
    for (const name of ["\u001b[31mred", "a/b", "..", "a\nb", ".git"]) {
      const made = await owner.put("dev.knotless.repo", odd, { ...record, name });
      await owner.put("dev.knotless.name", "odd", { repo: made.uri, createdAt: record.createdAt });
      const named = { owner: did, name: "odd" };
      const error = await assertRejects(() => find(named), CorruptError);
      // deno-lint-ignore no-control-regex
      assertEquals(/[\x00-\x1f]/.test(error.message), false);
    }
    const { repos } = await listRepositories(await reader.open("read"), did);
    assertEquals(repos.map(({ uri }) => uri), [uri]);
    await owner.delete("dev.knotless.repo", odd);
  });
});
