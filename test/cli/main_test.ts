import { describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Globals } from "../../cli/globals.ts";
import { type CliOptions, type CliResult, runCli } from "../support/cli.ts";
import { fileBytes, smallTable } from "../support/table.ts";

const open = () => () => Promise.resolve({} as never);

function run(line: string | readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const argv = typeof line === "string" ? line.split(" ") : line;
  return runCli(argv, { table: smallTable, open, ...options });
}

const onScreen: CliOptions = { terminals: ["stdin", "stdout", "stderr"] };

describe("output", () => {
  it("is TSV in a pipe: no header, all rows, whole values, escaped", async () => {
    const { status, out, err } = await run("repo list");
    assertEquals(status, 0);
    assertEquals(out.split("\n"), [
      "alice.test/app\ta\\ttab\\nand a line\t2026-11-30T19:00:00Z",
      "alice.test/evil\t\uFFFD]0;x\uFFFD\uFFFDdne\t2026-11-28T20:00:00Z",
      "alice.test/old\tお互い様\t2024-11-30T20:00:00Z",
      "",
    ]);
    assertEquals(err, "");
  });

  it("is a table on a terminal, with relative times, and says how to go on", async () => {
    const { out, err } = await run("repo list", onScreen);
    assertEquals(out.split("\n"), [
      "REPO             DESCRIPTION       CREATED",
      "alice.test/app   a tab and a line  1 hour ago",
      "alice.test/evil  \uFFFD]0;x\uFFFD\uFFFDdne        2 days ago",
      "",
    ]);
    assertEquals(err, "there is more: knotless repo list --cursor 'c 2'\n");
  });

  it("says that a list was cut in a pipe too, where a limit cut it", async () => {
    const { out, err } = await run("repo list --limit 1");
    assertEquals(out.split("\n").length, 2);
    assertEquals(err, "there is more\n");
  });

  it("is compact JSON with --json, all of it, and with KNOTLESS_OUTPUT", async () => {
    const { out } = await run("repo list --json");
    const { repos, more } = JSON.parse(out);
    assertEquals(repos.length, 3);
    assertEquals(more, undefined);
    assertEquals(out, `${JSON.stringify({ repos })}\n`);
    assertEquals((await run("repo list", { env: { KNOTLESS_OUTPUT: "json" } })).out, out);
  });

  it("is no JSON where the last --json says so, whatever the variable says", async () => {
    const { out } = await run("repo list");
    for (const line of ["repo list --json=false", "repo list --json --json=false"]) {
      assertEquals((await run(line, { env: { KNOTLESS_OUTPUT: "json" } })).out, out);
    }
    JSON.parse((await run("repo list --json=true")).out);
    const { status, err } = await run("repo list --json=tru");
    assertEquals(status, 2);
    assertStringIncludes(err, "--json: tru is not true or false");
  });

  it("is indented JSON on a terminal, and steers nothing", async () => {
    const { out } = await run("repo list --json", onScreen);
    assertStringIncludes(out, '\n      "description": "\\u001b]0;x\\u0007\\u202edne",\n');
    assertEquals(JSON.parse(out).repos[1].description, "\x1b]0;x\x07\u202edne");
  });

  it("is a file's bytes in a pipe, safe text on a terminal, and text in JSON", async () => {
    assertEquals([...(await run("repo read a/b x")).bytes], [...fileBytes]);
    assertEquals((await run("repo read a/b x", onScreen)).out, "\uFFFD\uFFFD[31m\n");
    assertEquals(
      (await run("repo read a/b x --json")).out,
      '{"repo":"a/b","path":"x","text":"\uFFFD\\u001b[31m\\n"}\n',
    );
  });

  it("is JSON where a command has nothing else", async () => {
    assertEquals((await run("branch create a/b topic")).out, '{"repo":"a/b","name":"topic"}\n');
  });

  it("says on a terminal that a list is empty, and nothing in a pipe", async () => {
    const { out, err } = await run("repo list nobody.test", onScreen);
    assertEquals([out, err], ["", "there are no repos\n"]);
    const piped = await run("repo list nobody.test");
    assertEquals([piped.out, piped.err], ["", ""]);
  });

  it("of a write is its sentence and URI on a terminal, and how to undo it", async () => {
    const { out, err } = await run("repo star a/b", onScreen);
    assertEquals(out, "Starred\nat://did:plc:a/dev.knotless.star/3k\n");
    assertEquals(err, "undo with: knotless repo star a/b --undo\n");
    assertEquals((await run("repo star a/b --undo", onScreen)).err, "");
  });

  it("of a write is the one value in a pipe, and nothing with -q", async () => {
    assertEquals((await run("repo star a/b")).out, "at://did:plc:a/dev.knotless.star/3k\n");
    assertEquals(await run("repo star a/b -q", onScreen).then(({ out, err }) => out + err), "");
    assertStringIncludes((await run("repo star a/b -q --json")).out, '"starred":true');
  });

  it("is coloured on a terminal, unless told otherwise", async () => {
    const env = { NO_COLOR: undefined };
    const coloured = async (line: string, options: CliOptions) =>
      (await run(line, options)).out.includes("\x1b[2mREPO");
    assert(await coloured("repo list", { ...onScreen, env }));
    assert(!await coloured("repo list --color=never", { ...onScreen, env }));
    assert(await coloured("repo list --color always", onScreen));
    assert(!await coloured("repo list", { ...onScreen, env: { ...env, TERM: "dumb" } }));
    assert(!await coloured("repo list", { ...onScreen, env: { ...env, KNOTLESS_COLOR: "never" } }));
    assert(!(await run("repo list --color always")).out.includes("REPO"));
  });
});

