import type { AnyCommand } from "../core/command.ts";
import type { Fact } from "../core/facts.ts";
import type { Open, Surface } from "../core/open.ts";
import { legible } from "./clean.ts";
import { confine } from "./confine.ts";
import type { Exchange } from "./connection.ts";
import type { Filter } from "./filter.ts";
import type { Unfinished, Works } from "./works.ts";

/** What came of a command, with what it said beside. */
export interface Outcome {
  readonly command: AnyCommand;
  readonly result: unknown;
  readonly notes: readonly string[];
}

/** What runs commands. */
export interface Runner {
  /** Loads a command's code. */
  load(name: string): Promise<AnyCommand>;
  /** Opens the contexts of one call. */
  readonly open: (surface: Surface) => Open;
  readonly filter: Filter;
  readonly works: Works<Outcome>;
}

/** Runs a command for a request, or joins the run of it that an earlier one left; throws what the command throws. */
export function run(
  fact: Fact,
  args: unknown,
  exchange: Exchange,
  { load, open, filter, works }: Runner,
): Promise<{ readonly done: Outcome } | Unfinished> {
  return works.run(`${fact.name} ${JSON.stringify(args)}`, exchange, async (surface) => {
    const notes: string[] = [];
    const openAny = open({ ...surface, note: (text) => void notes.push(legible(text)) });
    const openKind: Open = (kind) => {
      // The second lock: whatever the table says of a command, it gets no writer here.
      if (filter.readOnly && kind !== "read") {
        throw new Error(`${fact.name} asked for more than to read`);
      }
      return openAny(kind);
    };
    await confine(fact, args, filter, () => open({ ...surface, note: () => {} })("read"));
    const command = await load(fact.name);
    const { call } = await import("../core/command.ts");
    return { command, result: await call(command, args, openKind), notes };
  });
}
