import { BlobRef, jsonToLex, Lexicons } from "@atproto/lexicon";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { toJson } from "../../core/atproto/data.ts";
import type { ObjectSchema, RecordSchema, Schema } from "../../core/atproto/lexicon.ts";
import { ID, lexicons } from "../../core/atproto/lexicons.gen.ts";
import { checkRecord, findFault, matchesLexicon } from "../../core/atproto/validate.ts";
import { CorruptError } from "../../core/errors.ts";
import { lexiconModule } from "../../scripts/lexicons.ts";

const CID = "bafyreiaxcz5ssgzhjz5wrfovchyulvqmfgf24xhp5cfc7pl7x5qmd2fabe";
const reference = new Lexicons(
  // The reference's own type of document is narrower than ours, its check is not.
  JSON.parse(JSON.stringify(lexicons)),
);

/** Says whether the reference takes the record; BlobRef is its own class for blobs. */
function referenceTakes(collection: string, value: object): boolean {
  try {
    return reference.validate(collection, jsonToLex(JSON.parse(JSON.stringify(toJson(value)))))
      .success;
  } catch {
    return false;
  }
}

/** Numbers that look random and are the same in each run. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

const texts: Record<string, readonly string[]> = {
  "at-uri": ["at://did:plc:asdf/dev.knotless.repo/3jzfcijpj2z2a", "at://alice.test"],
  "cid": [CID],
  "datetime": ["2026-11-30T20:00:00Z", "1985-04-12T23:20:50.123456+01:45"],
  "did": ["did:plc:asdf", "did:web:example.com"],
  "tid": ["3jzfcijpj2z2a"],
  "uri": ["https://example.com/?q=ü", "dns:example.com", "at://did:plc:asdf"],
};

function make(id: string, schema: Schema, random: (below: number) => number): unknown {
  switch (schema.type) {
    case "string": {
      const { format, minLength = 0, maxGraphemes = 300, maxLength = 40 } = schema;
      if (format !== undefined) return texts[format]?.[random(texts[format].length)];
      const length = minLength + random(Math.min(maxLength, maxGraphemes) - minLength + 1);
      return Array.from({ length }, () => "abcdef01"[random(8)]).join("");
    }
    case "integer":
      return (schema.minimum ?? -5) + random(100);
    case "boolean":
      return random(2) === 0;
    case "bytes":
      return new Uint8Array(random(Math.min(schema.maxLength ?? 100, 100)));
    case "cid-link":
      return { $link: CID };
    case "blob": {
      const ref = { $link: CID.replace("bafyrei", "bafkrei") };
      return { $type: "blob", ref, mimeType: "application/octet-stream", size: random(1000) };
    }
    case "unknown":
      return {};
    case "array":
      return Array.from({ length: random(4) }, () => make(id, schema.items, random));
    case "object":
      return makeObject(id, schema, random);
    case "ref": {
      const [other = "", def = "main"] = schema.ref.split("#");
      const found = find(other || id, def);
      if (found.type === "record") throw new Error("a reference to a record");
      return make(other || id, found, random);
    }
  }
}

function makeObject(id: string, schema: ObjectSchema, random: (below: number) => number): object {
  const fields = Object.entries(schema.properties).filter(([key]) =>
    schema.required?.includes(key) || random(2) === 0
  );
  return Object.fromEntries(fields.map(([key, field]) => [key, make(id, field, random)]));
}

function find(id: string, def: string): Schema | RecordSchema {
  const found = lexicons.find((doc) => doc.id === id)?.defs[def];
  if (found === undefined) throw new Error(`no ${id}#${def}`);
  return found;
}

const WRONG: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  0,
  1.5,
  "",
  "x",
  "x".repeat(4000),
  "ü".repeat(700),
  "2026-11-30",
  "2026-13-30T20:00:00Z",
  "at://nonsense",
  "did:plc:",
  "0000000000000",
  [],
  [1],
  Array(3000).fill("a".repeat(40)),
  {},
  { $type: "blob" },
  { $link: "nonsense" },
  new Uint8Array(100_000),
];

/** The value with something within it replaced by what does not belong there. */
function spoil(value: unknown, random: (below: number) => number): unknown {
  if (Array.isArray(value) && value.length > 0) {
    const at = random(value.length);
    return value.with(at, spoil(value[at], random));
  }
  const isPlain = typeof value === "object" && value !== null && !(value instanceof Uint8Array);
  if (!isPlain || Object.keys(value).length === 0 || "$link" in value || "ref" in value) {
    return WRONG[random(WRONG.length)];
  }
  const entries = Object.entries(value);
  const at = random(entries.length);
  return Object.fromEntries(
    entries.map(([key, item], i) => [key, i === at ? spoil(item, random) : item]),
  );
}

