import { CorruptError } from "../errors.ts";
import { findTreeFaults } from "./check_tree.ts";
import type { Fault } from "./fault.ts";
import { latin1, strictText } from "./bytes.ts";
import type { ObjectKind, Oid } from "./object.ts";
import { whyNotRefName } from "./refname.ts";
import { isKind } from "./tag.ts";

/** Refuses an object that git's check finds broken or dangerous; `strict` also refuses what is merely odd. */
export function checkObject(
  kind: ObjectKind,
  bytes: Uint8Array,
  oid: Oid,
  { strict = false }: { strict?: boolean } = {},
): void {
  if (kind === "blob") return;
  const fault = findFaults(kind, bytes).find(({ isOdd }) => strict || !isOdd);
  if (fault === undefined) return;
  throw new CorruptError(`the ${kind} ${oid} ${fault.text}`, {
    code: "corrupt.object",
    facts: { oid, fault: fault.id },
  });
}

/** Lists what git's own check would say of an object by itself, by git's names. */
export function findFaults(kind: ObjectKind, bytes: Uint8Array): Fault[] {
  if (kind === "blob") return [];
  if (kind === "tree") return findTreeFaults(bytes);
  const faults: Fault[] = [];
  const broken = (id: string, text: string) => faults.push({ id, text, isOdd: false });
  const odd = (id: string, text: string) => faults.push({ id, text, isOdd: true });
  const head = headOf(bytes);
  if (head === undefined && !bytes.includes(0)) {
    broken("unterminatedHeader", "has a header that does not end");
  } else if (head === undefined || head.includes("\0")) {
    broken("nulInHeader", "has a NUL in its header");
  } else if (kind === "commit") {
    checkCommit(head, broken, odd);
    if (faults.length === 0 && bytes.includes(0)) odd("nulInCommit", "has a NUL in its message");
  } else {
    checkTag(head, broken, odd);
  }
  return faults;
}

type Add = (id: string, text: string) => void;

/** The header as text of one character a byte, with its last newline; undefined when it does not end. */
function headOf(bytes: Uint8Array): string | undefined {
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) {
    if (bytes[at + 1] === 0x0a) return latin1(bytes, 0, at + 1);
  }
  return bytes.at(-1) === 0x0a ? latin1(bytes) : undefined;
}

function checkCommit(head: string, broken: Add, odd: Add): void {
  const lines = head.split("\n");
  let at = 0;
  const next = (name: string): string | undefined => {
    const line = lines[at];
    if (line === undefined || !line.startsWith(`${name} `)) return undefined;
    at++;
    return line.slice(name.length + 1);
  };
  const tree = next("tree");
  if (tree === undefined) return broken("missingTree", "has no tree");
  if (!isHex(tree)) return broken("badTreeSha1", "has a tree that is not an object id");
  for (let parent = next("parent"); parent !== undefined; parent = next("parent")) {
    if (!isHex(parent)) return broken("badParentSha1", "has a parent that is not an object id");
  }
  let authors = 0;
  for (let author = next("author"); author !== undefined; author = next("author"), authors++) {
    if (hasFault(author, odd)) return;
  }
  if (authors === 0) return odd("missingAuthor", "has no author");
  if (authors > 1) return odd("multipleAuthors", "has several authors");
  const committer = next("committer");
  if (committer === undefined) return odd("missingCommitter", "has no committer");
  hasFault(committer, odd);
}

function checkTag(head: string, broken: Add, odd: Add): void {
  const [object = "", type = "", tag = "", tagger = ""] = head.split("\n");
  if (!object.startsWith("object ")) return broken("missingObject", "names no object");
  if (!isHex(object.slice(7))) return broken("badObjectSha1", "names what is not an object id");
  if (!type.startsWith("type ")) return broken("missingTypeEntry", "has no type");
  if (!isKind(type.slice(5))) return broken("badType", "has a type that git does not know");
  if (!tag.startsWith("tag ")) return broken("missingTagEntry", "has no name");
  const name = strictText(Uint8Array.from(tag.slice(4), (letter) => letter.charCodeAt(0)));
  if (name !== undefined && whyNotRefName(name) !== undefined) {
    odd("badTagName", "has a name that no ref can have");
  }
  if (!tagger.startsWith("tagger ")) return odd("missingTaggerEntry", "has no tagger");
  hasFault(tagger.slice(7), odd);
}

/** Reports the first fault of an author, committer or tagger: what git's check asks is more than it needs to read one. */
function hasFault(line: string, odd: Add): boolean {
  const fault = identityFault(line);
  if (fault === undefined) return false;
  odd(fault, `has a line git's check calls ${fault}`);
  return true;
}

function identityFault(line: string): string | undefined {
  if (line.startsWith("<")) return "missingNameBeforeEmail";
  const open = line.search(/[<>]/);
  if (open >= 0 && line[open] === ">") return "badName";
  if (open < 0) return "missingEmail";
  if (line[open - 1] !== " ") return "missingSpaceBeforeEmail";
  const rest = line.slice(open + 1);
  const close = rest.search(/[<>]/);
  if (close < 0 || rest[close] !== ">") return "badEmail";
  const date = rest.slice(close + 1);
  if (!date.startsWith(" ")) return "missingSpaceBeforeDate";
  if (/^ 0[^ ]/.test(date)) return "zeroPaddedDate";
  const [start, digits] = /^ +([0-9]+)( |$)/.exec(date) ?? [];
  if (start === undefined || digits === undefined) return "badDate";
  if (BigInt(digits) >= 2n ** 63n) return "badDateOverflow";
  if (!start.endsWith(" ")) return "badDate";
  return /^[+-][0-9]{4}$/.test(date.slice(start.length)) ? undefined : "badTimezone";
}

function isHex(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}
