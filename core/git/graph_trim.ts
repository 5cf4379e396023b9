import { OID_BYTES } from "./oid.ts";

/**
 * Cuts off the entries that two trees have in common at their starts and ends, without reading them one by one: trees
 * that follow each other in history mostly differ in one entry.
 */
export function trimTrees(a: Uint8Array, b: Uint8Array): [Uint8Array, Uint8Array] {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  if (head === a.length && head === b.length) return [a.subarray(head), b.subarray(head)];
  const start = lastEntry(a, 0, head);
  let tail = 0;
  while (tail < shorter - start && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const endA = nextEntry(a, start, a.length - tail);
  const endB = b.length - (a.length - endA);
  // The bytes may agree where one tree has an entry's start and the other the middle of an oid.
  if (endB < start || nextEntry(b, start, endB) !== endB) {
    return [a.subarray(start), b.subarray(start)];
  }
  return [a.subarray(start, endA), b.subarray(start, endB)];
}

/** Where the last entry starts that does so at or before `place`. */
function lastEntry(tree: Uint8Array, from: number, place: number): number {
  let start = from;
  for (let next = entryEnd(tree, start); next <= place; next = entryEnd(tree, start)) start = next;
  return start;
}

/** Where the first entry starts that does so at or after `place`. */
function nextEntry(tree: Uint8Array, from: number, place: number): number {
  let start = from;
  while (start < place) start = entryEnd(tree, start);
  return start;
}

function entryEnd(tree: Uint8Array, start: number): number {
  const name = tree.indexOf(0, start);
  return name < 0 ? Infinity : Math.min(name + 1 + OID_BYTES, tree.length);
}
