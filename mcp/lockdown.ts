/** What is left of a result under lockdown, and whose texts are not. */
export interface Withheld {
  readonly result: unknown;
  /** How many texts, by the handle or DID of who wrote them. */
  readonly by: ReadonlyMap<string, number>;
}

/** Forms that say nothing of a person's own: addresses, ids, dates, one word of a state. */
const forms = [
  /^at:\/\/did:[a-z]+:[\w.:%-]{1,100}(\/[a-z.A-Z]{1,100}(\/[\w.:~-]{1,64})?)?$/,
  /^did:[a-z]+:[\w.:%-]{1,100}$/,
  /^[0-9a-f]{7,64}$/,
  /^bafy[a-z2-7]{50,60}$/,
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  /^[a-z]{1,16}$/,
] as const;

/**
 * Takes out of a result every text of an author who is an account with no part in the repository. A result says whose a
 * text is by an `author` beside it: an account has a `did`, and a `part` if it has one. A commit's author is no account:
 * commits are what the repository's owner pushed.
 */
export function withhold(result: unknown): Withheld {
  const by = new Map<string, number>();
  const walk = (value: unknown, outsider: string | undefined): unknown => {
    if (typeof value === "string" || value instanceof Uint8Array) {
      if (outsider === undefined || isForm(value)) return value;
      by.set(outsider, (by.get(outsider) ?? 0) + 1);
      return `[withheld: by ${outsider}, who has no part in the repository]`;
    }
    if (Array.isArray(value)) return value.map((item) => walk(item, outsider));
    if (typeof value !== "object" || value === null) return value;
    const author = "author" in value ? value.author : undefined;
    const whose = isAccount(author) ? outsiderOf(author) : outsider;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
      key,
      key === "author" && isAccount(item) ? nameOf(item) : walk(item, whose),
    ]);
    return Object.fromEntries(entries);
  };
  return { result: walk(result, undefined), by };
}

/** Says what was left out; undefined when nothing was. */
export function spellWithheld({ by }: Withheld): string | undefined {
  if (by.size === 0) return undefined;
  const texts = [...by.values()].reduce((sum, count) => sum + count, 0);
  return `${texts} texts are withheld, by ${
    [...by.keys()].slice(0, 20).join(", ")
  }: this server runs with --lockdown, ` +
    "which gives only text by people with a part in the repository";
}

interface AccountLike {
  readonly did: string;
  readonly handle?: unknown;
  readonly part?: unknown;
}

function isAccount(value: unknown): value is AccountLike {
  return typeof value === "object" && value !== null && "did" in value &&
    typeof value.did === "string";
}

/** How an account with no part is called; undefined for one that has one. */
function outsiderOf(author: AccountLike): string | undefined {
  const { did, handle, part } = author;
  if (typeof part === "string" && part !== "") return undefined;
  return typeof handle === "string" && handle !== "handle.invalid" ? handle : did;
}

/** Who it is, without what they call themselves. */
function nameOf({ did, handle, part }: AccountLike) {
  return { did, ...(handle !== undefined && { handle }), ...(part !== undefined && { part }) };
}

function isForm(value: string | Uint8Array): boolean {
  return typeof value === "string" && forms.some((form) => form.test(value));
}
