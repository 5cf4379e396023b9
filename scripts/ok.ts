// deno-lint-ignore-file no-console
/** Runs every check and the tests: what a change has to pass. */
import process from "node:process";

/** The tests come last, for their count to be the last line. */
const STEPS: readonly (readonly [string, ...string[]])[] = [
  ["format", "fmt", "--check"],
  ["lint", "task", "--quiet", "lint"],
  ["types", "task", "--quiet", "check"],
  ["generated files", "task", "--quiet", "gen", "--check"],
  ["tests", "task", "--quiet", "test"],
];

const failed: string[] = [];
for (const [name, ...args] of STEPS) {
  console.error(`— ${name}`);
  const { success } = await new Deno.Command(Deno.execPath(), { args, stdin: "null" }).spawn()
    .status;
  if (!success) failed.push(name);
}
if (failed.length > 0) {
  console.error(`not ok: ${failed.join(", ")}`);
  process.exitCode = 1;
}
