import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { tokensOf } from "../../core/tools.ts";
import { type Home, openHome } from "../support/home.ts";
import { openNetwork } from "../support/network.ts";

/** What a session cost: the bytes of its calls' arguments, and of the texts that came back. */
interface Cost {
  sent: number;
  received: number;
}

/** Calls a tool and gives the first text of its answer. */
type Ask = (name: string, args: object) => Promise<string>;

const LINES = 3000;
const longLine = (at: number) => `export const name${at} = value(${at}); // ${"-".repeat(6)}\n`;
const callers = Array.from({ length: 5 }, (_, at) => `src/part${at}.ts`);
const callerText = (name: string) =>
  `${"// of no matter here\n".repeat(150)}export const sum = ${name}(1, 2);\n${
    "// nor is this\n".repeat(150)
  }`;

describe("what a session over MCP costs", () => {
  let home: Home;
  let repo: string;

  beforeAll(async () => {
    home = await openHome(await openNetwork());
    repo = `${home.account.handle}/long`;
    await home.tool("repo_create", { name: "long" });
    const content = Array.from({ length: LINES }, (_, at) => longLine(at)).join("");
    await commit("Begin", [
      { path: "src/long.ts", content },
      ...callers.map((path) => ({ path, content: callerText("addUp") })),
    ]);
    for (const at of [100, 2000, 2500]) {
      await commit(
        `Count ${at} twice\n\nThe sums of line ${at} were too low, as the ledger shows.`,
        [
          { path: "src/long.ts", edits: [{ old: `value(${at})`, new: `value(2 * ${at})` }] },
        ],
      );
    }
  });
  afterAll(() => home[Symbol.asyncDispose]());

  const commit = async (message: string, changes: object[]) => {
    const { texts, isError } = await home.tool("repo_commit", { repo, message, changes });
    assertEquals(isError, false, texts.join());
  };

  /** Runs a session and counts what it costs. */
  const measure = async (session: (ask: Ask) => Promise<void>): Promise<Cost> => {
    const cost = { sent: 0, received: 0 };
    await session(async (name, args) => {
      const { texts, isError } = await home.tool(name, args);
      assertEquals(isError, false, `${name}: ${texts.join()}`);
      cost.sent += new TextEncoder().encode(JSON.stringify(args)).length;
      cost.received += new TextEncoder().encode(texts.join("")).length;
      return texts[0] ?? "";
    });
    return cost;
  };

  const compare = async (
    what: string,
    lean: (ask: Ask) => Promise<void>,
    whole: (ask: Ask) => Promise<void>,
  ): Promise<{ lean: Cost; whole: Cost }> => {
    const costs = { lean: await measure(lean), whole: await measure(whole) };
    for (const [how, { sent, received }] of Object.entries(costs)) {
      // deno-lint-ignore no-console
      console.log(
        `${what}, ${how}: ${sent} B sent (${tokensOf(sent)} tokens), ` +
          `${received} B received (${tokensOf(received)} tokens)`,
      );
    }
    return costs;
  };

  it("to find and fix one line of a 138 KB file", async () => {
    const path = "src/long.ts";
    const fix = (old: string, text: string) => ({ path, edits: [{ old, new: text }] });
    const { lean, whole } = await compare("fix a line", async (ask) => {
      const found = await ask("repo_search", { repo, text: "value(1600)", path, context: 1 });
      assertStringIncludes(found, longLine(1601).trimEnd());
      const changes = [fix("value(1600)", "value(-1600)")];
      await ask("repo_commit", { repo, message: "Negate", changes });
    }, async (ask) => {
      const text = await ask("repo_read", { repo, path });
      assert(text.length > 138_000);
      const content = text.replace("value(1500)", "value(-1500)");
      await ask("repo_commit", { repo, message: "Negate", changes: [{ path, content }] });
    });
    assert(lean.sent <= 313, `${lean.sent} B sent`);
    assert(lean.received <= 634, `${lean.received} B received`);
    assert((lean.sent + lean.received) * 50 < whole.sent + whole.received);
  });

  it("to explain who changed a line, and why", async () => {
    const path = "src/long.ts";
    const { lean, whole } = await compare("explain a line", async (ask) => {
      const { runs: [run] } = JSON.parse(await ask("repo_blame", { repo, path, start: 2001 }));
      assertEquals([run.summary, run.author.name], ["Count 2000 twice", home.account.handle]);
      const log = await ask("repo_log", { repo, rev: run.sha, limit: 1 });
      assertStringIncludes(log, "as the ledger shows");
    }, async (ask) => {
      const { commits } = JSON.parse(await ask("repo_log", { repo, path }));
      for (const { sha } of commits) {
        if (!(await ask("repo_read", { repo, path, rev: sha })).includes("2 * 2000")) break;
      }
    });
    assert((lean.sent + lean.received) * 50 < whole.sent + whole.received);
  });

  it("to rename a function across five files in one commit", async () => {
    const { lean, whole } = await compare("rename a function", async (ask) => {
      const { matches } = JSON.parse(await ask("repo_search", { repo, text: "addUp(" }));
      assertEquals(matches.map(({ path }: { path: string }) => path), callers);
      const changes = callers.map((path) => ({ path, edits: [{ old: "addUp(", new: "total(" }] }));
      await ask("repo_commit", { repo, message: "Rename addUp to total", changes });
    }, async (ask) => {
      const changes = [];
      for (const path of callers) {
        const text = await ask("repo_read", { repo, path });
        changes.push({ path, content: text.replace("total(", "addUp(") });
      }
      await ask("repo_commit", { repo, message: "Rename total to addUp", changes });
    });
    assert((lean.sent + lean.received) * 20 < whole.sent + whole.received);
  });
});
