import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { facts } from "../../core/facts.gen.ts";
import { openHome } from "../support/home.ts";
import { openNetwork } from "../support/network.ts";
import { proxyNetwork } from "../support/proxy.ts";

/** A value that a parameter of this kind takes, so that a call is not refused for its arguments. */
const likely: Readonly<Record<string, unknown>> = {
  string: "main",
  integer: 1,
  boolean: true,
  array: [],
  object: {},
};

describe("knotless-mcp --read-only", () => {
  it("writes nothing at the PDS, whatever hidden tool is called by name", async () => {
    const network = await openNetwork();
    await using proxies = await proxyNetwork(network);
    await using alice = await openHome(network, { name: "alice", env: { ...proxies.env } });
    const repo = `${alice.account.handle}/app`;
    await alice.tool("repo_create", { name: "app" });
    await alice.tool("repo_commit", { repo, message: "m", changes: [{ path: "a", content: "a" }] });
    assert(proxies.pds.writes().requests > 0, "the proxy sees no writes");
    proxies.pds.forget();

    const hidden = facts.filter(({ kind, tool }) => kind !== "read" && tool !== undefined);
    assert(hidden.length > 10);
    for (const { tool = "", params } of hidden) {
      const args = Object.fromEntries(
        params.map(({ name, type }) => [name, name === "repo" ? repo : likely[type]]),
      );
      const { texts, isError } = await alice.tool(tool, args, ["--read-only"]);
      assertEquals(isError, true, tool);
      assertMatch(texts.join(), /is not offered: this server runs with --read-only/);
    }
    const { texts: [refs = ""] } = await alice.tool("repo_refs", { repo }, ["--read-only"]);
    assertEquals(JSON.parse(refs).branches.length, 1);
    assertEquals(proxies.pds.writes(), { requests: 0, bytes: 0 });
  });
});
