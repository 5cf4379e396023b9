import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { assertEquals, assertThrows } from "@std/assert";
import { rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { OutdatedError } from "../../core/errors.ts";
import { readText } from "../../core/files.ts";
import { version } from "../../core/version.ts";
import { isOlder, type VersionWatch, watchVersions } from "../../core/versions.ts";
import { binary } from "../support/binary.ts";
import { connect, textsOf } from "../support/mcp.ts";

describe("the question about versions", () => {
  let dir: string;
  let server: Server;
  let appview: string;
  let said: string;
  let asked: number;
  let answers: boolean;
  let now: number;

  beforeEach(async () => {
    dir = await Deno.makeTempDir();
    [said, asked, answers, now] = ["{}", 0, true, 1_800_000_000_000];
    server = createServer(({ url }, response) => {
      if (url === "/_status") asked++;
      if (answers) response.end(said);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    appview = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true });
  });

  const watch = (env: Record<string, string> = {}, offline = false): VersionWatch => {
    const found = watchVersions({
      version: "1.2.3",
      env: { KNOTLESS_CACHE_DIR: dir, KNOTLESS_APPVIEW: appview, ...env },
      platform: "linux",
      fetch,
      now: () => new Date(now),
      unique: "test",
      offline,
    });
    if (found === undefined) throw new Error("no appview is configured");
    return found;
  };
  const file = () => readText(join(dir, "versions.json"));
  /** Waits until what was asked was written down. */
  const known = async (part: string): Promise<void> => {
    while (!(await file())?.includes(part)) await new Promise((done) => setTimeout(done, 5));
  };

  it("is asked once a day, and no call waits for the answer", async () => {
    answers = false;
    watch().check();
    await known(String(now));
    while (asked === 0) await new Promise((done) => setTimeout(done, 5));
    watch().check();
    assertEquals(asked, 1);
    server.closeAllConnections();
    [said, answers, now] = ['{"version":"1.3.0"}', true, now + 86_400_000];
    watch().check();
    await known("1.3.0");
    assertEquals(asked, 2);
    watch().check();
    now -= 1;
    watch().check();
    // A clock that was set back tells nothing of when it was asked.
    await known(String(now));
    while (asked < 3) await new Promise((done) => setTimeout(done, 5));
  });

  it("brings a notice of a newer version, once", async () => {
    said = '{"version":"1.10.0","minimum":"1.2.3"}';
    const first = watch();
    first.check();
    await known("1.10.0");
    assertEquals(
      first.notice(),
      "knotless 1.10.0 is out, and this is 1.2.3: knotless upgrade brings it",
    );
    assertEquals(first.notice(), undefined);
    watch().check();
  });

  it("refuses what is older than the appview takes, unless that is to be ignored", async () => {
    said = '{"version":"2.0.0","minimum":"2.0.0"}';
    watch().check();
    await known("2.0.0");
    const error = assertThrows(() => watch().check(), OutdatedError);
    assertEquals(
      [error.message, error.hint, error.exit],
      [`this knotless is 1.2.3, and ${new URL(appview).host} takes 2.0.0 or newer`, {
        command: "upgrade",
      }, 10],
    );
    watch({ KNOTLESS_IGNORE_MINIMUM: "1" }).check();
    // What one appview asks for is no matter of another.
    watch({ KNOTLESS_APPVIEW: "http://127.0.0.1:1" }).check();
  });

  it("takes nothing from an answer that does not fit", async () => {
    const odd = [
      "[]",
      "x",
      '{"minimum":"9.9.9 or so"}',
      '{"minimum":9}',
      `"${"9".repeat(200_000)}"`,
    ];
    for (const [at, text] of odd.entries()) {
      said = text;
      const env = { KNOTLESS_CACHE_DIR: join(dir, String(at)) };
      watch(env).check();
      while (asked === at) await new Promise((done) => setTimeout(done, 5));
      watch(env).check();
      assertEquals(watch(env).notice(), undefined);
    }
    await writeFile(join(dir, "versions.json"), "{half");
    watch({}, true).check();
    assertEquals(watch({}, true).notice(), undefined);
  });

  it("is not asked offline, and not without an appview", async () => {
    watch({}, true).check();
    assertEquals([asked, await file()], [0, undefined]);
    const env = { KNOTLESS_CACHE_DIR: dir };
    const options = { env, version, platform: "linux", fetch, unique: "", offline: false };
    assertEquals(watchVersions({ ...options, now: () => new Date(now) }), undefined);
  });

  it("is heard of over MCP: a notice after the first answer, and a refusal of every call", async () => {
    const program = await binary();
    const env = { HOME: dir, KNOTLESS_CACHE_DIR: dir, KNOTLESS_APPVIEW: appview, PATH: "/usr/bin" };
    const call = async (more: Record<string, string> = {}) => {
      await using client = await connect(program, ["mcp"], { ...env, ...more });
      const answers = [];
      for (let at = 0; at < 2; at++) {
        const answer = await client.callTool({ name: "status", arguments: {} });
        answers.push([answer.isError === true, textsOf(answer).at(-1)?.replace(/^\{.*/, "{")]);
      }
      const uri = "knotless://alice.test/app/file/main/a";
      const read = await client.readResource({ uri }).then(() => "read", ({ message }) => message);
      return { answers, read };
    };
    said = '{"version":"99.0.0"}';
    await call();
    await known("99.0.0");
    const notice = `knotless 99.0.0 is out, and this is ${version}: knotless upgrade brings it`;
    assertEquals((await call()).answers, [[false, notice], [false, "{"]]);
    await writeFile(
      join(dir, "versions.json"),
      JSON.stringify({ appview, askedAt: Date.now(), version: "99.0.0", minimum: "98.0.0" }),
    );
    const { host } = new URL(appview);
    const why =
      `this knotless is ${version}, and ${host} takes 98.0.0 or newer\nrun knotless upgrade`;
    const { answers, read } = await call();
    assertEquals(answers, [[true, why], [true, why]]);
    assertEquals(read, `MCP error -32603: ${why}`);
    const ignored = await call({ KNOTLESS_IGNORE_MINIMUM: "1" });
    assertEquals(ignored.answers, [[false, notice], [false, "{"]]);
  });
});

describe("a version", () => {
  it("comes before another by its numbers", () => {
    assertEquals(
      ([["1.2.3", "1.2.4"], ["1.9.0", "1.10.0"], ["1.2.3", "1.2.3"], ["2.0.0", "1.9.9"], [
        "x",
        "1.0.0",
      ]] as const)
        .map(([one, other]) => isOlder(one, other)),
      [true, true, false, false, false],
    );
  });
});
