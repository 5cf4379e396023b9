import { assertEquals } from "@std/assert";
import { git } from "../support/git.ts";
import { describeHostile, held, ONLINE } from "../support/hostile.ts";
import { type Json, tailEntry } from "../support/owner.ts";

describeHostile("takes no refs", (it) => {
  it("whose names could lead elsewhere or that do not hold together", async ({ refused, refsWith, good, tip }) => {
    for (
      const name of [
        "../x",
        "refs/heads/../../config",
        "refs/heads/..",
        "refs/heads/.lock",
        "refs/heads/x.lock",
        "refs/heads/a\nb",
        `refs/heads/a\n${tip} refs/heads/b`,
        "refs/heads/a b",
        "refs/heads/",
        "/etc/passwd",
        "HEAD",
        "config",
        "refs/heads/\u0000",
        "refs/heads/a\\b",
      ]
    ) {
      await refused(() => ({ refs: refsWith({ [name]: tip }) }), /does not hold together: /);
      await refused(() => ({ head: name }), /does not hold together: /);
    }
    await refused(() => ({ head: "refs/tags/v1" }), /HEAD is refs\/tags\/v1, no branch/);
    await refused(() => ({ refs: [...good.refs].reverse() }), /out of order/);
    await refused(() => ({ refs: [good.refs[0], ...good.refs] }), /out of order/);
    await refused(
      () => ({ refs: refsWith({ "refs/heads/main/below": tip }) }),
      /does not hold together: .*refs\/heads\/main/,
    );
  });

  it("at what is no oid, or that tell of a tag what it does not peel to", async ({ refused, refsWith, good, tip }) => {
    for (const oid of ["x".repeat(40), `${tip.slice(0, 38)}\n^`, tip.toUpperCase()]) {
      await refused(
        () => ({ refs: refsWith({ "refs/heads/evil": oid }) }),
        /does not hold together|which no pack holds/,
      );
    }
    const [main, v1] = good.refs;
    for (const peeled of [undefined, "0".repeat(40), `\n${"0".repeat(39)}`, held.oid, v1.oid]) {
      await refused(() => ({ refs: [main, { ...v1, peeled }] }), /peels|no object id/);
      if (peeled) {
        await refused(() => ({ refs: [{ ...main, peeled }, v1] }), /peels|no object id/);
      }
    }
  });

  it("of a record that breaks its lexicon", async ({ refused, rkey, good }) => {
    const broken: Json[] = [
      { refs: undefined },
      { refs: "none" },
      { generation: -1 },
      { generation: "2" },
      { tail: [{}] },
      { packs: [{ rkey, cid: "none", bytes: 1, objects: 1 }] },
      { head: 1 },
      { id: "x" },
      { refs: Array.from({ length: 2001 }, (_, i) => ({ name: `refs/heads/${i + 10000}` })) },
      { tail: [...good.tail, tailEntry(new Uint8Array(16_385))] },
    ];
    for (const fields of broken) {
      await refused(() => fields, /is not a dev\.knotless\.refs: |does not hold together/);
    }
    await refused(
      () => ({ tail: [1, 2].map(() => tailEntry(new Uint8Array(9000))) }),
      /its tail is over 16 kB/,
    );
  });

  it("of a packedRefs blob with garbage, or that is not there", async ({ refused, owner, good, tip }) => {
    const packed = async (text: string) => ({
      packedRefs: await owner.upload(new TextEncoder().encode(text)),
    });
    for (
      const text of [
        "garbage\n",
        `${tip} refs/heads/..\n`,
        `${tip} refs/heads/a\u0000b\n`,
        `${tip.slice(1)} refs/heads/a\n`,
        `^${tip}\n`,
        `${tip}\n`,
        "\u0000\u0001\u0002",
        `${tip} refs/heads/a\r\n`,
      ]
    ) {
      await refused(() => packed(text), /does not hold together: /);
    }
    await refused(
      () => packed(`${"5".repeat(40)} refs/heads/a\n`),
      /refs\/heads\/a of at:.*which no pack holds/,
    );
    await refused(
      () => packed(`${good.refs[1].oid} refs/tags/v0\n^${held.oid}\n`),
      /peel/,
    );
  });

  it("but 5,000 that are well, which it writes as git does", async ({ publish, heal, owner, mirror, tip }) => {
    const names = Array.from({ length: 5000 }, (_, i) => `refs/heads/many/${i}`).sort();
    const text = names.map((name) => `${tip} ${name}\n`).join("");
    await publish({
      packedRefs: await owner.upload(new TextEncoder().encode(text)),
    });
    assertEquals((await mirror.view(ONLINE)).refs.size, 5002);
    assertEquals(git(mirror.path, "for-each-ref", "refs/heads/many").split("\n").length, 5000);
    await heal();
    assertEquals((await mirror.view(ONLINE)).refs.size, 2);
  });
});
