import { assertEquals } from "@std/assert";
import { facts } from "../../core/facts.gen.ts";
import type { Fact } from "../../core/facts.ts";
import { type Home, openHome } from "./home.ts";
import type { Network } from "./network.ts";

/** The texts are the same with it, and each answer is held to its tool's schema. */
const STRUCTURED = ["--structured"];

/** Gives the arguments of a step for one of the twins. */
type Args = object | ((home: Home) => object);

/** Two accounts alike, for steps that write: one takes them by the command line, the other over MCP. */
export interface Twins extends AsyncDisposable {
  /** By the command line. */
  readonly left: Home;
  /** Over MCP. */
  readonly right: Home;
  /**
   * Runs a step through both faces and holds their answers to each other: a read on one account to the letter, a write
   * on the twins but for names, ids and times. Gives the command line's answer.
   */
  // deno-lint-ignore no-explicit-any
  both(name: string, args?: Args): Promise<any>;
  /** Runs a step that fails through both faces; gives its message, the hint as the tool has it, and the exit status. */
  refuse(name: string, args?: Args): Promise<{ message: string; tool: string; exit: number }>;
}

/** Makes twins on the network. */
export async function openTwins(network: Network): Promise<Twins> {
  const [left, right] = await Promise.all([
    openHome(network, { name: "left" }),
    openHome(network, { name: "right" }),
  ]);
  const argsOf = (args: Args, home: Home) => typeof args === "function" ? args(home) : args;
  const line = (
    fact: Fact,
    more: string[] = [],
  ) => [...fact.name.split(" "), "--input", "-", ...more];
  return {
    left,
    right,
    async both(name, args = {}) {
      const fact = factOf(name);
      const input = JSON.stringify(argsOf(args, left));
      const byLine = await left.cli(line(fact, ["--json"]), input);
      assertEquals(byLine.status, 0, `knotless ${name} ${input}: ${byLine.err}`);
      const other = fact.kind === "read" ? left : right;
      const byTool = await other.tool(fact.tool ?? "", argsOf(args, other), STRUCTURED);
      const [text = ""] = byTool.texts;
      assertEquals(
        byTool.isError,
        false,
        `${fact.tool} ${JSON.stringify(argsOf(args, other))}: ${text}`,
      );
      const json = byLine.out.trimEnd();
      if (fact.kind !== "read") assertEquals(stable(json, left), stable(text, right));
      else if (text !== json) {
        const { out } = await left.cli(line(fact), input);
        // Of nothing a pipe gets nothing, and a tool the sentence that says so.
        const wanted = out === "" ? `${JSON.parse(json).said}\n` : out;
        assertEquals(text, wanted, `${fact.tool} answers neither the JSON nor what a pipe gets`);
      }
      return JSON.parse(json);
    },
    async refuse(name, args = {}) {
      const fact = factOf(name);
      const input = JSON.stringify(argsOf(args, left));
      const byLine = await left.cli(line(fact, ["--json"]), input);
      if (byLine.status === 0) throw new Error(`knotless ${name} ${input} did not fail`);
      const { error } = JSON.parse(byLine.out);
      assertEquals(error.exit, byLine.status);
      const other = fact.kind === "read" ? left : right;
      const byTool = await other.tool(fact.tool ?? "", argsOf(args, other), STRUCTURED);
      const [text = ""] = byTool.texts;
      assertEquals(byTool.isError, true, `${fact.tool} did not fail: ${text}`);
      // The command line spells a flag with its dashes, and a positional in capitals.
      const message = error.message.replace(
        /^(--[a-z-]+|[A-Z_]+)(?= is missing)/,
        (word: string) => word.replace(/^--/, "").replaceAll("-", "_").toLowerCase(),
      );
      assertEquals(stable(text.split("\n")[0] ?? "", other), stable(message, left));
      return { message, tool: text, exit: byLine.status };
    },
    async [Symbol.asyncDispose]() {
      await left[Symbol.asyncDispose]();
      await right[Symbol.asyncDispose]();
    },
  };
}

function factOf(name: string): Fact {
  const fact = facts.find((fact) => fact.name === name);
  if (fact === undefined) throw new Error(`the table has no ${name}`);
  return fact;
}

/** A text with what differs from one account and moment to the next put as words. */
export function stable(text: string, { account }: Home): string {
  return text.replaceAll(account.handle, "HANDLE").replaceAll(
    /\b(left|right)-[0-9a-f]{8}\.test/g,
    "TWIN",
  ).replaceAll(account.did, "DID")
    .replaceAll(/did:plc:[a-z2-7]{24}/g, "DID")
    .replaceAll(/\b[0-9a-f]{40}\b/g, "OID").replaceAll(/\b[0-9a-f]{7}\b/g, "SHORT")
    .replaceAll(/\bbafy[a-z2-7]{50,}\b/g, "CID")
    .replaceAll(/\b[234567a-j][234567a-z]{12}\b/g, "TID")
    .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, "TIME");
}
