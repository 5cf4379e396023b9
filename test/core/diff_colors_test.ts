import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { colorDiff } from "../../core/diff_colors.ts";
import { runCli } from "../support/cli.ts";
import { loadCommand } from "../../core/table.ts";
import { facts } from "../../core/facts.gen.ts";

const style = { terminal: true, color: true, width: 80, now: new Date(0) };
const diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\x1b[31m\n same\n";

describe("a diff on a terminal", () => {
  it("tells added lines from removed ones, and lets nothing of theirs steer it", () => {
    assertEquals(
      colorDiff(diff, style).split("\n").slice(3, 7),
      [
        "\x1b[36m@@ -1 +1 @@\x1b[39m",
        "\x1b[31m-a\x1b[39m",
        "\x1b[32m+b\uFFFD[31m\x1b[39m",
        " same",
      ],
    );
    assertEquals(colorDiff(diff, { ...style, color: false }), diff.replace("\x1b", "\uFFFD"));
  });

  it("is shown whole by repo diff", async () => {
    const command = await loadCommand("repo diff");
    const table = {
      facts,
      load: () =>
        Promise.resolve({
          ...command,
          run: (_: unknown, { paths }: { paths: string[] }) =>
            Promise.resolve({ base: "b", head: "h", diff: new TextEncoder().encode(diff), paths }),
        }),
    };
    const line = ["repo", "diff", "a.test/x", "main"];
    const open = () => () => Promise.resolve({} as never);
    const shown = await runCli(line, { table, open, terminals: ["stdout"] });
    assertEquals([shown.status, shown.out], [0, diff.replace("\x1b", "\uFFFD")], shown.err);
    const piped = await runCli(line, { table, open });
    assertEquals(piped.out, diff);
    const json = await runCli([...line, "--json"], { table, open });
    assertEquals(JSON.parse(json.out).paths, undefined);
  });
});
