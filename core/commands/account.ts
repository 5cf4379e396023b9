import { command } from "../command.ts";
import { followAccount, listFollows } from "../forge/social.ts";
import { flag, many, object, orNull, text } from "../form.ts";
import { columns } from "../text.ts";

const follow = command({
  name: "account follow",
  summary: "Follow an account",
  kind: "write",
  answer: () => object({ following: flag(), uri: orNull(text("the follow's")) }),
  params: ({ actor }) => ({ handle: actor("[whom, as a handle or a DID]") }),
  positionals: ["handle"],
  undo: "stop following",
  examples: [{ line: "account follow alice.test", says: "follow someone" }],
  run: (context, { handle, undo }) => followAccount(context, handle, undo),
  render: ({ following, uri }, style) =>
    style.terminal ? (following ? `Following\n${uri}` : "No longer following") : uri ?? "",
});

const follows = command({
  name: "account follows",
  summary: "List your follows, or another account's, newest first",
  kind: "read",
  answer: () =>
    object({
      follows: many(
        object({ handle: text(), did: text(), uri: text("the follow's"), createdAt: text() }),
      ),
    }),
  params: ({ actor }) => ({
    handle: actor("[whose, as a handle or a DID (yours if not given)]").optional(),
  }),
  positionals: ["handle"],
  examples: [{ line: "account follows alice.test", says: "list whom someone follows" }],
  run: (context, { handle }) => listFollows(context, handle),
  render: ({ follows }, style) => columns(follows, ["handle", "did", "createdAt", "uri"], style),
});

export default [follow, follows];
