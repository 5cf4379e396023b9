import { command } from "../command.ts";
import { readStatus } from "../forge/status.ts";
import { anything, count, flag, object, optional, orNull, text } from "../form.ts";
import { fields } from "../text.ts";
import { commitId } from "./forms.ts";

const status = command({
  name: "status",
  summary: "Show who is logged in, a server's health, and a repository's copy here",
  kind: "read",
  answer: () =>
    object({
      version: text(),
      account: optional(object({ did: text(), handle: text() })),
      server: orNull(object({ url: text(), status: anything("what it says of itself") })),
      mirror: optional(object({
        repo: text(),
        uri: text(),
        path: text(),
        generation: count(),
        commit: optional(commitId),
        packs: count(),
        bytes: count(),
        checkedAt: text(),
        stale: flag(),
      })),
    }),
  params: ({ z, repo }) => ({
    server: z.string().min(1).max(2000).meta({ names: "server" }).optional()
      .describe("the server's URL (the appview if not given)"),
    repo: repo().optional().describe("whose copy here to show"),
  }),
  examples: [
    { line: "status", says: "show version and account" },
    { line: "status --repo alice.test/app", says: "also show a repository's copy here" },
  ],
  run: (context, asked) => readStatus(context, asked),
  render: ({ account, server, mirror, ...rest }, style) =>
    fields({
      ...rest,
      ...(account && { account: account.handle }),
      ...(server && { server: server.url, health: server.status }),
      ...mirror,
    }, style),
});

export default [status];
