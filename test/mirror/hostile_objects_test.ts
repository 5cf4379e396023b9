import { describeHostile, file, held, ONLINE, root } from "../support/hostile.ts";
import { commit, type Handmade, handmade, packOf, tailEntry, tree } from "../support/owner.ts";

describeHostile("takes no objects", (it) => {
  const packed = (...objects: Handmade[]) => packOf(...objects.map(({ entry }) => entry));
  const salt = () => handmade("blob", crypto.randomUUID());

  it("for a branch that no pack holds or that is no commit", async ({ refused, branch, refsWith }) => {
    const nowhere = "3".repeat(40);
    await refused(
      () => ({ refs: refsWith({ "refs/heads/evil": nowhere }) }),
      new RegExp(nowhere),
    );
    const blob = salt();
    const root = tree(["100644", "x", blob.oid]);
    await refused(
      () => branch(blob.oid, packed(blob)),
      new RegExp(`refs/heads/evil.*${blob.oid}, a blob`),
    );
    await refused(() => branch(root.oid, packed(root, blob)), new RegExp(`${root.oid}, a tree`));
    await refused(
      () => ({ refs: refsWith({ "refs/heads/evil": held.oid }) }),
      new RegExp(`${held.oid}, a blob`),
    );
  });

  it("that lead to what is missing or of another kind", async ({ refused, branch, refsWith, good }) => {
    const blob = salt();
    const root = tree(["100644", "x", blob.oid]);
    const missing = "4".repeat(40);
    const ways = [
      [commit(missing)],
      [commit(root.oid, missing), root, blob],
      [commit(root.oid), root],
      [commit(blob.oid), blob],
      [commit(root.oid, root.oid), root, blob],
      [commit(tree(["40000", "x", blob.oid]).oid), tree(["40000", "x", blob.oid]), blob],
      [commit(tree(["100644", "x", root.oid]).oid), tree(["100644", "x", root.oid]), root, blob],
    ];
    for (const objects of ways) {
      await refused(
        () => branch(objects[0]?.oid ?? "", packed(...objects)),
        /is missing|leads to .* as a/,
      );
    }
    const tag = handmade(
      "tag",
      `object ${missing}\ntype commit\ntag evil\ntagger E <e@e> 1 +0000\n\nx\n`,
    );
    await refused(() => ({
      refs: refsWith({ "refs/tags/evil": tag.oid }),
      tail: [...good.tail, tailEntry(packOf(tag.entry))],
    }), new RegExp(`${missing}.* is missing`));
  });

  it("that git would not, or that would write outside a working tree", async ({ refused, branch }) => {
    const blob = salt();
    const entries: [string, string, string][][] = [
      [["100644", "..", blob.oid]],
      [["100644", "C:\\x", blob.oid]],
      [["100644", "d:", blob.oid]],
      [["100644", ".", blob.oid]],
      [["100644", ".git", blob.oid]],
      [["100644", ".GIT", blob.oid]],
      [["100644", "git~1", blob.oid]],
      [["100644", ".g\u200cit", blob.oid]],
      [["100644", "/etc/passwd", blob.oid]],
      [["100644", "a/b", blob.oid]],
      [["100644", "", blob.oid]],
      [["100644", "a", blob.oid], ["100644", "a", blob.oid]],
      [["100644", "b", blob.oid], ["100644", "a", blob.oid]],
      [["120000", ".gitmodules", blob.oid]],
      [["100644", "a", "0".repeat(40)]],
      [["banana", "a", blob.oid]],
    ];
    for (const list of entries) {
      const root = tree(...list);
      await refused(
        () => branch(commit(root.oid).oid, packed(commit(root.oid), root, blob)),
        new RegExp(`the tree ${root.oid} `),
      );
    }
    for (
      const text of [
        "tree 1234\n\nx\n",
        `tree ${root.oid}\0\nauthor E <e@e> 1 +0000\n\nx\n`,
        `parent ${root.oid}\n\nx\n`,
        "no header at all",
      ]
    ) {
      const bad = handmade("commit", text);
      await refused(
        () => branch(bad.oid, packed(bad, root, file)),
        new RegExp(`the commit ${bad.oid} `),
      );
    }
  });

  it("that came unreached and lack something when a ref comes to lead there", async ({ refused, refsWith, publish, mirror, good }) => {
    const blob = salt();
    const root = tree(["100644", "x", blob.oid]);
    const tip = commit(root.oid);
    // The tree's blob is not there, which nobody asks as long as no ref leads to it.
    const pack = packOf(tip.entry, root.entry);
    await publish({ tail: [...good.tail, tailEntry(pack)] });
    await mirror.view(ONLINE);
    await refused(
      () => ({
        refs: refsWith({ "refs/heads/evil": tip.oid }),
        tail: [...good.tail, tailEntry(pack)],
      }),
      new RegExp(`${blob.oid}.* is missing`),
      { unsound: true },
    );
  });
});
