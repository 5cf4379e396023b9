import { command, type Zod } from "../command.ts";
import { unsafe } from "../errors.ts";
import { commitChanges, refuseBatch } from "../forge/commit.ts";
import { compactRepository } from "../forge/compact.ts";
import { createRepository, refuseUnbuilt } from "../forge/create.ts";
import { forkRepository } from "../forge/fork.ts";
import { deleteRepository } from "../forge/remove.ts";
import { archiveRepository, editRepository, renameRepository } from "../forge/settings.ts";
import { count, flag, many, object, optional, orNull, text } from "../form.ts";
import { fields } from "../text.ts";
import { commitId, source } from "./forms.ts";

const description = (z: Zod) =>
  z.string().max(3500).refine(
    (text) =>
      text.match(unsafe()) === null && [...new Intl.Segmenter().segment(text)].length <= 350,
    "a description is one line of at most 350 characters, none of them hidden",
  );

const links = (z: Zod) =>
  z.array(
    z.strictObject({
      url: z.string().max(2048).regex(/^https?:\/\/[^\s/]+\S*$/i, "a link is an http or https URL"),
      title: z.string().max(64).optional(),
    }),
  ).max(20).optional();

const topics = (z: Zod) =>
  z.array(
    z.string().transform((topic) => topic.toLowerCase()).pipe(
      z.string().regex(/^[a-z0-9][a-z0-9-]{0,49}$/, "a topic is 1 to 50 of a-z 0-9 -"),
    ),
  ).max(20).optional();

const create = command({
  name: "repo create",
  summary: "Create a repository in your account",
  details: "It is empty until the first commit or push.",
  kind: "write",
  answer: () =>
    object({
      repo: text(),
      uri: text(),
      defaultBranch: text(),
      members: many(text()),
      runners: many(text()),
      warning: orNull(text()),
    }),
  params: ({ z, repoName }) => ({
    name: repoName("[its name]"),
    description: description(z).optional().describe("one line on what it is"),
    links: links(z).describe("its links, its website first"),
    topics: topics(z).describe("words to find it by"),
    default_branch: z.string().min(1).max(200).optional()
      .describe("[the branch its HEAD names] (main if not given)"),
    runners: z.array(z.string().max(300)).max(20).optional()
      .describe("the accounts whose checks it shows"),
    private: z.boolean().optional().describe("only for its members to read"),
  }),
  positionals: ["name"],
  examples: [{
    line: "repo create app --description 'An app'",
    says: "create one, then git push to it",
  }],
  async run(context, { runners, private: isPrivate, ...creation }) {
    refuseUnbuilt({ runners, private: isPrivate });
    const { spelled, uri } = await createRepository(context, creation);
    return {
      repo: spelled,
      uri,
      defaultBranch: creation.default_branch ?? "main",
      members: [],
      runners: [],
      warning: null,
    };
  },
  render: ({ repo, uri }, style) =>
    style.terminal ? `Created ${repo}: push to knotless://${repo}\n${uri}` : uri,
});

const edit = command({
  name: "repo edit",
  summary: "Change a repository's description, links, topics or default branch",
  kind: "write",
  answer: () =>
    object({
      description: text(),
      links: many(object({ url: text(), title: optional(text()) })),
      topics: many(text()),
      defaultBranch: text(),
    }),
  params: ({ z, repo }) => ({
    repo: repo(),
    description: description(z).optional().describe("one line on what it is; empty drops it"),
    links: links(z).describe("[its links,] in place of those it had"),
    topics: topics(z).describe("[words to find it by,] in place of those it had"),
    default_branch: z.string().min(1).max(200).optional().describe("the branch its HEAD names"),
  }),
  positionals: ["repo"],
  examples: [{
    line: "repo edit alice.test/app --default-branch trunk",
    says: "make trunk the default branch",
  }],
  run: (context, { repo, ...edit }) => editRepository(context, repo, edit),
  render: fields,
});

const rename = command({
  name: "repo rename",
  summary: "Rename a repository; the old name leads to it",
  kind: "write",
  answer: () => object({ repo: text(), uri: text(), was: text("its name before") }),
  params: ({ repo, repoName }) => ({ repo: repo(), name: repoName("[its new name]") }),
  positionals: ["repo", "name"],
  examples: [{ line: "repo rename alice.test/app tool", says: "call it tool from now on" }],
  run: (context, { repo, name }) => renameRepository(context, repo, name),
  render: ({ repo, was }, style) => style.terminal ? `Renamed ${was} to ${repo}` : repo,
});

