import { command } from "../command.ts";
import { listDirectory, readFile } from "../forge/browse.ts";
import { readDiff } from "../forge/diff.ts";
import { readLog } from "../forge/log.ts";
import { openReading } from "../forge/reading.ts";
import { listRefs } from "../forge/list_refs.ts";
import { listRepositories } from "../forge/repositories.ts";
import { readStorage } from "../forge/storage.ts";
import { toText } from "../answer.ts";
import { colorDiff } from "../diff_colors.ts";
import { count, many, object, optional, text, word } from "../form.ts";
import { columns, fields } from "../text.ts";
import { refuseLong } from "../forge/read_less.ts";
import { commitId, cut, files, person, sha } from "./forms.ts";

const list = command({
  name: "repo list",
  summary: "List your repositories, or another account's, newest first",
  kind: "read",
  answer: () =>
    object({
      repos: many(object({
        repo: text(),
        uri: text(),
        description: optional(text()),
        topics: many(text()),
        defaultBranch: text(),
        archivedAt: optional(text()),
        forkOf: optional(text("the URI of the repository it is a copy of")),
        createdAt: text(),
      })),
    }),
  params: ({ actor }) => ({
    handle: actor("[whose, as a handle or a DID (yours if not given)]").optional(),
  }),
  positionals: ["handle"],
  examples: [
    { line: "repo list", says: "list your own" },
    { line: "repo list alice.test --json", says: "list someone's, as JSON" },
  ],
  run: (context, { handle }) => listRepositories(context, handle),
  render: ({ repos }, style) =>
    columns(
      repos,
      ["repo", "uri", "description", "defaultBranch", "archivedAt", "createdAt"],
      style,
      ["repo", "description", "defaultBranch", "createdAt"],
    ),
});

const refs = command({
  name: "repo refs",
  summary: "List branches and tags, with their commits",
  kind: "read",
  answer: () =>
    object({
      defaultBranch: text(),
      branches: many(object({ name: text(), sha })),
      tags: many(
        object({ name: text(), sha, commit: optional(text("what an annotated tag leads to")) }),
      ),
      other: many(object({ ref: text(), sha })),
    }),
  params: ({ repo }) => ({ repo: repo() }),
  positionals: ["repo"],
  examples: [{ line: "repo refs alice.test/app", says: "list its branches and tags" }],
  run: async (context, { repo }) => listRefs(await openReading(context, repo)),
  render: ({ branches, tags, other }, style) =>
    columns(
      [
        ...branches.map(({ name, sha }) => ({ ref: `refs/heads/${name}`, sha })),
        ...tags.map(({ name, ...rest }) => ({ ref: `refs/tags/${name}`, ...rest })),
        ...other,
      ],
      ["ref", "sha", "commit"],
      style,
    ),
});

const tree = command({
  name: "repo tree",
  summary: "List one level of a directory: names, types, sizes",
  kind: "read",
  answer: () =>
    object({
      rev: text(),
      commit: commitId,
      path: text(),
      entries: many(object({
        name: text(),
        type: word("file", "executable", "symlink", "directory", "submodule"),
        mode: text("six octal digits"),
        sha,
        size: optional(count("bytes")),
      })),
      ...cut,
    }),
  params: ({ repo, rev, path, limit, cursor }) => ({
    repo: repo(),
    path: path("[the directory] (the top if not given)").optional(),
    rev: rev(),
    limit: limit(1000),
    cursor: cursor(),
  }),
  positionals: ["repo", "path"],
  examples: [
    { line: "repo tree -R alice.test/app", says: "list the top directory" },
    { line: "repo tree alice.test/app src --rev v1.0", says: "list src as of a tag" },
  ],
  run: async (context, { repo, ...asked }) =>
    listDirectory(await openReading(context, repo), asked),
  render: ({ entries }, style) =>
    columns(entries, ["mode", "type", "sha", "size", "name"], style, ["type", "size", "name"]),
});

