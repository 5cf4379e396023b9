/** Runs the git binary as an oracle, away from the machine's own configuration, and builds repositories with it. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

/** What a run of git ended with. */
export interface GitRun {
  readonly status: number;
  readonly out: Uint8Array;
  readonly err: string;
}

const START = 1_700_000_000;
const ticks = new Map<string, number>();

/** Runs git in `dir` and gives its output as text without the last newline; throws when it fails. */
export function git(dir: string, ...args: string[]): string {
  return new TextDecoder().decode(gitBytes(dir, undefined, ...args)).replace(/\n$/, "");
}

/** Runs git in `dir` and gives the lines of its output; throws when it fails. */
export function gitLines(dir: string, ...args: string[]): string[] {
  const text = git(dir, ...args);
  return text === "" ? [] : text.split("\n");
}

/** Runs git in `dir` with this input and gives its output; throws when it fails. */
export function gitBytes(
  dir: string,
  input: Uint8Array | string | undefined,
  ...args: string[]
): Uint8Array {
  const run = tryGit(dir, input, ...args);
  if (run.status !== 0) throw new Error(`git ${args.join(" ")}: ${run.err}`);
  return run.out;
}

/** Runs git in `dir`, whatever comes of it. Each run is a minute later than the one before in the same folder. */
export function tryGit(
  dir: string,
  input: Uint8Array | string | undefined,
  ...args: string[]
): GitRun {
  const tick = ticks.get(dir) ?? 0;
  ticks.set(dir, tick + 1);
  const date = `${START + tick * 60} +0100`;
  // Deno writes all of the input before it reads any output, and both pipes would fill: a file does not.
  using temp = input !== undefined && input.length > 32_768 ? tempDir() : undefined;
  const file = temp && join(temp.path, "input");
  if (file !== undefined) writeFileSync(file, input ?? "");
  const command: [string, string[]] = file === undefined
    ? ["git", args]
    : ["sh", ["-c", 'exec git "$@" < "$0"', file, ...args]];
  const run = spawnSync(...command, {
    cwd: dir,
    input: file === undefined ? input ?? "" : "",
    maxBuffer: 1 << 30,
    env: {
      PATH: process.env["PATH"],
      HOME: "/nonexistent",
      LC_ALL: "C",
      TZ: "UTC",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_TERMINAL_PROMPT: "0",
      GIT_CEILING_DIRECTORIES: dirname(dir),
      GIT_AUTHOR_NAME: "Ann Author",
      GIT_AUTHOR_EMAIL: "ann@author.test",
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: "Carl Committer",
      GIT_COMMITTER_EMAIL: "carl@committer.test",
      GIT_COMMITTER_DATE: date,
    },
  });
  if (run.error !== undefined) throw run.error;
  return {
    status: run.status ?? -1,
    out: Uint8Array.from(run.stdout),
    err: new TextDecoder().decode(run.stderr),
  };
}

/** Has git look at all that the repository in `dir` holds; throws when it finds a fault. */
export function fsck(dir: string): void {
  const { status, out, err } = tryGit(dir, undefined, "fsck", "--full", "--strict");
  if (status !== 0) throw new Error(`git fsck: ${new TextDecoder().decode(out)}${err}`);
}

/** A folder that is gone when it is disposed of. */
export interface TempDir extends Disposable {
  readonly path: string;
}

/** Makes a temporary folder: `using temp = tempDir()`. */
export function tempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), "knotless-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Makes an empty repository with branch main at `dir` and gives `dir`. */
export function initRepo(dir: string, { bare = false }: { bare?: boolean } = {}): string {
  mkdirSync(dir, { recursive: true });
  git(dir, "init", "-q", "-b", "main", ...(bare ? ["--bare"] : []));
  return dir;
}

