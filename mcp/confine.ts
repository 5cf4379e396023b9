import type { ReadContext } from "../core/context.ts";
import { quote, RefusedError } from "../core/errors.ts";
import { spellName } from "../core/forge/names.ts";
import type { Fact, Named } from "../core/facts.ts";
import type { Filter } from "./filter.ts";

/**
 * Throws a RefusedError where arguments lead out of what a server may speak of: to another repository or account than
 * those of `--repo`, or to a server of someone's choice.
 */
export async function confine(
  { params }: Fact,
  args: unknown,
  { repos, lockdown }: Filter,
  open: () => Promise<ReadContext>,
): Promise<void> {
  if (repos === undefined && !lockdown) return;
  const values = params.flatMap(({ name, names }) =>
    names === undefined ? [] : textsAt(args, name).map((text): Value => ({ name, names, text }))
  );
  const server = values.find(({ names }) => names === "server");
  if (server !== undefined) {
    const flag = repos === undefined ? "--lockdown" : "--repo";
    throw refusal(server, `this server runs with ${flag}, and asks no server that a call names`);
  }
  if (repos === undefined || values.length === 0) return;
  const { namesOneOf, namesOwnerOf } = await import("../core/forge/confine.ts");
  const tests = { repo: namesOneOf, account: namesOwnerOf, new_repo: undefined };
  for (const value of values) {
    if (value.names === "server") continue;
    if (await tests[value.names]?.(open, value.text, repos)) continue;
    throw refusal(
      value,
      `this server runs with --repo ${
        repos.map(spellName).join(",")
      }, and nothing else may be named`,
    );
  }
}

interface Value {
  readonly name: string;
  readonly names: Named;
  readonly text: string;
}

/** The texts an argument is, or holds; anything else the command refuses by itself. */
function textsAt(args: unknown, name: string): string[] {
  if (typeof args !== "object" || args === null || !Object.hasOwn(args, name)) return [];
  const value = Object.getOwnPropertyDescriptor(args, name)?.value;
  return [value].flat(1).filter((text) => typeof text === "string");
}

function refusal({ name, text }: Value, why: string): RefusedError {
  return new RefusedError(`${name}: ${quote(text)} is refused: ${why}`, {
    code: "refused.confined",
  });
}
