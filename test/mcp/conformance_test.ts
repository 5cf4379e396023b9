import { beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { bridge } from "../support/bridge.ts";
import { judge } from "../support/judges.ts";
import { compileFixture, serveOverHttp } from "../support/mcp.ts";

/** What the suite runs and does not score: an extension of tasks, and headers that tools of ours do not have. */
const UNSCORED = /^(tasks-.+ \(extension\)|http-custom-header-server-validation \(pending\))$/;

const REVISIONS = [["2025-11-25", 30], ["2026-07-28", 37]] as const;

describe("the conformance suite", () => {
  let path: string;
  beforeAll(async () => {
    path = await compileFixture();
  });

  const transports = {
    HTTP: () => serveOverHttp(path, ["--conformance"]),
    stdio: () => bridge(path, ["--conformance"]),
  };
  for (const [transport, serve] of Object.entries(transports)) {
    for (const [revision, least] of REVISIONS) {
      it(`passes what ${revision} requires, over ${transport}`, async () => {
        await using server = await serve();
        const { status, out, err } = await judge("conformance", [
          "server",
          ...["--url", server.url],
          ...["--requirements", revision],
        ]);
        const failed = [...out.matchAll(/^✗ (.+): \d+ passed/gm)].map(([, name]) => name);
        const unscored = [...out.matchAll(/^ {2}✗ (.+)$/gm)].map(([, name = ""]) => name);
        assertEquals(unscored.filter((name) => !UNSCORED.test(name)), [], out);
        assertEquals(failed.length, unscored.length, `${out}${err}`);
        assertEquals(status, 0, `${out}${err}`);
        const { length } = [...out.matchAll(/^✓ .+: \d+ passed, 0 failed$/gm)];
        assert(length >= least, `only ${length} passed\n${out}`);
      });
    }
  }
});
