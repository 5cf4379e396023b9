import { command, type Zod } from "../command.ts";
import { createTag, deleteTag } from "../forge/refs.ts";
import { object, text } from "../form.ts";
import { commitId, sha } from "./forms.ts";

const tagName = (z: Zod) => z.string().min(1).max(200).describe("[the tag]");

const create = command({
  name: "tag create",
  summary: "Create a tag; one that exists is never moved",
  kind: "write",
  answer: () => object({ tag: text(), sha, commit: commitId }),
  params: ({ z, repo, rev }) => ({
    repo: repo(),
    name: tagName(z),
    rev: rev(),
    message: z.string().min(1).max(100_000).optional()
      .describe("makes an annotated tag with this message"),
  }),
  positionals: ["repo", "name", "rev"],
  examples: [
    { line: "tag create -R alice.test/app v1.0", says: "tag the default branch" },
    { line: "tag create alice.test/app v1.0 main -m 'First'", says: "make an annotated tag" },
  ],
  run: (context, { repo, ...asked }) => createTag(context, repo, asked),
  render: ({ tag, sha, commit }, style) => style.terminal ? `Tagged ${commit} as ${tag}` : sha,
});

const remove = command({
  name: "tag delete",
  summary: "Delete a tag",
  kind: "write",
  answer: () => object({ tag: text(), sha }),
  destructive: true,
  params: ({ z, repo }) => ({ repo: repo(), name: tagName(z) }),
  positionals: ["repo", "name"],
  examples: [{ line: "tag delete alice.test/app v1.0", says: "delete it" }],
  run: (context, { repo, name }) => deleteTag(context, repo, name),
  render: ({ tag, sha }, style) => style.terminal ? `Deleted ${tag}, which was at ${sha}` : sha,
});

export default [create, remove];