const read = command({
  name: "repo read",
  summary: "Read a file, or its lines from start to end",
  details: "Read a long one by lines: a search says which. What is not text comes as base64.",
  kind: "read",
  answer: () =>
    object({
      path: optional(text()),
      commit: optional(commitId),
      mode: optional(text("six octal digits")),
      size: optional(count("bytes")),
      start: optional(count("the first line given")),
      end: optional(count("the last line given")),
      lines: optional(count("the lines of the whole file")),
      text: optional(text()),
      base64: optional(text("the bytes of a file that is not text")),
    }),
  params: ({ z, repo, rev, path }) => ({
    repo: repo(),
    path: path("[the file]"),
    rev: rev(),
    start: z.number().int().min(1).max(1_000_000_000).optional()
      .describe("[the first line, from 1]"),
    end: z.number().int().min(1).max(1_000_000_000).optional()
      .describe("[the last line (the file's if not given)]"),
  }),
  positionals: ["repo", "path"],
  examples: [
    { line: "repo read alice.test/app README.md", says: "print a file" },
    { line: "repo read alice.test/app main.c --start 10 --end 20", says: "print some lines" },
  ],
  run: async (context, { repo, ...asked }) => readFile(await openReading(context, repo), asked),
  render: (result) => "text" in result ? result.text : `${result.size} bytes that are not text`,
  content: (result) => "text" in result && !("lines" in result) ? result.text : undefined,
  raw: (result) => "base64" in result ? Buffer.from(result.base64, "base64") : undefined,
  oversize: (result, most, args) => refuseLong(result, most, args),
});

const log = command({
  name: "repo log",
  summary: "List commits (history), newest first",
  kind: "read",
  answer: () =>
    object({
      commits: many(
        object({
          sha,
          parents: many(sha),
          author: person,
          committer: optional(person),
          summary: text(),
          body: optional(text()),
          path: optional(text("of a file that is followed, where it had another")),
        }),
      ),
      ...cut,
    }),
  params: ({ z, repo, rev, path, limit, cursor }) => ({
    repo: repo(),
    rev: rev(),
    path: path("[only what changed this] file or directory, no glob").optional(),
    follow: z.boolean().default(false).describe("[go on with what the file was before a rename]"),
    limit: limit(20),
    cursor: cursor(),
  }),
  positionals: ["repo", "rev"],
  examples: [
    { line: "repo log -R alice.test/app", says: "list the newest commits" },
    { line: "repo log alice.test/app main --path src", says: "list those that changed src" },
    { line: "repo log -R alice.test/app --path a.c --follow", says: "and what it was before" },
  ],
  run: async (context, { repo, ...asked }) =>
    readLog(context, await openReading(context, repo), asked),
  render: ({ commits }, style) =>
    columns(
      commits.map(({ author, ...commit }) => ({ ...commit, ...author })),
      ["sha", "date", "name", "email", "summary"],
      style,
      ["sha", "date", "name", "summary"],
    ),
});

const diff = command({
  name: "repo diff",
  summary: "Show what head changed since base, as a diff",
  details:
    "From where the two parted. Over 60,000 bytes JSON and tools list the files instead: ask again with paths (. is all).",
  kind: "read",
  answer: () =>
    object({
      base: commitId,
      head: commitId,
      mergeBase: optional(commitId),
      diff: optional(text("as git shows it")),
      said: optional(text("why there is no diff")),
      files: optional(files),
    }),
  params: ({ z, repo }) => ({
    repo: repo(),
    base: z.string().min(1).max(500).describe("[what to compare with]"),
    head: z.string().min(1).max(500).optional()
      .describe("[a branch, tag or commit (the default branch if not given)]"),
    paths: z.array(z.string().min(1).max(4096)).max(500).optional()
      .describe("only these [files and directories], no globs, however long"),
  }),
  positionals: ["repo", "base", "head"],
  examples: [
    { line: "repo diff alice.test/app main topic", says: "show what topic changed" },
    { line: "repo diff -R alice.test/app v1.0 --paths src", says: "show what changed in src" },
  ],
  run: async (context, { repo, ...asked }) =>
    readDiff(context, await openReading(context, repo), asked),
  whole: { paths: ["."] },
  render: (result, style) =>
    "diff" in result
      ? colorDiff(toText(result.diff), style)
      : "files" in result && result.files
      ? columns(result.files, ["path", "added", "removed", "lines"], style)
      : result.said,
  content: (result) =>
    "diff" in result ? result.diff : "files" in result ? undefined : `${result.said}\n`,
  // A patch of nothing is empty, as git's is; a sentence would be taken for one that is broken.
  raw: (result) => "diff" in result || "files" in result ? undefined : new Uint8Array(),
});

const storage = command({
  name: "repo storage",
  summary: "Show what a repository takes up on its PDS",
  kind: "read",
  answer: () =>
    object({
      packs: count(),
      objects: count(),
      bytes: count("of packs"),
      blobBytes: count("of packs in blobs"),
    }),
  params: ({ repo }) => ({ repo: repo() }),
  positionals: ["repo"],
  examples: [{ line: "repo storage alice.test/app", says: "count its packs and bytes" }],
  run: (context, { repo }) => readStorage(context, repo),
  render: fields,
});

export default [list, refs, tree, read, log, diff, storage];
