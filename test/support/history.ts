import type { GitObject, ObjectReader } from "../../core/git/object.ts";
import { isKind } from "../../core/git/tag.ts";
import { gitBytes, initRepo } from "./git.ts";
import {
  baseName,
  Chooser,
  type File,
  formatCommit,
  mixIn,
  put,
  type State,
} from "./history_stream.ts";

const decoder = new TextDecoder();

/** Reads every object of a repository into memory, by git itself. */
export function loadObjects(dir: string): ObjectReader {
  const list = ["cat-file", "--batch-all-objects", "--batch", "--unordered"];
  const all = gitBytes(dir, undefined, ...list);
  const byOid = new Map<string, GitObject>();
  for (let at = 0; at < all.length;) {
    const end = all.indexOf(10, at);
    const [oid = "", kind = "", size = ""] = decoder.decode(all.subarray(at, end)).split(" ");
    at = end + 1 + Number(size) + 1;
    if (isKind(kind)) byOid.set(oid, { kind, bytes: all.subarray(end + 1, at - 1) });
  }
  return {
    has: (oid) => byOid.has(oid),
    read: (oid) => byOid.get(oid),
    info(oid) {
      const object = byOid.get(oid);
      return object && { kind: object.kind, size: object.bytes.length };
    },
    find: (prefix, limit) =>
      [...byOid.keys()].filter((oid) => oid.startsWith(prefix)).sort().slice(0, limit),
  };
}

const folders = ["", "src/", "src/deep/er/", "doc/", "src-a/", "caf\xe9/", "\xe2\x98\x83/"];
const names = [
  "a.txt",
  "b.c",
  "with space",
  "tab\there",
  'quo"te',
  "back\\slash",
  "latin\xe9",
  "\xc3\xa9",
  "README",
  "x",
];
const words = [
  "alpha",
  "beta",
  "{",
  "}",
  "",
  "  return x;",
  "\tif (y)",
  "end",
  "caf\xe9",
  "int f()",
];

/**
 * Makes a bare repository with a random history of this many commits, the same for the same seed:
 * merges, equal and false dates, renames, modes, links, submodules, binary files, odd names.
 */
export function makeHistory(dir: string, seed: number, commits: number): void {
  const choose = new Chooser(seed);
  const out: string[] = [];
  const states: State[] = [];
  let tips: number[] = [];
  let date = 1_600_000_000;
  for (let index = 0; index < commits; index++) {
    const isRoot = index === 0 || choose.chance(0.01);
    const first = isRoot ? undefined : choose.of(tips);
    const others = first !== undefined && choose.chance(0.25)
      ? [...new Set([choose.of(tips), ...(choose.chance(0.1) ? [choose.of(tips)] : [])])]
        .filter((other) => other !== first)
      : [];
    const state: State = new Map(first === undefined ? [] : states[first]);
    for (const other of others) {
      mixIn(state, states[other] ?? new Map(), choose.of([0, 0.2, 0.5, 1]), choose);
    }
    const changes = isRoot ? 20 : others.length > 0 ? choose.below(2) : 1 + choose.below(4);
    for (let change = 0; change < changes; change++) mutate(state, choose);
    date += choose.of([0, 0, 1, 10, 100, -50, 1000]);
    out.push(formatCommit({ index, date, message: `commit ${index}\n`, first, others, state }));
    states.push(state);
    const gone = new Set(others);
    tips = tips.filter((tip) => !gone.has(tip) && (tip !== first || choose.chance(0.3)));
    tips.push(index);
    if (tips.length > 6) tips.shift();
  }
  for (const tip of tips) out.push(`reset refs/heads/tip${tip}\nfrom :${tip + 1}\n\n`);
  out.push(`reset refs/heads/main\nfrom :${commits}\n\n`);
  importStream(dir, out);
}

/** Makes a bare repository of a stream. */
export function importStream(dir: string, stream: readonly string[]): void {
  initRepo(dir, { bare: true });
  const bytes = Uint8Array.from(stream.join(""), (letter) => letter.charCodeAt(0));
  gitBytes(dir, bytes, "fast-import", "--quiet", "--force");
}

function newPath(choose: Chooser): string {
  return choose.of(folders) + choose.of(names);
}

function newContent(choose: Chooser): string {
  const kind = choose.below(12);
  if (kind === 0) return "";
  if (kind === 1) return `bin\0${"x".repeat(choose.below(300))}${choose.below(1000)}`;
  const newline = choose.chance(0.15) ? "\r\n" : "\n";
  const lines = Array.from({ length: 1 + choose.below(120) }, () => newLine(choose));
  return lines.join(newline) + (choose.chance(0.8) ? newline : "");
}

function newLine(choose: Chooser): string {
  return choose.chance(0.5) ? choose.of(words) : `${choose.of(words)} ${choose.below(400)}`;
}

function mutate(state: State, choose: Chooser): void {
  const path = state.size > 0 ? choose.of([...state.keys()]) : newPath(choose);
  const file = state.get(path);
  const kind = choose.below(20);
  if (file === undefined || kind < 4) {
    const content = newContent(choose);
    put(state, newPath(choose), { mode: choose.chance(0.1) ? "100755" : "100644", content });
  } else if (kind < 6) {
    state.delete(path);
  } else if (kind < 9) {
    state.delete(path);
    const edits = choose.of([0, 0, 1, 5, 30]);
    const renamed = { mode: file.mode, content: edited(file, edits, choose) };
    put(state, choose.chance(0.4) ? choose.of(folders) + baseName(path) : newPath(choose), renamed);
  } else if (kind === 9) {
    state.set(path, { ...file, mode: file.mode === "100644" ? "100755" : "100644" });
    if (file.mode === "160000") state.delete(path);
  } else if (kind === 10) {
    put(state, path, { mode: "120000", content: choose.of(["a.txt", "../x", "src"]) });
  } else if (kind === 11) {
    const oid = choose.below(16).toString(16).repeat(40).replace(/^0+$/, "1".repeat(40));
    put(state, choose.chance(0.5) ? path : newPath(choose), { mode: "160000", content: oid });
  } else if (kind === 12) {
    put(state, newPath(choose), { ...file });
  } else {
    state.set(path, { ...file, content: edited(file, 1 + choose.below(6), choose) });
  }
}

function edited({ mode, content }: File, edits: number, choose: Chooser): string {
  if (mode === "160000" || mode === "120000") return content;
  if (content.includes("\0")) return edits === 0 ? content : `${content}${choose.below(10)}`;
  const lines = content.split("\n");
  for (let edit = 0; edit < edits; edit++) {
    const at = choose.below(lines.length);
    const kind = choose.below(4);
    if (kind === 0) lines.splice(at, 1 + choose.below(4));
    else if (kind === 1) lines[at] = newLine(choose);
    else if (kind === 2) lines.splice(at, 0, ...lines.slice(at, at + 1 + choose.below(3)));
    else lines.splice(at, 0, newLine(choose));
  }
  return lines.join("\n");
}
