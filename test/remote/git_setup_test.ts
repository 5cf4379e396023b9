import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { assertEquals, assertRejects } from "@std/assert";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import commands from "../../core/commands/git.ts";
import { call } from "../../core/command.ts";
import type { Machine, MachineContext } from "../../core/context.ts";
import { RefusedError } from "../../core/errors.ts";
import { type TempDir, tempDir } from "../support/git.ts";

const [setup] = commands;

describe("git setup", () => {
  let temp: TempDir;
  let home: string;
  let notes: string[];

  beforeEach(async () => {
    temp = tempDir();
    home = join(temp.path, "home");
    notes = [];
    await mkdir(home);
  });

  afterEach(() => temp[Symbol.dispose]());

  /** Runs the command with this much of a context: it asks for no more. */
  function run(
    args: object,
    { program = [join(home, "opt/knotless")], path = "" }: {
      program?: readonly string[];
      path?: string;
    } = {},
  ) {
    const machine: Pick<Machine, "env" | "program"> = {
      env: { HOME: home, PATH: `${path}:${process.env.PATH}` },
      program,
    };
    const context = { machine, note: (text: string) => notes.push(text) };
    return call(setup!, args, () => Promise.resolve(context as unknown as MachineContext));
  }

  const bin = () => join(home, ".local/bin");

  it("links its names in ~/.local/bin, and says that it is not on PATH", async () => {
    const { dir, links } = await run({});
    assertEquals(dir, bin());
    assertEquals(links.map(({ state }) => state), ["made", "made", "made"]);
    for (const name of ["knotless", "knotless-mcp", "git-remote-knotless"]) {
      assertEquals(await readlink(join(bin(), name)), join(home, "opt/knotless"));
    }
    assertEquals(notes.filter((note) => note.includes("PATH")).length, 1);
  });

  it("links beside the program when that is on PATH, and leaves the program alone", async () => {
    await mkdir(join(home, "opt"));
    const { dir, links } = await run({}, { path: join(home, "opt") });
    assertEquals(dir, join(home, "opt"));
    assertEquals(links.map(({ what }) => what), [
      join(home, "opt/knotless-mcp"),
      join(home, "opt/git-remote-knotless"),
    ]);
    assertEquals(notes.filter((note) => note.includes("is not on PATH")), []);
  });

  it("takes the links that lie beside the program for what they are", async () => {
    await mkdir(join(home, "opt"));
    for (const name of ["knotless-mcp", "git-remote-knotless"]) {
      await symlink("knotless", join(home, "opt", name));
    }
    const { links } = await run({}, { path: join(home, "opt") });
    assertEquals(links.map(({ state }) => state), ["there", "there"]);
  });

  it("does nothing the second time, and follows the program when it moves", async () => {
    await run({});
    const { links } = await run({});
    assertEquals(links.map(({ state }) => state), ["there", "there", "there"]);
    const moved = await run({}, { program: [join(home, "new/knotless-1.2")] });
    assertEquals(moved.links.map(({ state }) => state), ["made", "made", "made"]);
    assertEquals((await run({})).links.map(({ state }) => state), ["made", "made", "made"]);
  });

  it("leaves what others put there", async () => {
    await mkdir(bin(), { recursive: true });
    await writeFile(join(bin(), "git-remote-knotless"), "#!/bin/sh\n");
    await assertRejects(() => run({}), RefusedError, "is there and not of knotless");
    assertEquals(await readFile(join(bin(), "git-remote-knotless"), "utf8"), "#!/bin/sh\n");
    assertEquals(await readdir(bin()), ["git-remote-knotless"]);
  });

  it("leaves a link to another program", async () => {
    await mkdir(bin(), { recursive: true });
    await symlink("/bin/true", join(bin(), "knotless-mcp"));
    await assertRejects(() => run({}), RefusedError, "is there and not of knotless");
  });

  it("names --dir where the folder cannot be made", async () => {
    await writeFile(join(home, "file"), "");
    const error = await assertRejects(() => run({ dir: join(home, "file/bin") }), RefusedError);
    assertEquals(String(error.hint), "give a folder that you may write with --dir");
  });

  it("only says what it would do with print", async () => {
    const { links, config } = await run({ print: true, submodules: true });
    assertEquals([...links, ...config].map(({ state }) => state), Array(4).fill("wanted"));
    assertEquals(await readdir(home), []);
  });

  it("says what submodules need, and sets it only when asked", async () => {
    const { config } = await run({});
    assertEquals(config, []);
    assertEquals(notes.filter((note) => note.includes("protocol.knotless.allow")).length, 1);
    assertEquals(await readdir(home), [".local"]);
    notes = [];
    assertEquals((await run({ submodules: true })).config.map(({ state }) => state), ["made"]);
    const { stdout } = await promisify(execFile)(
      "git",
      ["config", "--file", join(home, ".gitconfig"), "protocol.knotless.allow"],
    );
    assertEquals(stdout, "always\n");
    assertEquals((await run({ submodules: true })).config.map(({ state }) => state), ["there"]);
    await run({});
    assertEquals(notes.filter((note) => note.includes("protocol.knotless.allow")), []);
  });

  it("writes scripts where the program is a runtime and its arguments", async () => {
    const echo = ["/bin/echo", "it's", "main.ts"];
    await run({}, { program: echo });
    const { stdout } = await promisify(execFile)(join(bin(), "git-remote-knotless"), ["origin"]);
    assertEquals(stdout, "it's main.ts remote-helper origin\n");
    const { links } = await run({}, { program: echo });
    assertEquals(links.map(({ state }) => state), ["there", "there", "there"]);
  });
});
