import { Lexicons } from "@atproto/lexicon";
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  atUri,
  isAtUri,
  isDid,
  isHandle,
  isNsid,
  isRkey,
  isTid,
  makeTids,
  parseAtUri,
} from "../../core/atproto/syntax.ts";

const kinds = [
  {
    format: "handle",
    is: isHandle,
    good: [
      "8.cn",
      "XX.LCS.MIT.EDU",
      "jan.test",
      "a234567890123456789.test",
      "john2.test",
      "john-john.test",
      "laptop.local",
      "blah.arpa",
      "4chan.org",
      "xn--notarealidn.com",
      "a.b.c.d.e.f.example",
      `${"o".repeat(63)}.test`,
      `${"o.".repeat(124)}test`,
    ],
    bad: [
      "",
      "jo@hn.test",
      "💩.test",
      "bücher.test",
      "john..test",
      "xn--bcher-.tld",
      "john.0",
      "cn.8",
      "thing.0aa",
      "127.0.0.1",
      "org",
      "name.org.",
      ".john.test",
      "-john.test",
      "john-.test",
      "john.te_st",
      "john .test",
      "john.test\n",
      "did:plc:asdf",
      `${"o".repeat(64)}.test`,
      `${"o.".repeat(125)}test`,
    ],
  },
  {
    format: "did",
    is: isDid,
    good: [
      "did:plc:7iza6de2dwap2sbkpav7c6c6",
      "did:web:localhost%3A2583",
      "did:method:val:two",
      "did:m:v",
      "did:method::::val",
      "did:method:-",
      "did:key:zQ3shZc2QzApp2oymGvQbzP8eKheVshBHbU4ZYjeXqwSKEn6N",
    ],
    bad: [
      "",
      "did",
      "did:method:",
      "did:method:val:",
      "did:method:val%",
      "DID:method:val",
      "did:METHOD:val",
      "did:m123:val",
      "did:method:val/two",
      "did:method:val?two",
      "did:method:val#two",
      " did:method:val",
      "did:method:val\n",
      `did:method:${"v".repeat(2048)}`,
    ],
  },
  {
    format: "nsid",
    is: isNsid,
    good: ["dev.knotless.repo", "com.example.fooBar", "a-0.b-1.c", "cn.8.lex.stuff", "onion.a.v2"],
    bad: [
      "",
      "com",
      "com.example",
      "com.example.3",
      "com.exa💩ple.thing",
      "1a.b.c",
      "a..b",
      "a.b.-c",
    ],
  },
  {
    format: "record-key",
    is: isRkey,
    good: ["self", "3jui7kd54zh2y", "example.com", "~1.2-3_", "dHJ1ZQ", "pre:fix", "_", "..."],
    bad: ["", ".", "..", "alpha/beta", "#extra", "@handle", "any space", "any+space", "a%20", "é"],
  },
  {
    format: "tid",
    is: isTid,
    good: ["3jzfcijpj2z2a", "7777777777777", "2222222222222", "3zzzzzzzzzzzz"],
    bad: [
      "",
      "3jzfcijpj2z21",
      "0000000000000",
      "3jzfcijpj2z2aa",
      "3jzf-cij-pj2z-2a",
      "zzzzzzzzzzzzz",
      "kjzfcijpj2z2a",
    ],
  },
  {
    format: "at-uri",
    is: isAtUri,
    good: [
      "at://did:plc:asdf123",
      "at://user.example.com",
      "at://did:plc:asdf123/com.atproto.feed.post",
      "at://did:plc:asdf123/com.atproto.feed.post/record",
      "at://did:abc:123/io.nsid.someFunc/lang:",
      `at://did:plc:a/com.atproto.feed.post/${"o".repeat(512)}`,
    ],
    bad: [
      "",
      "at:/did:plc:asdf123",
      "AT://did:plc:asdf123",
      "at:///did:plc:asdf123",
      "at://did:plc:asdf123/",
      "at://did:plc:asdf123/com.atproto.feed.post/",
      "at://did:plc:asdf123/12345",
      "at://did:plc:asdf123/com.atproto.feed.post/a/b",
      "at://did:plc:asdf123/com.atproto.feed.post/..",
      "at://did:plc:asdf123/com.atproto.feed.post/%30",
      "at://did:plc:asdf123#",
      "at://name",
    ],
  },
];

/** Says whether the reference implementation takes the text as that format. */
function reference(format: string): (text: string) => boolean {
  const id = "dev.knotless.test";
  const lexicons = new Lexicons([{
    lexicon: 1,
    id,
    // A document from outside the type's reach: the format is a variable here.
    defs: { main: { type: "object", properties: { value: { type: "string", format } } } },
  } as never]);
  return (value) => lexicons.validate(id, { value }).success;
}

describe("the syntax of names", () => {
  for (const { format, is, good, bad } of kinds) {
    it(`takes and refuses each ${format} as the specification says`, () => {
      for (const text of good) assert(is(text), `${text} is a ${format}`);
      for (const text of bad) assert(!is(text), `${JSON.stringify(text)} is no ${format}`);
    });

    it(`agrees with the reference on every small change to a ${format}`, () => {
      const expected = reference(format);
      for (const text of [...good, ...bad]) {
        if (text.length > 100) continue;
        for (const changed of changes(text)) {
          assertEquals(is(changed), expected(changed), JSON.stringify(changed));
        }
      }
    });
  }
});

/** The text, and it with each character taken out, doubled, or replaced by a telling one. */
function* changes(text: string): Iterable<string> {
  yield text;
  for (let i = 0; i < text.length; i++) {
    const before = text.slice(0, i);
    const after = text.slice(i + 1);
    yield before + after;
    yield before + text.charAt(i) + text.slice(i);
    for (const letter of ".:-_~/#%@0zA é") yield before + letter + after;
  }
}

describe("AT URIs of records", () => {
  it("come apart and go together", () => {
    const uri = atUri("did:plc:asdf", "dev.knotless.repo", "3jzfcijpj2z2a");
    assertEquals(uri, "at://did:plc:asdf/dev.knotless.repo/3jzfcijpj2z2a");
    assertEquals(parseAtUri(uri), {
      did: "did:plc:asdf",
      collection: "dev.knotless.repo",
      rkey: "3jzfcijpj2z2a",
    });
  });

  it("are not read from a handle, an account or a fragment", () => {
    for (
      const text of [
        "at://alice.test/dev.knotless.repo/3jzfcijpj2z2a",
        "at://did:plc:asdf",
        "at://did:plc:asdf/dev.knotless.repo",
        "at://did:plc:asdf/dev.knotless.repo/3jzfcijpj2z2a#/name",
        "at://did:plc:asdf/dev.knotless.repo/a/b",
      ]
    ) assertEquals(parseAtUri(text), undefined);
  });
});

describe("TIDs", () => {
  it("rise even when the clock stands still or goes back", () => {
    const times = [1000, 1000, 999, 5, 2000, 2000];
    let at = 0;
    const tid = makeTids(() => times[at++] ?? 3000, () => 0.999);
    const made = Array.from({ length: 50 }, tid);
    assert(made.every(isTid));
    assertEquals([...new Set(made)].sort(), made);
  });

  it("encode the time as the reference does", () => {
    assertEquals(makeTids(() => 1_700_000_000_000, () => 0)(), "3ke6kg3wk2222");
  });

  it("differ between two that start at the same moment", () => {
    const one = makeTids(() => 1_700_000_000_000, () => 0.25)();
    const other = makeTids(() => 1_700_000_000_000, () => 0.75)();
    assert(one !== other);
  });
});
