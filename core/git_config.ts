/** One line of a git config: its key in git's spelling, such as `remote.origin.url`. */
export interface Setting {
  readonly key: string;
  readonly value: string;
}

const header = /^\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]/;
const assignment = /^([A-Za-z][A-Za-z0-9-]*)\s*(=)?\s*/;

/** Reads a git config's settings in their order; lines it cannot read are passed over. */
export function parseGitConfig(text: string): readonly Setting[] {
  const settings: Setting[] = [];
  let section = "";
  // A backslash at a line's end goes on in the next.
  const lines = text.replaceAll("\r\n", "\n").replace(/(?<!\\)((?:\\\\)*)\\\n/g, "$1").split("\n");
  for (let line of lines) {
    line = line.trimStart();
    const start = header.exec(line);
    if (start) {
      const [all, name = "", sub] = start;
      section = name.toLowerCase() + (sub === undefined ? "" : `.${sub.replace(/\\(.)/g, "$1")}`);
      line = line.slice(all.length).trimStart();
    }
    const [all, name] = assignment.exec(line) ?? [];
    if (all === undefined || name === undefined || section === "") continue;
    const value = all.includes("=") ? readValue(line.slice(all.length)) : "true";
    settings.push({ key: `${section}.${name.toLowerCase()}`, value });
  }
  return settings;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

function readValue(text: string): string {
  let value = "";
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === "\\") {
      const next = text[++at] ?? "";
      value += escapes[next] ?? next;
    } else if (character === '"') {
      isQuoted = !isQuoted;
    } else if (!isQuoted && (character === "#" || character === ";")) {
      break;
    } else {
      value += character;
      if (!isQuoted && /\s/.test(character)) continue;
    }
    kept = value.length;
  }
  return value.slice(0, kept);
}
