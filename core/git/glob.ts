/** Tells of one character, as its code, whether it fits. */
type Fits = (code: number) => boolean;

const STAR = "*";
/** The first letters of what a path takes literally no more. */
const SPECIAL = /[*?[\\]/;

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // deno-lint-ignore no-control-regex
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** Tells whether a path, as text of one character a byte, holds what makes it a glob. */
export function isGlob(path: string): boolean {
  return SPECIAL.test(path);
}

/**
 * Reads a glob as git reads one in a pathspec and gives what tells whether a whole path fits: `*` stands for anything,
 * slashes too, `?` for one character, `[…]` for one of some, and a backslash takes the next as it is. Time is the length
 * of the glob times that of the path at most.
 */
export function readGlob(glob: string): (path: string) => boolean {
  const parts = parseGlob(glob);
  if (parts === undefined) return () => false;
  return (path) => {
    let at = 0;
    let part = 0;
    let starAt = 0;
    let afterStar = -1;
    while (at < path.length) {
      const fits = parts[part];
      if (fits === STAR) {
        afterStar = ++part;
        starAt = at;
      } else if (fits?.(path.charCodeAt(at))) {
        part++;
        at++;
      } else if (afterStar >= 0) {
        // The last star takes one more: those before it need not be tried again.
        at = ++starAt;
        part = afterStar;
      } else {
        return false;
      }
    }
    while (parts[part] === STAR) part++;
    return part === parts.length;
  };
}

/** Undefined for a glob that nothing fits: a bracket that is not closed, or a backslash at the end. */
function parseGlob(glob: string): (Fits | typeof STAR)[] | undefined {
  const parts: (Fits | typeof STAR)[] = [];
  for (let at = 0; at < glob.length; at++) {
    const letter = glob[at];
    if (letter === "*") {
      if (parts.at(-1) !== STAR) parts.push(STAR);
    } else if (letter === "?") parts.push(() => true);
    else if (letter === "[") {
      const set = parseSet(glob, at + 1);
      if (set === undefined) return undefined;
      parts.push(set.fits);
      at = set.end;
    } else {
      if (letter === "\\") at++;
      if (at === glob.length) return undefined;
      const code = glob.charCodeAt(at);
      parts.push((other) => other === code);
    }
  }
  return parts;
}

/** Reads the set that starts after a bracket, and says where the bracket that closes it is. */
function parseSet(glob: string, start: number): { fits: Fits; end: number } | undefined {
  const isNegated = glob[start] === "!" || glob[start] === "^";
  const first = isNegated ? start + 1 : start;
  const members: Fits[] = [];
  for (let at = first; at < glob.length; at++) {
    if (glob[at] === "]" && at > first) {
      const fits: Fits = (code) => members.some((member) => member(code)) !== isNegated;
      return { fits, end: at };
    }
    const named = /^\[:([a-z]*):\]/.exec(glob.slice(at, at + 12));
    if (named !== null) {
      const letters = CLASSES[named[1] ?? ""];
      if (letters === undefined) return undefined;
      members.push((code) => letters.test(String.fromCharCode(code)));
      at += named[0].length - 1;
      continue;
    }
    if (glob[at] === "\\") at++;
    const low = glob.charCodeAt(at);
    let high = low;
    if (glob[at + 1] === "-" && at + 2 < glob.length && glob[at + 2] !== "]") {
      at += glob[at + 2] === "\\" ? 3 : 2;
      high = glob.charCodeAt(at);
    }
    members.push((code) => code >= low && code <= high);
  }
  return undefined;
}