describe("words and variables", () => {
  it("of a command may stand behind --", async () => {
    assertEquals((await run("-- repo list --json")).out, (await run("repo list --json")).out);
  });

  it("are refused where they say nothing that is known", async () => {
    for (const [name, value] of [["KNOTLESS_COLOR", "bad"], ["KNOTLESS_OUTPUT", "xml"]]) {
      const { status, err } = await run("status", { env: { [String(name)]: value } });
      assertEquals(status, 2);
      assertStringIncludes(err, `error: ${name}: ${value} is not`);
    }
  });
});

describe("the folder of -C", () => {
  it("must be there", async () => {
    for (const [dir, why] of [["/nope", "no such directory"], ["/dev/null", "not a directory"]]) {
      const { status, err } = await run(["-C", String(dir), "status"]);
      assertEquals([status, err], [2, `error: cannot change to ${dir}: ${why}\n`]);
    }
  });
});

describe("errors", () => {
  it("say what, why and what to do on stderr, and nothing on stdout", async () => {
    assertEquals(await run("fail remote").then(({ status, out, err }) => [status, out, err]), [
      7,
      "",
      "error: pds.test did not answer\ncause: fetch failed: connection refused.\n",
    ]);
    const { status, err } = await run("fail conflict");
    assertEquals(status, 6);
    assertEquals(
      err,
      "error: main moved\nhint: run knotless repo star 'alice.test/my app' --undo\n",
    );
  });

  it("are one JSON document on stdout with --json, beside the text", async () => {
    const { out, err } = await run("fail conflict --json");
    assertEquals(
      out,
      '{"error":{"code":"conflict.branch_moved","message":"main moved",' +
        `"hint":"run knotless repo star 'alice.test/my app' --undo","exit":6,"retryable":false,` +
        '"command":"fail","details":{"was":"a","is":"b"}}}\n',
    );
    assertStringIncludes(err, "error: main moved");
  });

  for (
    const [line, command] of [
      ["repo lst --json", "repo lst"],
      ["repo list --limt 5 --json", "repo list"],
      ["repo list --json=a", "repo list"],
      ["--json", ""],
    ] as const
  ) {
    it(`are a document for ${JSON.stringify(line)} too`, async () => {
      const { status, out } = await run(line);
      if (command === "") return assertEquals(status, 0);
      assertEquals(status, 2);
      const { error } = JSON.parse(out);
      assertEquals([error.code, error.exit, error.command], ["usage", 2, command]);
    });
  }

  it("are no document when --json comes after two dashes", async () => {
    assertEquals((await run("repo lst -- --json")).out, "");
  });

  it("that are bugs end with 70, and tell where only when asked", async () => {
    const { status, err } = await run("fail bug");
    assertEquals(status, 70);
    assertStringIncludes(err, "error: a bug in knotless: TypeError: x is not a function\n");
    assert(!err.includes("table.ts"));
    assertStringIncludes((await run("fail bug", { env: { KNOTLESS_DEBUG: "1" } })).err, "table.ts");
    assertStringIncludes((await run("fail bug --debug")).err, "table.ts");
    assertEquals(JSON.parse((await run("fail bug --json")).out).error.code, "bug");
  });

  it("of the machine are no bugs", async () => {
    const { status, err } = await run("fail system");
    assertEquals(status, 1);
    assertStringIncludes(err, "error: EISDIR");
  });

  it("steer no terminal", async () => {
    const { err } = await run("fail refused", onScreen);
    assertEquals(err, "error: said no\uFFFD[31m\uFFFD\n");
  });

  it("of an interrupt end with 130 and are silent", async () => {
    const interrupt = new AbortController();
    const running = run("fail hang", { signal: interrupt.signal });
    interrupt.abort();
    assertEquals(await running.then(({ status, out, err }) => [status, out, err]), [130, "", ""]);
  });

  it("say what was assumed when that may be why", async () => {
    const { status, err } = await run("repo read a/b --limit", { env: { KNOTLESS_REPO: "x/y" } });
    assertEquals(status, 2);
    assertEquals(err, "error: no such flag: --limit\n");
    const bad = await run("branch create a/b", { env: { KNOTLESS_REPO: "x" } });
    assertEquals(bad.status, 2);
    assertStringIncludes(
      bad.err,
      "hint: the repository was taken to be x (KNOTLESS_REPO): -R names another\n",
    );
  });
});

