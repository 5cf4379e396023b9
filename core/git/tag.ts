import { CorruptError } from "../errors.ts";
import { latin1, utf8 } from "./bytes.ts";
import { formatHeaders, type Header, parseHeaders } from "./headers.ts";
import { formatIdentity, type Identity, parseIdentity } from "./identity.ts";
import type { ObjectKind, Oid } from "./object.ts";
import { isOid } from "./oid.ts";

/** An annotated tag as git stores it. */
export interface Tag {
  readonly object: Oid;
  readonly kind: ObjectKind;
  readonly name: Uint8Array;
  /** Missing in some of the oldest tags. */
  readonly tagger?: Identity | undefined;
  readonly extra?: readonly Header[] | undefined;
  /** With the signature, if there is one. */
  readonly message: Uint8Array;
}

/** Reads an annotated tag; a missing or malformed object, type or name is a CorruptError. */
export function parseTag(bytes: Uint8Array): Tag {
  const { headers, message } = parseHeaders(bytes);
  const [object, type, tag, ...rest] = headers;
  if (object?.name !== "object" || type?.name !== "type" || tag?.name !== "tag") {
    throw new CorruptError("a tag lacks its object, type or name");
  }
  const oid = latin1(object.value);
  const kind = latin1(type.value);
  if (!isOid(oid)) throw new CorruptError("the object of a tag is not an object id");
  if (!isKind(kind)) throw new CorruptError("the type of a tag is not a kind of object");
  const tagger = rest.find(({ name }) => name === "tagger");
  return {
    object: oid,
    kind,
    name: tag.value,
    tagger: tagger && parseIdentity(tagger.value),
    extra: rest.filter((header) => header !== tagger),
    message,
  };
}

/** Gives the bytes of an annotated tag. */
export function formatTag(tag: Tag): Uint8Array {
  return formatHeaders([
    { name: "object", value: utf8(tag.object) },
    { name: "type", value: utf8(tag.kind) },
    { name: "tag", value: tag.name },
    ...(tag.tagger === undefined ? [] : [{ name: "tagger", value: formatIdentity(tag.tagger) }]),
    ...(tag.extra ?? []),
  ], tag.message);
}

/** Tells whether the text names a kind of object. */
export function isKind(text: string): text is ObjectKind {
  return text === "commit" || text === "tree" || text === "blob" || text === "tag";
}
