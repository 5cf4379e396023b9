import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { AuthError, NotFoundError, OfflineError } from "../../core/errors.ts";
import type { Fact } from "../../core/facts.ts";
import { spellError, spellHint } from "../../mcp/hint.ts";

const fact = { group: "", summary: "", positionals: [], aliases: [], examples: [], params: [] };
const facts: Fact[] = [
  {
    ...fact,
    name: "comment add",
    tool: "comment_add",
    kind: "write",
    schema: { type: "object" },
    module: "comment",
  },
  { ...fact, name: "repo mirror", kind: "machine", schema: { type: "object" }, module: "repo" },
];

describe("advice to an assistant", () => {
  it("names the tool to call, with its arguments", () => {
    const args = { verdict: "approve", line: 3 };
    assertEquals(
      spellHint({ command: "comment add", args }, facts),
      'call comment_add with verdict: "approve", line: 3',
    );
    assertEquals(spellHint({ command: "comment add" }, facts), "call comment_add");
  });

  it("names the command a person has to run where there is no tool", () => {
    assertEquals(spellHint({ command: "repo mirror" }, facts), "run knotless repo mirror");
  });

  it("follows the message on a line of its own", () => {
    assertEquals(
      spellError(new NotFoundError("no such file", { hint: "look" }), facts),
      "no such file\nlook",
    );
    assertEquals(spellError(new NotFoundError("no such file"), facts), "no such file");
  });

  it("names the variable that keeps the server from the network, and no flag", () => {
    assertEquals(
      spellError(new OfflineError("nothing was sent"), facts),
      "nothing was sent\nunset KNOTLESS_OFFLINE where this server is started",
    );
  });

  it("says how to sign in, and how to do it again", () => {
    assertEquals(
      [new AuthError("none", "no login"), new AuthError("ended", "it ended")]
        .map((error) => spellError(error, facts)),
      [
        "no login\nsign in: run knotless login, or reconnect knotless in your assistant",
        "it ended\nsign in again: run knotless login, or reconnect knotless in your assistant",
      ],
    );
  });
});
