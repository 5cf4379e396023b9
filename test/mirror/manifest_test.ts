import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Refs } from "../../core/atproto/lexicons.gen.ts";
import { CorruptError } from "../../core/errors.ts";
import { compareNames, formatPackedRefs, readManifest } from "../../core/mirror/manifest.ts";

const one = "1".repeat(40);
const two = "2".repeat(40);
const empty: Refs = {
  head: "refs/heads/main",
  refs: [],
  tail: [],
  packs: [],
  retired: [],
  log: [],
  generation: 1,
  id: "3kaaaaaaaaaaa",
};

function read(change: Partial<Refs>, packed?: string) {
  const uri = "at://did:plc:x/dev.knotless.refs/3k";
  return readManifest({ uri, cid: "bafy", value: { ...empty, ...change } }, packed);
}

describe("a manifest", () => {
  it("puts its own refs over those of its packedRefs", () => {
    const packed = formatPackedRefs(
      new Map([["refs/heads/main", { oid: one }], ["refs/tags/v1", { oid: one, peeled: two }]]),
    );
    const { refs } = read({
      refs: [{ name: "refs/heads/main", oid: two }, { name: "refs/heads/old" }],
    }, packed);
    assertEquals([...refs], [
      ["refs/heads/main", { oid: two }],
      ["refs/tags/v1", { oid: one, peeled: two }],
    ]);
    assertEquals([...read({ refs: [{ name: "refs/tags/v1" }] }, packed).refs.keys()], [
      "refs/heads/main",
    ]);
  });

  it("sorts refs by their bytes, as git does", () => {
    assertEquals(["refs/heads/\uff5e", "refs/heads/\u{1f600}", "refs/heads/a"].sort(compareNames), [
      "refs/heads/a",
      "refs/heads/\uff5e",
      "refs/heads/\u{1f600}",
    ]);
  });

  it("is refused when it contradicts itself", () => {
    const pack = { rkey: "3kaaaaaaaaaaa", cid: "bafy", bytes: 1, objects: 1 };
    const tail = { bytes: new Uint8Array(9000), sha256: "0".repeat(64), needs: [] };
    const wrong: [Partial<Refs>, string?][] = [
      [{ refs: [{ name: "refs/heads/b", oid: one }, { name: "refs/heads/a", oid: one }] }],
      [{ refs: [{ name: "refs/heads/a", oid: one }, { name: "refs/heads/a", oid: two }] }],
      [{ refs: [{ name: "refs/heads/a b", oid: one }] }],
      [{ refs: [{ name: "refs/heads/a\n", oid: one }] }],
      [{ refs: [{ name: "../config", oid: one }] }],
      [{ refs: [{ name: "HEAD", oid: one }] }],
      [{ head: "refs/tags/v1" }],
      [{ packs: [pack, pack] }],
      [{ tail: [tail, tail] }],
      [{}, "not a line of packed-refs\n"],
      [{}, `${one} refs/heads/..\n`],
    ];
    for (const [change, packed] of wrong) {
      assertThrows(() => read(change, packed), CorruptError, "does not hold together");
    }
  });
});
