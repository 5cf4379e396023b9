import type { Globals, Open, Surface } from "../core/open.ts";
import type { Complete } from "./completion.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What opens the contexts of calls, loaded by the first one. */
export function openLater(globals: Globals, env: Env): (surface: Surface) => Open {
  let world: Promise<(surface: Surface) => Open> | undefined;
  return (surface) => async (kind) => {
    world ??= import("../core/open.ts").then(({ openWorld }) => openWorld(globals, env));
    return await (await world)({ ...surface, goesOn: true })(kind);
  };
}

/** Completes from what is on this machine, and never from the network. */
export function completeFromHere(globals: Globals, env: Env): Complete {
  const open = openLater({ ...globals, offline: true }, env);
  return async (name, value, chosen) => {
    const { findKnown, KINDS } = await import("../core/forge/known.ts");
    const kind = KINDS.find((kind) => kind === name);
    if (kind === undefined) return [];
    const context = await open({
      signal: new AbortController().signal,
      note: () => {},
      progress: () => {},
    })("read");
    return await findKnown(context, kind, value, chosen);
  };
}
