import { importStream } from "./history.ts";
import {
  baseName,
  Chooser,
  type File,
  formatCommit,
  mixIn,
  put,
  type State,
} from "./history_stream.ts";

const folders = ["", "a/", "a/b/", "a/b/c/", "d/", "d/b/", "e/", "a-b/"];
const names = ["f", "g", "h.c", "i.c", "a", "b", "f-x"];
const words = ["alpha", "}", "", "{", "beta", "end", "return"];

/**
 * Makes a bare repository whose branches are made to collide, the same for the same seed: edits in
 * the same few places, files and whole directories renamed, one as the other, modes, links,
 * submodules, other line ends, and merges across.
 */
export function makeMergeHistory(dir: string, seed: number, commits: number): void {
  const choose = new Chooser(seed);
  const out: string[] = [];
  const states: State[] = [];
  let tips: number[] = [];
  for (let index = 0; index < commits; index++) {
    const first = index === 0 ? undefined : choose.of(tips);
    const other = first !== undefined && choose.chance(0.35) ? choose.of(tips) : first;
    const state: State = new Map(first === undefined ? [] : states[first]);
    if (other !== undefined && other !== first) {
      mixIn(state, states[other] ?? new Map(), choose.of([0, 0.3, 0.7, 1]), choose);
    }
    const changes = index === 0 ? 14 : other !== first ? choose.below(2) : 1 + choose.below(5);
    for (let change = 0; change < changes; change++) {
      if (index === 0) put(state, newPath(choose), { mode: "100644", content: newText(choose) });
      else mutate(state, choose);
    }
    const others = other !== undefined && other !== first ? [other] : [];
    const date = 1_600_000_000 + index * 10;
    out.push(formatCommit({ index, date, message: `${index}\n`, first, others, state }));
    states.push(state);
    tips = tips.filter((tip) => tip !== first || choose.chance(0.6));
    tips.push(index);
    if (tips.length > 5) tips.shift();
  }
  importStream(dir, out);
}

function newPath(choose: Chooser): string {
  return choose.of(folders) + choose.of(names);
}

function newText(choose: Chooser): string {
  const own = choose.below(50);
  const lines = Array.from(
    { length: 4 + choose.below(30) },
    (_, index) => choose.chance(0.4) ? choose.of(words) : `line ${own} ${index}`,
  );
  const newline = choose.chance(0.1) ? "\r\n" : "\n";
  return lines.join(newline) + (choose.chance(0.85) ? newline : "");
}

function mutate(state: State, choose: Chooser): void {
  const path = state.size > 0 ? choose.of([...state.keys()]) : newPath(choose);
  const file = state.get(path) ?? { mode: "100644", content: newText(choose) };
  const kind = choose.below(24);
  if (kind < 9) state.set(path, { ...file, content: edited(file, 1 + choose.below(3), choose) });
  else if (kind < 11) put(state, newPath(choose), { mode: "100644", content: newText(choose) });
  else if (kind === 11) state.delete(path);
  else if (kind < 15) {
    state.delete(path);
    const to = choose.chance(0.5) ? choose.of(folders) + baseName(path) : newPath(choose);
    put(state, to, { ...file, content: edited(file, choose.of([0, 0, 1, 2]), choose) });
  } else if (kind < 18) renameFolder(state, choose);
  else if (kind === 18) {
    const mode = file.mode === "100644" ? "100755" : "100644";
    if (file.mode.startsWith("100")) state.set(path, { ...file, mode });
  } else if (kind === 19) {
    put(state, path, { mode: "120000", content: choose.of(["f", "../g", "x"]) });
  } else if (kind === 20) {
    put(state, path, { mode: "160000", content: choose.of(["1", "2", "3"]).repeat(40) });
  } else if (kind === 21) {
    put(
      state,
      `${path}/${choose.of(names)}`,
      choose.chance(0.5) ? file : { ...file, mode: "100644" },
    );
  } else if (kind === 22) {
    const folder = choose.of(folders).slice(0, -1);
    if (folder !== "") put(state, folder, { mode: "100644", content: newText(choose) });
  } else if (file.mode.startsWith("100")) {
    const content = choose.of([
      `bin\0${choose.below(5)}${file.content}`,
      file.content.replaceAll("\n", "\r\n"),
      file.content.replaceAll("\r", ""),
      "",
    ]);
    state.set(path, { ...file, content });
  }
}

function renameFolder(state: State, choose: Chooser): void {
  const from = choose.of(folders);
  const to = choose.of(folders);
  if (from === "" || from === to) return;
  const odds = choose.of([1, 1, 0.8]);
  for (const [path, file] of [...state]) {
    if (!path.startsWith(from) || !choose.chance(odds)) continue;
    state.delete(path);
    put(state, to + path.slice(from.length), file);
  }
}

/** Edits a text, mostly at a few places, so that branches meet there. */
function edited({ mode, content }: File, edits: number, choose: Chooser): string {
  if (!mode.startsWith("100") || content.includes("\0")) return content;
  const lines = content.split("\n");
  for (let edit = 0; edit < edits; edit++) {
    const at = Math.min(choose.of([0, 2, 3, 5, 9, 14, 20, choose.below(40)]), lines.length - 1);
    const line = choose.chance(0.3) ? choose.of(words) : `new ${choose.below(6)}`;
    const kind = choose.below(5);
    if (kind === 0) lines.splice(at, 1 + choose.below(3));
    else if (kind === 1) lines[at] = line;
    else if (kind === 2) lines.splice(at, 0, ...lines.slice(at, at + 1 + choose.below(3)));
    else if (kind === 3) lines.splice(at, 0, line);
    else lines.splice(Math.max(lines.length - 1, 0), 0, line, choose.of(words));
  }
  return lines.join("\n");
}
