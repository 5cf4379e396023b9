import { assertEquals, assertMatch } from "@std/assert";
import { createRepository } from "../../core/forge/create.ts";
import { renameRepository } from "../../core/forge/settings.ts";
import type { Machine } from "../support/machine.ts";
import type { Owner } from "../support/owner.ts";
import { describePair } from "../support/pair.ts";
import { APPLY, atOnce, errorsOf, overtaken } from "../support/racer.ts";

describePair("two machines of one account at once take one name", (it) => {
  /** The repositories of a name, and the one that the name leads to. */
  async function holders(owner: Owner, name: string) {
    const all = await owner.list("dev.knotless.repo");
    const { value } = await owner.get("dev.knotless.name", name);
    return {
      uris: all.filter(({ value }) => value.name === name).map(({ uri }) => uri),
      leadsTo: value.repo,
    };
  }

  /** Sees the name taken by one, the other told so, and nothing of the other there. */
  async function oneOf(
    owner: Owner,
    taken: string,
    said: PromiseSettledResult<unknown>[],
  ): Promise<void> {
    const errors = errorsOf(said);
    assertEquals(errors.map(({ exit, code }) => [exit, code]), [[6, "conflict.exists"]]);
    assertMatch(errors[0]?.message ?? "", new RegExp(`/${taken} exists$`));
    const { uris, leadsTo } = await holders(owner, taken);
    assertEquals(uris, [leadsTo]);
    const refs = (await owner.list("dev.knotless.refs")).length;
    assertEquals(refs, (await owner.list("dev.knotless.repo")).length);
  }

  const create = (machine: Machine, name: string) => async () =>
    await createRepository(await machine.open("write"), { name });
  const rename = (machine: Machine, from: string, to: string) => async () =>
    await renameRepository(
      await machine.open("write"),
      { owner: machine.account.did, name: from },
      to,
    );

  it("that is free, by creating", async ({ app, left, right, owner }) => {
    const { name } = app.named;
    const taken = `${name}-free`;
    await oneOf(
      owner,
      taken,
      await atOnce(APPLY, [left, create(left, taken)], [right, create(right, taken)]),
    );
  });

  it("that led elsewhere, by creating", async ({ app, left, right, owner }) => {
    const { name } = app.named;
    await rename(left, name, `${name}-moved`)();
    await oneOf(
      owner,
      name,
      await atOnce(APPLY, [left, create(left, name)], [right, create(right, name)]),
    );
  });

  it("that led elsewhere, by creating and renaming", async ({ app, left, right, owner }) => {
    const { name } = app.named;
    const second = `${name}-second`;
    await create(left, second)();
    await rename(left, name, `${name}-moved`)();
    await oneOf(
      owner,
      name,
      await atOnce<unknown>(APPLY, [left, create(left, name)], [
        right,
        rename(right, second, name),
      ]),
    );
  });

  it("that is free, by renaming", async ({ app, left, right, owner }) => {
    const { name } = app.named;
    const second = `${name}-second`;
    await create(left, second)();
    const taken = `${name}-free`;
    await oneOf(
      owner,
      taken,
      await atOnce(APPLY, [left, rename(left, name, taken)], [right, rename(right, second, taken)]),
    );
  });

  it("while the account writes elsewhere, which is no matter", async ({ app, left, right, owner }) => {
    const { name } = app.named;
    const late = await overtaken(
      left,
      APPLY,
      create(left, `${name}-new`),
      () => app.commit(right, [{ path: "a", content: "right\n" }]),
    );
    assertEquals(late.status, "fulfilled");
    assertEquals((await holders(owner, `${name}-new`)).uris.length, 1);
  });
});
