import { command } from "../command.ts";
import { readBlame } from "../forge/blame.ts";
import { openReading } from "../forge/reading.ts";
import { type MatchRun, searchText } from "../forge/search.ts";
import { count, many, object, optional, text } from "../form.ts";
import { columns } from "../text.ts";
import { commitId, cut, person, sha } from "./forms.ts";

const search = command({
  name: "repo search",
  summary: "Find the lines that hold a string (grep), in any case",
  details: "With context the lines around come along, enough to edit by. Long lines are cut.",
  kind: "read",
  answer: () =>
    object({
      commit: commitId,
      matches: optional(many(object({ path: text(), line: count("from 1"), text: text() }))),
      runs: optional(
        many(
          object({
            path: text(),
            start: count("the first line of the text"),
            end: count(),
            matches: many(count("a line that matches")),
            text: text(),
          }),
        ),
      ),
      ...cut,
    }),
  params: ({ z, repo, rev, path, limit, cursor }) => ({
    repo: repo(),
    text: z.string().min(1).max(1000).describe("the string, no pattern"),
    path: path("only this directory, file or glob (*.ts)").optional(),
    rev: rev(),
    context: z.number().int().min(0).max(50).optional()
      .describe("lines before and after each match"),
    limit: limit(100),
    cursor: cursor(),
  }),
  positionals: ["repo", "text"],
  examples: [
    { line: "repo search alice.test/app deprecated", says: "list the lines with that word" },
    {
      line: 'repo search alice.test/app "fn main" --path src --context 3',
      says: "show three lines around each match in src",
    },
  ],
  run: async (context, { repo, ...asked }) =>
    searchText(context, await openReading(context, repo), asked),
  render: ({ matches = [], runs }, style) =>
    runs?.map(showRun).join("\n--\n") ?? columns(matches, ["path", "line", "text"], style),
});

/** A run as grep shows one: a colon before a line that matches, a hyphen before another. */
function showRun({ path, start, matches, text }: MatchRun): string {
  return text.split("\n").map((line, at) => {
    const mark = matches.includes(start + at) ? ":" : "-";
    return `${path}${mark}${start + at}${mark}${line}`;
  }).join("\n");
}

const blame = command({
  name: "repo blame",
  summary: "Show who last changed each line of a file, in which commit",
  details: "Lines in a row of one commit are one run.",
  kind: "read",
  answer: () =>
    object({
      commit: commitId,
      path: text(),
      runs: many(
        object({
          sha,
          start: count("the first line, from 1"),
          count: count("of lines"),
          author: person,
          summary: text(),
          previous: optional(object({ sha, path: text() })),
        }),
      ),
      ...cut,
    }),
  params: ({ z, repo, rev, path, limit, cursor }) => ({
    repo: repo(),
    path: path("[the file]"),
    rev: rev(),
    start: z.number().int().min(1).max(1_000_000_000).optional()
      .describe("[the first line (all if not given)]"),
    end: z.number().int().min(1).max(1_000_000_000).optional()
      .describe("[the last line] (start if not given)"),
    limit: limit(100),
    cursor: cursor(),
  }),
  positionals: ["repo", "path"],
  examples: [
    { line: "repo blame alice.test/app main.c", says: "show who wrote it" },
    { line: "repo blame alice.test/app main.c --start 10 --end 20", says: "explain some lines" },
  ],
  run: async (context, { repo, ...asked }) =>
    readBlame(context, await openReading(context, repo), asked),
  render: ({ runs }, style) =>
    columns(
      runs.map(({ author, ...run }) => {
        const { start, count } = run;
        return { ...run, ...author, lines: count === 1 ? start : `${start}-${start + count - 1}` };
      }),
      ["sha", "start", "count", "date", "name", "email", "summary"],
      style,
      ["lines", "sha", "date", "name", "summary"],
    ),
});

export default [search, blame];
