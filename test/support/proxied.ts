/** An account whose machines are behind proxies that can fail and hold requests. */
import type { Person } from "./folders.ts";
import { type Machine, openMachine } from "./machine.ts";
import { type Network, openNetwork } from "./network.ts";
import { openOwner, type Owner } from "./owner.ts";
import { type NetworkProxies, proxyNetwork } from "./proxy.ts";

export interface Proxied extends AsyncDisposable {
  readonly network: Network;
  readonly proxies: NetworkProxies;
  /** The account, which no proxy is in the way of. */
  readonly owner: Owner;
  /** Opens a machine behind the proxies, of that account unless told otherwise. */
  open(person?: Person): Promise<Machine>;
}

/** A machine behind proxies of its own, which can fail and hold its requests and no other's. */
export interface ProxiedMachine extends Machine {
  readonly proxies: NetworkProxies;
}

/** Opens a machine behind proxies of its own. */
export async function openProxiedMachine(
  network: Network,
  person: Person,
): Promise<ProxiedMachine> {
  const all = new AsyncDisposableStack();
  const proxies = all.use(await proxyNetwork(network));
  const machine = all.use(await openMachine({ ...network, env: proxies.env }, person));
  return { ...machine, proxies, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Makes an account of this name, and proxies for its machines. */
export async function openProxied(name: string): Promise<Proxied> {
  const all = new AsyncDisposableStack();
  const network = all.use(await openNetwork());
  const proxies = all.use(await proxyNetwork(network));
  const account = await network.createAccount(name);
  return {
    network,
    proxies,
    owner: await openOwner(network, account),
    open: (person) => openMachine({ ...network, env: proxies.env }, { account, ...person }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
