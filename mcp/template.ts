/** A part of a URI that a template's variable stands for. */
export interface Part {
  /** With each percent-escape read, once. */
  readonly text: string;
  /** As the URI has it. */
  readonly written: string;
}

/** The parts of a URI, by their variables' names. */
export type Parts = Readonly<Record<string, Part>>;

/** A URI template: `{name}` stands for what is between two slashes, `{+name}`, at the end, for all the rest. */
export interface Template {
  readonly text: string;
  readonly names: readonly string[];
  /** The parts of a URI that the template makes; undefined for any other. */
  match(uri: string): Parts | undefined;
}

/** A URI is read no further than this. */
const MOST = 16_384;

/**
 * Reads a template. A URI is matched as text: a URL parser refuses the colons of a DID and takes `..`, `#` and `?` out of
 * a path.
 */
export function readTemplate(text: string): Template {
  const names: string[] = [];
  const pattern = text.replace(/\{(\+?)(\w+)\}|[^\w{}]/g, (found, plus: string, name?: string) => {
    if (name === undefined) return `\\${found}`;
    names.push(name);
    return plus ? "(.+)" : "([^/]+)";
  });
  const whole = new RegExp(`^${pattern}$`, "s");
  return {
    text,
    names,
    match(uri) {
      if (uri.length > MOST) return undefined;
      const found = whole.exec(plainScheme(uri));
      if (found === null) return undefined;
      const parts = names.map((name, at): [string, Part] => {
        const written = found[at + 1] ?? "";
        return [name, { written, text: unescape(written) }];
      });
      return Object.fromEntries(parts);
    },
  };
}

/** Some clients put their own scheme before the server's, and a scheme may be in capitals. */
function plainScheme(uri: string): string {
  return uri.replace(/^mcp:\/\/(?=\w+:\/\/)/i, "").replace(
    /^\w+:/,
    (scheme) => scheme.toLowerCase(),
  );
}

/** Text whose escapes are not all of them whole stands as it is: a client may have escaped nothing. */
function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