/** Writes files, undefined taking one away, commits everything and gives the commit. */
export function commitFiles(
  dir: string,
  message: string,
  files: Readonly<Record<string, string | Uint8Array | undefined>>,
): string {
  for (const [path, content] of Object.entries(files)) {
    const full = join(dir, path);
    if (content === undefined) {
      rmSync(full);
      continue;
    }
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
  }
  git(dir, "add", "-A");
  git(dir, "commit", "-q", "--allow-empty", "-m", message);
  return git(dir, "rev-parse", "HEAD");
}

/** Stores an object as it is, however broken, and gives its oid. */
export function putObject(dir: string, kind: string, bytes: Uint8Array | string): string {
  const out = gitBytes(dir, bytes, "hash-object", "-t", kind, "-w", "--stdin", "--literally");
  return new TextDecoder().decode(out).trim();
}

/** Lists every object of a repository with its kind and size. */
export function listObjects(dir: string): { oid: string; kind: string; size: number }[] {
  const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
  return git(dir, "cat-file", format, "--batch-all-objects").split("\n").filter((line) => line)
    .map((line) => {
      const [oid = "", kind = "", size = ""] = line.split(" ");
      return { oid, kind, size: Number(size) };
    });
}

/** Gives the content of objects, in the order asked for. */
export function catObjects(dir: string, oids: readonly string[]): Uint8Array[] {
  const out = gitBytes(dir, `${oids.join("\n")}\n`, "cat-file", "--batch");
  const objects: Uint8Array[] = [];
  for (let at = 0; at < out.length;) {
    const end = out.indexOf(0x0a, at);
    const size = Number(new TextDecoder().decode(out.subarray(at, end)).split(" ")[2]);
    objects.push(out.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return objects;
}

/** The lines of a text that is about `size` bytes, the same for the same seed. */
export function sampleText(size: number, seed = 1): string {
  const random = randomNumbers(seed);
  const lines: string[] = [];
  for (let length = 0; length < size;) {
    const line = Array.from({ length: 3 + random(8) }, () => WORDS[random(WORDS.length)]).join(" ");
    lines.push(line);
    length += line.length + 1;
  }
  return `${lines.join("\n")}\n`;
}

const WORDS = "object store reads a pack by window when the base of delta is not held while tree \
entries name blobs const function return if else for let import export type string number".split(
  " ",
);

/** Gives whole numbers from 0 up to below a bound, the same for the same seed. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

/**
 * Builds a repository with what trips readers: a merge and a criss-cross, renames, a submodule, a symlink,
 * an executable, names and contents that are not UTF-8, both kinds of tags, a tag of a tag, a tree and a
 * blob, an empty file and tree, a commit in Latin-1 and a file of half a megabyte.
 */
export function buildOddRepo(dir: string): string {
  initRepo(dir);
  const long = sampleText(79_000).split("\n");
  commitFiles(dir, "start", {
    "README.md": "# Odd\n",
    "src/long.ts": long.join("\n"),
    "src/short.ts": "export const one = 1;\n",
    "docs/guide/intro.md": sampleText(3000, 2),
    "empty": "",
    "random.bin": Uint8Array.from({ length: 500_000 }, (_, i) => Math.imul(i, i * 7 + 3) >>> 5),
    "latin1.txt": Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 0x0a),
  });
  writeFileSync(join(dir, "run.sh"), "#!/bin/sh\n");
  chmodSync(join(dir, "run.sh"), 0o755);
  symlinkSync("src/short.ts", join(dir, "link"));
  commitFiles(dir, "add a script and a link", {
    "tab\there": "tab\n",
    'naïve "quoted".txt': "q\n",
  });
  const blob = git(dir, "rev-parse", "HEAD:latin1.txt");
  const commit = git(dir, "rev-parse", "HEAD");
  const odd = Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 0x2e, 0x74, 0x78, 0x74, 0);
  const line = new TextEncoder().encode(`100644 ${blob}\t`);
  gitBytes(dir, new Uint8Array([...line, ...odd]), "update-index", "-z", "--add", "--index-info");
  git(dir, "update-index", "--add", "--cacheinfo", `160000,${commit},vendor/module`);
  git(dir, "commit", "-q", "-m", "add a submodule and a name in Latin-1");
  git(dir, "tag", "light");
  git(dir, "tag", "-a", "-m", "version one", "v1");
  git(dir, "tag", "-a", "-m", "a tag of a tag", "again", "v1");
  git(dir, "tag", "-a", "-m", "a tag of a tree", "tree", "HEAD^{tree}");
  git(dir, "tag", "blob", "HEAD:empty");
  for (const side of ["one", "two"]) {
    git(dir, "checkout", "-q", "-f", "-b", side, "main");
    long[side === "one" ? 10 : 900] = `changed by ${side}`;
    writeFileSync(join(dir, "src/long.ts"), long.join("\n"));
    git(dir, "commit", "-q", "-a", "-m", `change a line on ${side}`);
  }
  git(dir, "checkout", "-q", "-f", "one");
  const before = git(dir, "rev-parse", "HEAD");
  git(dir, "merge", "-q", "-m", "merge two into one", "two");
  git(dir, "checkout", "-q", "-f", "two");
  git(dir, "merge", "-q", "-m", "merge one into two", before);
  git(dir, "checkout", "-q", "-f", "main");
  git(dir, "merge", "-q", "--no-ff", "-m", "merge both", "one", "two");
  git(dir, "mv", "src/long.ts", "src/renamed.ts");
  git(dir, "commit", "-q", "-m", "rename the long file");
  const latin = Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 0x0a, 0x0a, 0xfc, 0x0a);
  gitBytes(
    dir,
    latin,
    "-c",
    "i18n.commitEncoding=ISO-8859-1",
    "commit",
    "-q",
    "--allow-empty",
    "-F",
    "-",
  );
  git(dir, "rm", "-q", "-r", "--cached", ".");
  git(dir, "commit", "-q", "-m", "take everything away");
  git(dir, "checkout", "-q", "-f", "-B", "emptied");
  git(dir, "checkout", "-q", "-f", "-B", "main", "HEAD~1");
  return dir;
}