describe("the flags of all commands", () => {
  async function globalsOf(line: string, env: Record<string, string> = {}): Promise<Globals> {
    const seen: Globals[] = [];
    const taking = (globals: Globals) => {
      seen.push(globals);
      return open();
    };
    await run(line, { open: taking, env });
    const [globals] = seen;
    if (!globals) throw new Error("nothing was opened");
    return globals;
  }
  const none = {
    offline: false,
    refresh: false,
    quiet: false,
    verbose: false,
    debug: false,
    noInput: false,
  };

  it("come to plain values", async () => {
    assertEquals(await globalsOf("status"), none);
    assertEquals(
      await globalsOf(
        "-C /tmp --as bob.test -R a/b status -qv --offline --max-age 5m --no-input --debug",
      ),
      {
        as: "bob.test",
        repo: "a/b",
        dir: "/tmp",
        offline: true,
        offlineBy: "--offline",
        refresh: false,
        maxAge: 300_000,
        quiet: true,
        verbose: true,
        debug: true,
        noInput: true,
      },
    );
  });

  it("win over the environment", async () => {
    const env = { KNOTLESS_ACCOUNT: "env.test", KNOTLESS_OFFLINE: "1", CI: "true" };
    assertEquals(await globalsOf("status", env), {
      ...none,
      as: "env.test",
      offline: true,
      offlineBy: "KNOTLESS_OFFLINE",
      noInput: true,
    });
    assertEquals((await globalsOf("status --offline=false", env)).offline, false);
    assertEquals(await globalsOf("status --as flag.test --refresh", env), {
      ...none,
      as: "flag.test",
      refresh: true,
      noInput: true,
    });
  });

  it("are refused where they do not fit", async () => {
    assertStringIncludes((await run("status --max-age soon")).err, "--max-age: soon is not a time");
    assertStringIncludes((await run("status --offline --refresh")).err, "exclude each other");
    assertStringIncludes(
      (await run("status --color=blue")).err,
      "blue is not one of auto, always, never",
    );
  });

  it("say the version", async () => {
    for (const line of ["--version", "-V", "repo list --version", "-q --version"]) {
      assertEquals((await run(line)).out, "knotless 0.1.0\n", line);
    }
  });
});

describe("a confirmation", () => {
  it("is asked for on a terminal and passed on", async () => {
    const { out, err } = await run("repo delete a/b", { ...onScreen, stdin: "b\n" });
    assertEquals(out, "Deleted b\n");
    assertEquals(err, "Delete a repository: a/b\nits name again: ");
  });

  it("that is not given cancels", async () => {
    const { status, err } = await run("repo delete a/b", { ...onScreen, stdin: "\n" });
    assertEquals(status, 3);
    assertStringIncludes(err, "error: nothing was typed, and nothing was done");
  });

  it("is a missing flag where nobody can be asked", async () => {
    for (const options of [{}, { ...onScreen, env: { KNOTLESS_NO_INPUT: "1" } }]) {
      const { status, err } = await run("repo delete a/b", options);
      assertEquals(status, 2);
      assertStringIncludes(err, "error: --confirm is missing: its name again\n");
    }
  });
});

describe("input", () => {
  it("comes as JSON from stdin", async () => {
    const stdin = '{"repo":"a/b","message":"é"}';
    assertEquals(
      (await run("repo commit --input -", { stdin })).out,
      '{"repo":"a/b","message":"é","notify":true}\n',
    );
  });

  it("that has a key there is not is told by it, before what is missing", async () => {
    const stdin = '{"repo":"a/b","messag":"m"}';
    const { status, err } = await run("repo commit --input -", { stdin });
    assertEquals(status, 2);
    assertStringIncludes(err, "no such parameter: messag\nhint: did you mean message?");
  });

  it("that gives what a word gives too is told", async () => {
    const stdin = '{"repo":"a/b","message":"m"}';
    const { err } = await run("repo commit a/b --input -", { stdin });
    assertStringIncludes(err, "too many: a/b (repo is given by a flag or --input already)");
  });

  it("that is not UTF-8 is refused", async () => {
    const { status, err } = await run("repo commit --input -", { stdin: [fileBytes] });
    assertEquals(status, 2);
    assertStringIncludes(err, "stdin is not UTF-8 text");
  });

  it("from a file is looked for where -C says", async () => {
    const dir = await Deno.makeTempDir();
    await Deno.writeTextFile(`${dir}/in.json`, '{"repo":"a/b","message":"m"}');
    const { status } = await run(["-C", dir, "repo", "commit", "--input", "in.json"]);
    assertEquals(status, 0);
    const missing = await run(["repo", "commit", "--input", "in.json"], { cwd: `${dir}/none` });
    assertEquals(missing.status, 5);
    await Deno.remove(dir, { recursive: true });
  });

  it("meets the same check as a tool's", async () => {
    const { status, err } = await run("repo list --limit 0");
    assertEquals(status, 2);
    assertEquals(err, "error: limit: 0 is below 1\n");
    const unknown = await run("repo list --input -", { stdin: '{"limt":1}' });
    assertEquals(unknown.err, "error: no such parameter: limt\nhint: did you mean limit?\n");
  });
});
