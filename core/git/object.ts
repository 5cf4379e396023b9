/** A git object id: 40 hex digits, lower case. */
export type Oid = string;

export type ObjectKind = "commit" | "tree" | "blob" | "tag";

export interface GitObject {
  readonly kind: ObjectKind;
  readonly bytes: Uint8Array;
}

/** What reads objects: one pack, several, or a repository's whole store. All calls are synchronous. */
export interface ObjectReader {
  has(oid: Oid): boolean;
  /** The object, or undefined when it is not held. */
  read(oid: Oid): GitObject | undefined;
  /** Kind and size, without inflating more than it must; undefined when it is not held. */
  info(oid: Oid): { kind: ObjectKind; size: number } | undefined;
  /** The oids that start with this prefix of 4 to 40 hex digits, at most `limit`. */
  find(prefix: string, limit: number): Oid[];
}