describe("the check of records", () => {
  for (const collection of Object.values(ID)) {
    const def = find(collection, "main");
    if (def.type !== "record") throw new Error(`${collection} is no record`);

    it(`takes every ${collection} that its lexicon allows`, () => {
      const random = makeRandom(1);
      for (let i = 0; i < 200; i++) {
        const value = { $type: collection, ...makeObject(collection, def.record, random), more: 1 };
        assertEquals(findFault(collection, value), undefined);
        assert(referenceTakes(collection, value), JSON.stringify(toJson(value)));
      }
    });

    it(`judges a spoilt ${collection} as the reference does`, () => {
      const random = makeRandom(2);
      let refused = 0;
      for (let i = 0; i < 1000; i++) {
        const whole = makeObject(collection, def.record, random);
        const value = { $type: collection, ...Object(spoil(whole, random)) };
        const fault = findFault(collection, value);
        const text = `${fault}: ${JSON.stringify(toJson(value)).slice(0, 400)}`;
        assertEquals(fault === undefined, referenceTakes(collection, value), text);
        if (fault !== undefined) refused++;
      }
      assert(refused > 300, String(refused));
    });
  }

  it("says which record and which field", () => {
    const value = {
      head: "refs/heads/main",
      refs: [],
      tail: [{ bytes: new Uint8Array(), sha256: "abc", needs: [] }],
      packs: [],
      retired: [],
      log: [],
      generation: 1,
      id: "3jzfcijpj2z2a",
    };
    const error = assertThrows(
      () => checkRecord(ID.refs, value, "at://did:plc:asdf/dev.knotless.refs/3jzfcijpj2z2a"),
      CorruptError,
      "tail[0].sha256",
    );
    assert(error.message.startsWith("at://did:plc:asdf/"));
  });

  it("follows references into other lexicons", () => {
    const push = { id: "3jzfcijpj2z2a", by: "did:plc:asdf", updates: [] };
    const log = { repo: "at://did:plc:asdf/dev.knotless.repo/3jzfcijpj2z2a", pushes: [push] };
    assert(matchesLexicon(ID.log, log));
    const claim = { uri: "at://did:plc:asdf/dev.knotless.claim/3jzfcijpj2z2a", cid: CID };
    assert(matchesLexicon(ID.log, { ...log, pushes: [{ ...push, claim }] }));
    const bad = { ...log, pushes: [{ ...push, claim: { ...claim, cid: "x" } }] };
    assertEquals(findFault(ID.log, bad), "pushes[0].claim.cid is not a cid");
  });

  it("counts lengths in bytes and graphemes in what a reader sees", () => {
    const repo = { name: "app", createdAt: "2026-11-30T20:00:00Z" };
    const family = "👩‍👩‍👧‍👧";
    assert(matchesLexicon(ID.repo, { ...repo, description: family.repeat(100) }));
    assert(!matchesLexicon(ID.repo, { ...repo, description: "é".repeat(351) }));
    assert(!matchesLexicon(ID.repo, { ...repo, description: family.repeat(200) }));
  });

  it("refuses another collection's record, and what is no record", () => {
    const star = { subject: "at://did:plc:asdf", createdAt: "2026-11-30T20:00:00Z" };
    assert(matchesLexicon(ID.star, star));
    assert(!matchesLexicon(ID.star, { ...star, $type: ID.follow }));
    assert(!matchesLexicon("dev.knotless.unheard", star));
    for (const value of [null, [], "x", 1, undefined, new Uint8Array()]) {
      assert(!matchesLexicon(ID.star, value));
    }
    assert(!matchesLexicon(ID.star, Object.create(star)));
  });

  it("takes the dates of the specification and no others", () => {
    const dated = (createdAt: string) =>
      matchesLexicon(ID.star, { subject: "at://did:plc:asdf", createdAt });
    for (
      const text of [
        "1985-04-12T23:20:50.123Z",
        "1985-04-12T23:20:50Z",
        "1985-04-12T23:20:50.1235678912345Z",
        "1985-04-12T23:20:50.123-07:00",
        "0123-01-01T00:00:00.000Z",
      ]
    ) assert(dated(text), text);
    for (
      const text of [
        "1985-04-12",
        "1985-04-12T23:20Z",
        "1985-04-12T23:20:50.123",
        "1985-04-12t23:20:50.123Z",
        "1985-04-12 23:20:50Z",
        "1985-04-12T23:20:50.Z",
        "1985-04-12T23:20:50-00:00",
        "1985-04-12T23:20:50+0000",
        "1985-00-12T23:20:50Z",
        "1985-04-00T23:20:50Z",
        "1985-04-12T24:00:00Z",
        "01985-04-12T23:20:50Z",
        "-000001-12-31T23:00:00.000Z",
        " 1985-04-12T23:20:50Z",
      ]
    ) assert(!dated(text), text);
  });
});

describe("the lexicons in code", () => {
  it("are those of the files", async () => {
    const file = new URL("../../core/atproto/lexicons.gen.ts", import.meta.url);
    assertEquals(await Deno.readTextFile(file), await lexiconModule());
  });

  it("know the reference's class of blobs by its plain form", () => {
    assert(
      BlobRef.asBlobRef({
        $type: "blob",
        ref: { $link: CID.replace("bafyrei", "bafkrei") },
        mimeType: "text/plain",
        size: 1,
      }) !== undefined,
    );
  });
});
