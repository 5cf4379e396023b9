import { readFileSync } from "node:fs";
import * as z from "zod";
import type { Table } from "../../cli/main.ts";
import { type AnyCommand, command } from "../../core/command.ts";
import { ConflictError, RefusedError, RemoteError } from "../../core/errors.ts";
import { columns } from "../../core/text.ts";
import { factOf } from "../../scripts/gen.ts";

const repo = () =>
  z.string().regex(/^[^/\s]+\/[^/\s]+$/).describe("the repository, as handle/name");
const rev = () => z.string().optional().describe("a branch, tag or commit");

/** What `repo read` of the table below answers for a file. */
export const fileBytes: Uint8Array = new Uint8Array([0xe9, 0x1b, 0x5b, 0x33, 0x31, 0x6d, 0x0a]);

const commands: readonly AnyCommand[] = [
  command({
    name: "login",
    summary: "Sign in to an account on this machine",
    kind: "machine",
    examples: [{ line: "login alice.test", says: "sign in as alice" }],
    params: () => ({ handle: z.string().describe("the account's handle") }),
    positionals: ["handle"],
    run: (_, { handle }) => Promise.resolve({ handle }),
  }),
  command({
    name: "status",
    summary: "Show the version, the account and the servers",
    kind: "read",
    examples: [{ line: "status", says: "what is there" }],
    params: () => ({ repo: repo().optional() }),
    run: (_, input) => Promise.resolve(input),
  }),
  command({
    name: "repo list",
    summary: "List an account's repositories, newest first",
    kind: "read",
    examples: [{ line: "repo list alice.test", says: "alice's repositories" }],
    params: () => ({
      handle: z.string().optional().describe("the account"),
      limit: z.number().int().min(1).max(1000).default(2).describe("at most this many"),
      cursor: z.string().optional().describe("go on where an earlier answer's cursor says"),
      state: z.enum(["open", "archived"]).optional().describe("only those in this state"),
    }),
    positionals: ["handle"],
    run: (_, { handle, limit }) => {
      const all = [
        {
          repo: "alice.test/app",
          description: "a\ttab\nand a line",
          createdAt: "2026-11-30T19:00:00Z",
        },
        {
          repo: "alice.test/evil",
          description: "\x1b]0;x\x07\u202edne",
          createdAt: "2026-11-28T20:00:00Z",
        },
        { repo: "alice.test/old", description: "お互い様", createdAt: "2024-11-30T20:00:00Z" },
      ];
      const repos = handle === "nobody.test" ? [] : all;
      const more = limit < repos.length && { more: true, cursor: "c 2" };
      return Promise.resolve({ repos: repos.slice(0, limit), ...more });
    },
    render: ({ repos }, style) => columns(repos, ["repo", "description", "createdAt"], style),
  }),
  command({
    name: "repo read",
    summary: "Read a file",
    kind: "read",
    examples: [{ line: "repo read alice.test/app README.md", says: "a whole file" }],
    params: () => ({
      repo: repo(),
      path: z.string().describe("the file's path"),
      rev: rev(),
    }),
    positionals: ["repo", "path", "rev"],
    run: (_, input) => Promise.resolve({ ...input, text: fileBytes }),
    content: ({ text }) => text,
  }),
  command({
    name: "repo diff",
    summary: "Compare two commits",
    kind: "read",
    details: "From where the two histories parted, as git does with three dots. " +
      "Without a merge base it is the plain difference of the two trees, which is what most want.",
    examples: [{ line: "repo diff alice.test/app main topic", says: "what topic brings" }],
    params: () => ({
      repo: repo(),
      base: z.string().describe("the commit compared with"),
      head: z.string().describe("the commit that is compared"),
      paths: z.array(z.string()).optional().describe("only these paths"),
    }),
    positionals: ["repo", "base", "head", "paths"],
    run: (_, input) => Promise.resolve(input),
  }),
  command({
    name: "repo commit",
    summary: "Commit changes to files without a clone",
    kind: "write",
    examples: [{
      line: "repo commit alice.test/app --message Fix --changes @changes.json",
      says: "changes from a file",
    }],
    params: () => ({
      repo: repo(),
      message: z.string().describe("the commit's message"),
      changes: z.array(z.strictObject({
        path: z.string().describe("the file"),
        content: z.string().optional().describe("all of its text"),
      })).optional().describe("what changes, each path once"),
      topics: z.array(z.string()).optional().describe("words for it"),
      keep_branch: z.boolean().optional().describe("leave the branch"),
      notify: z.boolean().default(true).describe("tell the watchers"),
      options: z.strictObject({ a: z.number().int().min(0).max(9).optional() }).optional()
        .describe("how exactly"),
    }),
    positionals: ["repo"],
    run: (_, input) => Promise.resolve(input),
  }),
  command({
    name: "repo star",
    summary: "Star a repository",
    kind: "write",
    undo: "take the star back",
    examples: [{ line: "repo star alice.test/app", says: "star it" }],
    params: () => ({ repo: repo() }),
    positionals: ["repo"],
    run: (_, { undo }) =>
      Promise.resolve({ starred: !undo, uri: "at://did:plc:a/dev.knotless.star/3k" }),
    render: ({ starred, uri }, style) =>
      style.terminal ? starred ? "Starred" : "Took the star back" : uri,
  }),
  command({
    name: "repo delete",
    summary: "Delete a repository",
    kind: "write",
    destructive: true,
    examples: [{ line: "repo delete alice.test/app --confirm app", says: "it is gone then" }],
    params: () => ({ repo: repo(), confirm: z.string().describe("its name again") }),
    positionals: ["repo"],
    run: (_, { confirm }) => Promise.resolve({ deleted: confirm }),
    render: ({ deleted }) => `Deleted ${deleted}`,
  }),
  command({
    name: "branch create",
    summary: "Make a branch",
    kind: "write",
    aliases: ["branch new-one"],
    examples: [{ line: "branch create alice.test/app topic", says: "from the default branch" }],
    params: () => ({ repo: repo(), name: z.string().describe("the branch"), rev: rev() }),
    positionals: ["repo", "name", "rev"],
    run: (_, input) => Promise.resolve(input),
  }),
  command({
    name: "fail",
    summary: "Throw",
    kind: "read",
    examples: [{ line: "fail bug", says: "a bug" }],
    params: () => ({ how: z.string().describe("what to throw") }),
    positionals: ["how"],
    run: (_, { how }): Promise<never> => {
      if (how === "conflict") {
        throw new ConflictError("main moved", {
          code: "conflict.branch_moved",
          hint: { command: "repo star", args: { repo: "alice.test/my app", undo: true } },
          facts: { was: "a", is: "b" },
        });
      }
      if (how === "remote") {
        throw new RemoteError("pds.test did not answer", {
          host: "pds.test",
          cause: new Error("fetch failed", {
            cause: new Error("connection refused. Is the computer able to access the url?"),
          }),
        });
      }
      if (how === "refused") throw new RefusedError("said no\x1b[31m\u202e");
      if (how === "system") readFileSync("/");
      if (how === "hang") return new Promise(() => {});
      throw new TypeError("x is not a function");
    },
  }),
];

/** A small table of commands, each of which answers what it was given, for tests of the command line. */
export const smallTable: Table = {
  facts: JSON.parse(
    JSON.stringify(
      await Promise.all(commands.map((command) => factOf({ module: "test", command }))),
    ),
  ),
  load: (name) => {
    const found = commands.find((command) => command.name === name);
    return found ? Promise.resolve(found) : Promise.reject(new Error(name));
  },
};
