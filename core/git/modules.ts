/** A setting of a submodule in a `.gitmodules` file. */
export interface ModuleSetting {
  /** The name of the submodule. */
  readonly module: string;
  /** In lower case. */
  readonly key: string;
  /** Undefined when the line has no `=`. */
  readonly value: string | undefined;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  b: "\b",
  '"': '"',
  "\\": "\\",
};

/** Reads the settings of submodules in git's configuration format, up to the first line git could not read. */
export function* parseModules(text: string): Generator<ModuleSetting> {
  const source = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  let module: string | undefined;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  for (;;) {
    take(/(?:\s|[#;][^\n]*)*/y);
    if (at >= source.length) return;
    if (source[at] === "[") {
      const header = take(/\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y);
      if (header === null) return;
      module = moduleOf(header[1] ?? "", header[2]);
      continue;
    }
    const key = take(/([A-Za-z][A-Za-z0-9-]*)[ \t]*/y)?.[1];
    if (key === undefined) return;
    let value: string | undefined;
    if (source[at] === "=") {
      at++;
      const raw = take(/(?:\\\n|\\[^\n]|"(?:\\\n|\\[^\n]|[^"\\\n])*"|[^"\\\n#;])*/y)?.[0] ?? "";
      value = plainValue(raw);
      if (value === undefined) return;
      if (source[at] === "#" || source[at] === ";") take(/[^\n]*/y);
    }
    if (at < source.length && source[at] !== "\n") return;
    if (module !== undefined) yield { module, key: key.toLowerCase(), value };
  }
}

function moduleOf(section: string, quoted: string | undefined): string | undefined {
  const [first = "", ...rest] = section.toLowerCase().split(".");
  if (first !== "submodule") return undefined;
  if (quoted !== undefined) return rest.length === 0 ? quoted.replace(/\\(.)/g, "$1") : undefined;
  return rest.length === 0 ? undefined : rest.join(".");
}

/** The value that a raw one stands for; undefined for an escape git does not know. */
function plainValue(raw: string): string | undefined {
  let value = "";
  let end = 0;
  let isQuoted = false;
  for (let at = 0; at < raw.length; at++) {
    let letter = raw[at] ?? "";
    const isPlain = letter !== "\\" && letter !== '"';
    if (letter === '"') {
      isQuoted = !isQuoted;
      continue;
    }
    if (letter === "\\") {
      const escaped = raw[++at] ?? "";
      if (escaped === "\n") continue;
      const meant = ESCAPES[escaped];
      if (meant === undefined) return undefined;
      letter = meant;
    }
    const isSpace = isPlain && !isQuoted && /\s/.test(letter);
    if (isSpace && value === "") continue;
    value += letter;
    if (!isSpace) end = value.length;
  }
  return value.slice(0, end);
}
