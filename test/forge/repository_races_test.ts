import { assertEquals } from "@std/assert";
import { deleteRepository } from "../../core/forge/remove.ts";
import { renameRepository } from "../../core/forge/settings.ts";
import { git } from "../support/git.ts";
import { noise } from "../support/owner.ts";
import { describePair } from "../support/pair.ts";
import { errorOf, overtaken, PUT } from "../support/racer.ts";

describePair("two machines of one account at once", (it) => {
  it("rename the repository and commit to it, and both are done", async ({ app, left, right }) => {
    const now = { ...app.named, name: `${app.named.name}-new` };
    const late = await overtaken(
      left,
      PUT,
      () => app.commit(left, [{ path: "a", content: "left\n" }]),
      async () => void await renameRepository(await right.open("write"), app.named, now.name),
    );
    assertEquals(late.status, "fulfilled");
    for (const named of [app.named, now]) {
      assertEquals(await app.readAnew((path) => git(path, "show", "main:a"), named), "left");
    }
  });

  it("delete the repository and commit to it: nothing but what a sweep takes is left", async ({ app, left, right, owner }) => {
    const late = await overtaken(
      left,
      PUT,
      () => app.commit(left, [{ path: "a", base64: noise(30_000).toBase64() }]),
      async () => void await deleteRepository(await right.open("write"), app.named, app.named.name),
    );
    assertEquals(errorOf(late).exit, 5);
    for (const collection of ["repo", "refs", "name", "pack"]) {
      const left = await owner.list(`dev.knotless.${collection}`);
      const ours = left.filter(({ uri, value }) =>
        uri.endsWith(app.repository.rkey) || value.repo === app.repository.uri
      );
      assertEquals(ours, [], collection);
    }
  });
});
