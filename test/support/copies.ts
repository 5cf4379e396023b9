/** A repository of two packs, one in many pieces, and copies of it on machines that saw nothing before. */
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createRepository } from "../../core/forge/create.ts";
import type { Mirror } from "../../core/mirror/mirror.ts";
import { type App, appOf } from "./app.ts";
import type { Machine } from "./machine.ts";
import { noise, type Owner } from "./owner.ts";
import { limitPieces, PIECE } from "./pieces.ts";
import { openProxied } from "./proxied.ts";
import type { NetworkProxies } from "./proxy.ts";

export const ONLINE = { offline: false, maxAge: 0 };

/** A machine with a copy, and the process that made it. */
export interface Copier extends Machine {
  readonly mirror: Mirror;
  /** The copy as another process finds it. */
  again(): Promise<Mirror>;
}

/** What a test is given. */
export interface Copied {
  readonly owner: Owner;
  /** The owner's machine. */
  readonly machine: Machine;
  readonly app: App;
  /** Those of all machines. */
  readonly proxies: NetworkProxies;
  copyAnew(): Promise<Copier>;
}

/** Describes what becomes of copies. */
export function describeCopies(
  what: string,
  define: (it: (name: string, run: (copied: Copied) => Promise<void>) => void) => void,
): void {
  describe(what, () => {
    const all = new AsyncDisposableStack();
    let copied: Copied;
    beforeAll(async () => {
      const world = all.use(await openProxied("copied"));
      const { proxies, owner } = world;
      limitPieces(proxies);
      const machine = all.use(await world.open());
      const writing = await machine.open("write");
      const app = appOf(world, await createRepository(writing, { name: "copied" }));
      await app.commit(machine, [{ path: "a", base64: noise(3 * PIECE).toBase64() }]);
      await app.commit(machine, [{ path: "b", content: "small\n" }]);
      const copyAnew = async () => {
        const reader = await world.open({ login: false });
        const again = async () => {
          const { identity, mirrors } = await reader.open("read");
          return mirrors.at(await identity.resolve(owner.account.did), app.repository.rkey);
        };
        const mirror = await again();
        await mirror.latest();
        return { ...reader, mirror, again };
      };
      copied = { owner, machine, app, proxies, copyAnew };
    });
    afterAll(() => all.disposeAsync());
    define((name, run) => it(name, () => run(copied)));
  });
}
