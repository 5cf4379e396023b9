import { describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openHome } from "../support/home.ts";
import { run } from "../support/run.ts";
import { connect, textsOf } from "../support/mcp.ts";
import { openNetwork } from "../support/network.ts";

/** A piece of the page that is run: a script, or a call to the server of a configuration. */
interface Step {
  readonly kind: string;
  readonly text: string;
}

async function readSteps(handle: string): Promise<Step[]> {
  const page = await readFile(new URL("../../docs/assistants.md", import.meta.url), "utf8");
  return [...page.matchAll(/^```(\w+(?: \w+)?)\n(.*?)^```$/gms)].map((
    [, kind = "", text = ""],
  ) => ({
    kind,
    text: text.replaceAll("alice.example.com", handle),
  }));
}

describe("docs/assistants.md", () => {
  it("says what can be done, step by step", async () => {
    await using home = await openHome(await openNetwork(), { name: "alice" });
    const { dir, env, account } = home;
    const steps = await readSteps(account.handle);
    assert(steps.length >= 10, `${steps.length} steps`);
    for (const { kind, text } of steps) {
      if (kind === "sh") {
        const { status, err } = await run("bash", ["-ec", text], { env, cwd: dir });
        assertEquals(status, 0, `${text}${err}`);
        continue;
      }
      const isReview = kind === "json review";
      assert(isReview || kind === "json", kind);
      const config = await readFile(join(dir, isReview ? "review.json" : ".mcp.json"), "utf8");
      const { command, args, env: settings } = JSON.parse(config).mcpServers.knotless;
      // Started as a client does, with nothing of this shell but what the configuration says.
      await using client = await connect(command, args, { HOME: dir, ...settings });
      const answer = await client.callTool(JSON.parse(text));
      const said = textsOf(answer).join("\n");
      assertEquals(answer.isError === true, isReview, `${text}${said}`);
      if (isReview) assert(/is refused|is not offered/.test(said), said);
    }
  });
});