const archive = command({
  name: "repo archive",
  summary: "Make a repository read only",
  kind: "write",
  answer: () => object({ archivedAt: orNull(text()) }),
  params: ({ repo }) => ({ repo: repo() }),
  positionals: ["repo"],
  undo: "make it writable again",
  examples: [
    { line: "repo archive alice.test/app", says: "make it read only" },
    { line: "repo archive alice.test/app --undo", says: "make it writable again" },
  ],
  run: (context, { repo, undo }) => archiveRepository(context, repo, undo),
  render: ({ archivedAt }, style) =>
    style.terminal ? archivedAt ? "Archived" : "Unarchived" : archivedAt ?? "",
});

const remove = command({
  name: "repo delete",
  summary: "Delete a repository and everything in it",
  details: "It is final: only a push from a clone brings its commits back.",
  kind: "write",
  answer: () => object({ deleted: text("its URI"), records: count("that went with it") }),
  destructive: true,
  params: ({ z, repo }) => ({
    repo: repo(),
    confirm: z.string().max(100).describe("its name again, without the handle"),
  }),
  positionals: ["repo"],
  examples: [{ line: "repo delete alice.test/app --confirm app", says: "delete it for good" }],
  run: (context, { repo, confirm }) => deleteRepository(context, repo, confirm),
  render: ({ deleted, records }, style) =>
    style.terminal ? `Deleted ${records} records\n${deleted}` : deleted,
});

const fork = command({
  name: "repo fork",
  summary: "Copy a repository, with its branches and tags, into your account",
  kind: "write",
  answer: () =>
    object({ repo: text(), uri: text(), forkOf: source, branches: count(), tags: count() }),
  params: ({ repo, repoName }) => ({
    repo: repo(),
    name: repoName("the copy's name (the same if not given)").optional(),
  }),
  positionals: ["repo"],
  examples: [{ line: "repo fork alice.test/app", says: "copy it into your account" }],
  run: (context, { repo, name }) => forkRepository(context, repo, name),
  render: ({ repo, uri, forkOf }, style) =>
    style.terminal ? `Forked ${forkOf.repo}: clone knotless://${repo}\n${uri}` : uri,
});

const commit = command({
  name: "repo commit",
  summary: "Commit changes of files to a branch, without a clone",
  details:
    "Each change has a path and one of content, base64, edits or delete. Edits are made in turn, each on text that is in the file exactly once, and also on a branch that moved meanwhile.",
  kind: "write",
  answer: () =>
    object({
      branch: text(),
      commit: commitId,
      moved: optional(flag("true when the branch had moved meanwhile")),
    }),
  params: ({ z, repo }) => ({
    repo: repo(),
    branch: z.string().min(1).max(200).optional()
      .describe("[the branch] (the default branch if not given)"),
    message: z.string().min(1).max(100_000).describe("[the commit message]"),
    changes: z.array(z.strictObject({
      path: z.string().min(1).max(4096).describe("[the file]"),
      content: z.string().optional().describe("its whole new text"),
      base64: z.string().optional().describe("its whole new bytes"),
      edits: z.array(z.strictObject({
        old: z.string().describe("copied from the file"),
        new: z.string().describe("[what replaces it]"),
      })).max(1000).optional().describe("for a part of a file"),
      delete: z.boolean().optional().describe("[true deletes it]"),
    })).min(1).max(500).describe("each path once"),
    base: z.string().min(1).max(500).optional()
      .describe("the commit the changes were made against"),
    batch: z.boolean().optional().describe("through the owner's gateway, with others"),
  }),
  positionals: ["repo"],
  examples: [{
    line:
      `repo commit alice.test/app -m 'Fix it' --changes '[{"path":"a.txt","edits":[{"old":"teh","new":"the"}]}]'`,
    says: "change one word of a file",
  }],
  async run(context, { repo, batch, ...commit }) {
    refuseBatch(batch);
    return await commitChanges(context, repo, commit);
  },
  render: ({ branch, commit }, style) =>
    style.terminal ? `Committed to ${branch}\n${commit}` : commit,
});

const compact = command({
  name: "repo compact",
  summary: "Fold a repository's packs into one and delete what was left behind",
  details:
    "Seldom needed: writes fold the newest packs by themselves. What was replaced is deleted after a day.",
  kind: "write",
  answer: () =>
    object({
      before: count("packs there were"),
      removed: count("packs that are listed no more"),
      claims: count("entries of the log that went"),
      refs: count("names of deleted refs that went"),
    }),
  params: ({ repo }) => ({ repo: repo() }),
  positionals: ["repo"],
  examples: [{ line: "repo compact alice.test/app", says: "make it one pack" }],
  run: (context, { repo }) => compactRepository(context, repo),
  render: ({ before, removed, claims, refs }, style) =>
    style.terminal
      ? `Folded ${before} packs into ${
        before - removed
      }; dropped ${claims} log entries and ${refs} deleted refs`
      : String(before - removed),
});

export default [create, edit, rename, archive, remove, fork, commit, compact];
