import { describe, it } from "@std/testing/bdd";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../fixtures/cli/main.ts", import.meta.url));

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a shell line in which `$K` is a knotless with a small table. */
function sh(line: string): Promise<Ended> {
  const env = { ...process.env, K: `${Deno.execPath()} run -A --no-check --quiet ${program}` };
  const child = spawn("bash", ["-o", "pipefail", "-c", line], { env });
  const out: Uint8Array[] = [];
  const err: Uint8Array[] = [];
  child.stdout.on("data", (chunk) => out.push(chunk));
  child.stderr.on("data", (chunk) => err.push(chunk));
  return new Promise((done) =>
    child.on("close", (status) =>
      done({
        status,
        out: Buffer.concat(out).toString(),
        err: Buffer.concat(err).toString(),
      }))
  );
}

describe("a process", () => {
  it("loses nothing of a long answer in a pipe", async () => {
    assertEquals(await sh("$K repo read a/b x | wc -c"), { status: 0, out: "5000000\n", err: "" });
  });

  it("ends in silence when its reader goes away", async () => {
    assertEquals(await sh("$K repo read a/b x | head -n 1"), { status: 0, out: "line\n", err: "" });
    assertEquals(await sh("$K fail conflict --json 2>/dev/null | true; echo ${PIPESTATUS[0]}"), {
      status: 0,
      out: "6\n",
      err: "",
    });
  });

  it("says that stdout takes no more, however much there is to write", async () => {
    for (const words of ["--help", "repo read a/b x"]) {
      const { status, err } = await sh(`$K ${words} > /dev/full`);
      assertEquals(status, 1);
      assertMatch(
        err,
        /^error: cannot write on stdout: .*no space left.*\nhint: what was printed/i,
      );
    }
  });

  it("ends with the status of its error", async () => {
    const { status, out, err } = await sh("$K fail conflict");
    assertEquals([status, out], [6, ""]);
    assertMatch(err, /^error: main moved\nhint: run knotless/);
  });

  it("ends with 130 when it is interrupted", async () => {
    const { status, err } = await sh(
      "$K fail hang & p=$!; sleep 1; kill -INT $p; wait $p",
    );
    assertEquals([status, err], [130, ""]);
  });

  it("knows a real terminal", async () => {
    const { out } = await sh(`script -qec "$K repo star a/b" /dev/null < /dev/null`);
    assertStringIncludes(
      out.replaceAll("\r", ""),
      "Starred\nat://did:plc:a/dev.knotless.star/3k\n",
    );
  });
});