/** Builds a bare repository of so many commits in one pack with deltas, every twentieth a merge, the same for the same seed. */
export function buildLongRepo(
  dir: string,
  { commits, files = 60, seed = 7 }: { commits: number; files?: number; seed?: number },
): string {
  initRepo(dir, { bare: true });
  const random = randomNumbers(seed);
  const contents = new Map<string, string[]>();
  const path = (file: number): string => `dir${file % 7}/sub${file % 5}/file${file}.ts`;
  for (let file = 0; file < files; file++) {
    contents.set(path(file), sampleText(500 + random(6000), file + 1).split("\n"));
  }
  const parts: string[] = [];
  for (let mark = 1; mark <= commits; mark++) {
    const when = `${START + mark * 600} ${mark % 3 === 0 ? "-0330" : "+0200"}`;
    const message = `change ${mark}\n\n${sampleText(random(200), mark)}`;
    parts.push(`commit refs/heads/main\nmark :${mark}\nauthor Ann <ann@author.test> ${when}\n`);
    parts.push(`committer Carl <carl@committer.test> ${when}\n`);
    parts.push(`data ${message.length}\n${message}\n`);
    if (mark > 1) parts.push(`from :${mark - 1}\n`);
    if (mark > 20 && mark % 20 === 0) parts.push(`merge :${mark - 7}\n`);
    const changed = mark === 1 ? [...contents.keys()] : [path(random(files)), path(random(files))];
    for (const name of new Set(changed)) {
      const lines = contents.get(name) ?? [];
      if (mark > 1) lines.splice(random(lines.length), random(3), `line of ${mark} ${random(1e6)}`);
      const text = lines.join("\n");
      parts.push(`M 100644 inline ${name}\ndata ${text.length}\n${text}\n`);
    }
  }
  gitBytes(dir, parts.join(""), "fast-import", "--quiet");
  git(dir, "repack", "-q", "-adf", "--depth=50", "--window=10");
  return dir;
}
