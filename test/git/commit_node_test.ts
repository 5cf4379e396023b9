import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { parseCommit, parseNode } from "../../core/git/commit.ts";

const TREE = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n";
const PARENT = "parent 00112233445566778899aabbccddeeff00112233\n";
const AUTHOR = "author A <a@b.test> 1 +0000\n";
const COMMITTER = "committer C <c@d.test> 1700000000 -0130\n";

function nodeOf(text: string) {
  const { tree, parents, committer } = parseCommit(new TextEncoder().encode(text));
  return { tree, parents, time: committer.time };
}

/** What comes of it: the value, or the error's message. */
function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

describe("what walks need of a commit", () => {
  for (
    const text of [
      `${TREE}${AUTHOR}${COMMITTER}\nm\n`,
      `${TREE}${PARENT}${AUTHOR}${COMMITTER}\nm\n`,
      `${TREE}${PARENT}${PARENT}${PARENT}${AUTHOR}${COMMITTER}encoding latin1\n\nm\n`,
      `${TREE}${AUTHOR}${COMMITTER}`,
      `${TREE}${AUTHOR}${COMMITTER} more\n\nm`,
      `${TREE}${AUTHOR} more\n${COMMITTER}\nm`,
      `${TREE} more\n${AUTHOR}${COMMITTER}\nm`,
      `${TREE}${AUTHOR}${PARENT}${COMMITTER}\nm`,
      `${TREE}${COMMITTER}${AUTHOR}\nm`,
      `${TREE}${AUTHOR}${COMMITTER}${COMMITTER.replace("17", "16")}\nm`,
      `${TREE}${AUTHOR}\n${COMMITTER}\nm`,
      `${TREE}${COMMITTER}\nm`,
      `${AUTHOR}${COMMITTER}\nm`,
      "",
      ...[
        "C> 5 +0000",
        "C <x> 5 +0000 >",
        "C <x> 5 +0000 > 7 +0000",
        "C <x <y>> 9 +0100",
        "C <x>5 +0000",
        "C <x> -5 +0000",
        "C <x> 5",
        "C <x> 5 0000",
        "C <x>  5  +0000",
        "C <x> 99999999999999 +0000",
        "C <x> 8640000000001 +0000",
        "C <x> 999999999999 +0000",
        "C <x> 5 +0000 ",
        "<> 0 +0",
        "",
        `${"<>".repeat(2000)} 5 +0000`,
        `${"<>".repeat(990)} 5 +0000`,
      ].map((who) => `${TREE}${AUTHOR}committer ${who}\n\nm`),
      ...[1900, 1950, 1951, 1952, 1953, 1954, 1955].map((length) =>
        `${TREE}author ${"a".repeat(length - 80)} <a> 1 +0000\n${COMMITTER} more\n\nm`
      ),
      `${TREE.toUpperCase()}${AUTHOR}${COMMITTER}\nm`,
      `${TREE}parent 0011\n${AUTHOR}${COMMITTER}\nm`,
    ]
  ) {
    it(`is what parsing all of it gives: ${JSON.stringify(text.slice(46, 140))}`, () => {
      const bytes = new TextEncoder().encode(text);
      assertEquals(outcome(() => parseNode(bytes)), outcome(() => nodeOf(text)));
    });
  }

  it("is the same however much of it comes before the bound", () => {
    for (let length = 1800; length < 2100; length++) {
      const text = `${TREE}author ${"a".repeat(length)} <a> 1 +0000\n${COMMITTER} more> 7 +1\n\nm`;
      const bytes = new TextEncoder().encode(text);
      assertEquals(parseNode(bytes), nodeOf(text));
    }
  });
});
