/** Two machines of one account, each behind proxies of its own, and for each test a repository of its own. */
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createRepository } from "../../core/forge/create.ts";
import { type App, appOf } from "./app.ts";
import { type Network, openNetwork } from "./network.ts";
import { openOwner, type Owner } from "./owner.ts";
import { openProxiedMachine, type ProxiedMachine } from "./proxied.ts";

/** What a test is given: each write on a machine is to be that of a new process. */
export interface Pair {
  readonly network: Network;
  /** The account, which no proxy is in the way of. */
  readonly owner: Owner;
  readonly left: ProxiedMachine;
  readonly right: ProxiedMachine;
  /** The repository, without a commit. */
  readonly app: App;
  /** Makes another. */
  start(): Promise<App>;
}

/** Describes what becomes of what the machines write: each test is given them and an empty repository. */
export function describePair(
  what: string,
  define: (it: (name: string, run: (pair: Pair) => Promise<void>) => void) => void,
): void {
  describe(what, () => {
    const all = new AsyncDisposableStack();
    let pair: Omit<Pair, "app">;
    beforeAll(async () => {
      const network = all.use(await openNetwork());
      const account = await network.createAccount("pair");
      const owner = await openOwner(network, account);
      const left = all.use(await openProxiedMachine(network, { account }));
      const right = all.use(await openProxiedMachine(network, { account }));
      let number = 0;
      const start = async () => {
        const name = `app${number++}`;
        const context = await left.open("write");
        return appOf({ network, owner }, await createRepository(context, { name }));
      };
      pair = { network, owner, left, right, start };
    });
    afterAll(() => all.disposeAsync());
    define((name, run) => it(name, async () => await run({ ...pair, app: await pair.start() })));
  });
}
