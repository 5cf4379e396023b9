import { command } from "../command.ts";
import { importRepository } from "../forge/import.ts";
import { refreshMirror } from "../forge/mirror.ts";
import { fields } from "../text.ts";

const mirror = command({
  name: "repo mirror",
  summary: "Copy a repository to this machine, or import one from another git host",
  details:
    "The copy is a bare git repository, and kept up to date by every read. With from, the branches and tags at that URL are first published in a repository of yours that exists: new ones are made, branches move forward only, and nothing is taken away.",
  kind: "machine",
  params: ({ z, repo }) => ({
    repo: repo(),
    from: z.string().min(1).optional()
      .describe("import from this http(s) URL first, as git clone takes it"),
  }),
  positionals: ["repo"],
  examples: [
    { line: "repo mirror alice.test/app", says: "bring the copy up to date and say where it is" },
    {
      line: "repo mirror alice.test/app --from https://git.example/app.git",
      says: "import a repository into one of yours",
    },
  ],
  async run(context, { repo, from }) {
    if (from !== undefined) await importRepository(await context.writing(), repo, from);
    return await refreshMirror(context, repo);
  },
  render: (mirror, style) => style.terminal ? fields(mirror, style) : mirror.path,
});

export default [mirror];
