import { command, type Zod } from "../command.ts";
import { createBranch, deleteBranch, renameBranch } from "../forge/refs.ts";
import { many, object, text } from "../form.ts";
import { commitId } from "./forms.ts";

const branchName = (z: Zod, what: string) => z.string().min(1).max(200).describe(what);

const create = command({
  name: "branch create",
  summary: "Create a branch",
  kind: "write",
  answer: () => object({ branch: text(), commit: commitId }),
  params: ({ z, repo, rev }) => ({
    repo: repo(),
    name: branchName(z, "[the new branch]"),
    rev: rev(),
  }),
  positionals: ["repo", "name", "rev"],
  examples: [{
    line: "branch create -R alice.test/app topic",
    says: "branch off the default branch",
  }],
  run: (context, { repo, ...asked }) => createBranch(context, repo, asked),
  render: ({ branch, commit }, style) => style.terminal ? `Created ${branch} at ${commit}` : commit,
});

const remove = command({
  name: "branch delete",
  summary: "Delete a branch, but not the default one",
  kind: "write",
  answer: () => object({ branch: text(), commit: commitId }),
  destructive: true,
  params: ({ z, repo }) => ({ repo: repo(), name: branchName(z, "[the branch]") }),
  positionals: ["repo", "name"],
  examples: [{ line: "branch delete alice.test/app topic", says: "delete it" }],
  run: (context, { repo, name }) => deleteBranch(context, repo, name),
  render: ({ branch, commit }, style) =>
    style.terminal ? `Deleted ${branch}, which was at ${commit}` : commit,
  back: ({ branch, commit }, { repo }) => ({
    command: "branch create",
    args: { repo, name: branch, rev: commit },
  }),
});

const rename = command({
  name: "branch rename",
  summary: "Rename a branch; HEAD follows the default one",
  kind: "write",
  answer: () => object({ branch: text(), was: text(), commit: commitId, pulls: many(text()) }),
  params: ({ z, repo }) => ({
    repo: repo(),
    branch: branchName(z, "[the branch]"),
    name: branchName(z, "[its new name]"),
  }),
  positionals: ["repo", "branch", "name"],
  examples: [{ line: "branch rename alice.test/app topic feature", says: "call it feature" }],
  run: (context, { repo, ...asked }) => renameBranch(context, repo, asked),
  render: ({ branch, was, commit }, style) =>
    style.terminal ? `Renamed ${was} to ${branch}` : commit,
});

export default [create, remove, rename];
