import { command } from "../command.ts";
import { listStars, starRepository } from "../forge/social.ts";
import { flag, many, object, orNull, text } from "../form.ts";
import { columns } from "../text.ts";

const star = command({
  name: "repo star",
  summary: "Star a repository",
  kind: "write",
  answer: () => object({ starred: flag(), uri: orNull(text("the star's")) }),
  params: ({ repo }) => ({ repo: repo() }),
  positionals: ["repo"],
  undo: "take the star back",
  examples: [{ line: "repo star alice.test/app", says: "star it" }],
  run: (context, { repo, undo }) => starRepository(context, repo, undo),
  render: ({ starred, uri }, style) =>
    style.terminal ? (starred ? `Starred\n${uri}` : "Took the star back") : uri ?? "",
});

const stars = command({
  name: "repo stars",
  summary: "List your stars, or another account's, newest first",
  kind: "read",
  answer: () =>
    object({
      stars: many(object({ repo: orNull(text()), uri: text("the star's"), createdAt: text() })),
    }),
  params: ({ actor }) => ({
    handle: actor("[whose, as a handle or a DID (yours if not given)]").optional(),
  }),
  positionals: ["handle"],
  examples: [{ line: "repo stars alice.test", says: "list what someone starred" }],
  run: (context, { handle }) => listStars(context, handle),
  render: ({ stars }, style) => columns(stars, ["repo", "createdAt", "uri"], style),
});

export default [star, stars];
