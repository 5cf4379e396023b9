/** Not run: `deno task check` holds these to what the types of an entry permit. */
import * as z from "zod";
import { command } from "../../core/command.ts";
import { repo } from "../../core/params.ts";

const words = { name: "x", summary: "", examples: [] };

command({
  ...words,
  kind: "read",
  params: () => ({ repo: repo() }),
  run(context) {
    // @ts-expect-error a read command has no writer
    return context.writer.delete("dev.knotless.star", "x");
  },
});
command({
  ...words,
  kind: "read",
  params: () => ({ repo: repo() }),
  // @ts-expect-error positionals name parameters
  positionals: ["nope"],
  run: () => Promise.resolve(1),
});
command({
  ...words,
  kind: "write",
  params: () => ({ count: z.number().optional() }),
  run(context, input) {
    const count: number | undefined = input.count;
    // @ts-expect-error there is no undo without its words
    input.undo;
    return Promise.resolve({ count, tid: context.tid() });
  },
  // @ts-expect-error render sees what run gives
  render: ({ commit }) => commit,
});
command({
  ...words,
  kind: "write",
  params: () => ({ repo: repo() }),
  undo: "take it back",
  run(_, { undo }) {
    const isUndone: boolean = undo;
    return Promise.resolve({ isUndone });
  },
  render: ({ isUndone }) => String(isUndone),
});
