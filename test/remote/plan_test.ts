import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import type { Refs } from "../../core/atproto/lexicons.gen.ts";
import type { Oid } from "../../core/git/object.ts";
import type { Manifest } from "../../core/mirror/manifest.ts";
import { chooseHead, parseRequest, planPush, type Resolved } from "../../remote/plan.ts";

const [one, two, three] = ["1", "2", "3"].map((digit) => digit.repeat(40)) as [Oid, Oid, Oid];

function manifestOf(refs: Record<string, Oid>, head = "refs/heads/main"): Manifest {
  const record: Refs = {
    head,
    refs: [],
    tail: [],
    packs: [],
    retired: [],
    log: [],
    generation: 1,
    id: "3zzzzzzzzzz22",
  };
  const targets = Object.entries(refs).map(([name, oid]) => [name, { oid }] as const);
  return { uri: "at://did:plc:x/dev.knotless.refs/x", cid: "bafy", record, refs: new Map(targets) };
}

function set(target: string, oid: Oid, kind: "commit" | "tag" | "blob" = "commit"): Resolved {
  return { source: target, target, isForced: false, object: { oid, kind }, before: "commit" };
}

function gone(target: string): Resolved {
  return { source: undefined, target, isForced: false, object: undefined, before: undefined };
}

function plan(
  requests: Resolved[],
  { now, listed = now, leases = {}, atomic = false, head }: {
    now: Record<string, Oid>;
    listed?: Record<string, Oid>;
    leases?: Record<string, Oid | undefined>;
    atomic?: boolean;
    head?: string;
  },
) {
  const planned = planPush(requests, {
    manifest: manifestOf(now, head),
    listed: new Map(Object.entries(listed)),
    leases: new Map(Object.entries(leases)),
    atomic,
  });
  return {
    updates: [...planned.updates.values()],
    refused: Object.fromEntries(planned.refused),
    moved: planned.moved,
  };
}

describe("parseRequest", () => {
  it("takes the last colon for the one between source and target", () => {
    assertEquals(parseRequest("+HEAD:file:refs/tags/file"), {
      source: "HEAD:file",
      target: "refs/tags/file",
      isForced: true,
    });
  });

  it("takes an empty source for a deletion, forced or not", () => {
    for (const line of [":refs/heads/a", "+:refs/heads/a"]) {
      const isForced = line.startsWith("+");
      assertEquals(parseRequest(line), { source: undefined, target: "refs/heads/a", isForced });
    }
  });
});

describe("planPush", () => {
  it("names the oid that each ref was at", () => {
    const { updates, refused } = plan(
      [set("refs/heads/main", two), set("refs/heads/new", two), gone("refs/heads/old")],
      { now: { "refs/heads/main": one, "refs/heads/old": one } },
    );
    assertEquals(refused, {});
    assertEquals(updates, [
      { ref: "refs/heads/old", old: one, new: undefined },
      { ref: "refs/heads/main", old: one, new: two },
      { ref: "refs/heads/new", old: undefined, new: two },
    ]);
  });

  it("refuses a ref that has moved since git was told of it, and tells where it was and is", () => {
    const { updates, refused, moved } = plan(
      [set("refs/heads/main", three), set("refs/heads/other", three)],
      { now: { "refs/heads/main": two }, listed: { "refs/heads/main": one } },
    );
    assertEquals(refused, { "refs/heads/main": "fetch first" });
    assertEquals(updates.map(({ ref }) => ref), ["refs/heads/other"]);
    assertEquals(moved, [{ ref: "refs/heads/main", old: one, now: two }]);
  });

  it("refuses, unless forced or leased, what is at an object never seen or at no commit", () => {
    const now = { "refs/heads/main": one, "refs/x": two };
    const unseen = { ...set("refs/heads/main", two), before: undefined };
    assertEquals(plan([unseen], { now }).refused, { "refs/heads/main": "fetch first" });
    assertEquals(plan([{ ...unseen, isForced: true }], { now }).refused, {});
    assertEquals(plan([unseen], { now, leases: { "refs/heads/main": one } }).refused, {});
    const blob = set("refs/x", three, "blob");
    assertEquals(plan([blob], { now }).refused, { "refs/x": "needs force" });
    assertEquals(plan([{ ...blob, isForced: true }], { now }).refused, {});
  });

  it("calls it stale under a lease", () => {
    const leases = { "refs/heads/main": one };
    const { refused } = plan([set("refs/heads/main", three)], {
      now: { "refs/heads/main": two },
      listed: { "refs/heads/main": one },
      leases,
    });
    assertEquals(refused, { "refs/heads/main": "stale info" });
  });

  it("holds a lease of a ref that must not be there", () => {
    const leases = { "refs/heads/new": undefined };
    const requests = [set("refs/heads/new", three)];
    assertEquals(plan(requests, { now: {}, leases }).refused, {});
    assertEquals(plan(requests, { now: { "refs/heads/new": one }, leases }).refused, {
      "refs/heads/new": "stale info",
    });
  });

  it("leaves all of an atomic push when one ref cannot be", () => {
    const { updates, refused } = plan([set("refs/heads/a", two), gone("refs/heads/main")], {
      now: { "refs/heads/main": one },
      atomic: true,
    });
    assertEquals(updates, []);
    assertEquals(refused, {
      "refs/heads/a": "atomic push failure",
      "refs/heads/main": "refusing to delete the current branch: refs/heads/main",
    });
  });

  it("refuses names that cannot be refs, in words that git does not take for a quoted string", () => {
    const { refused } = plan(
      [
        set("refs/knotless/x", one),
        set("HEAD", one),
        set("refs/heads/HEAD", one),
        set("refs/heads/caf\xe9", one),
      ],
      { now: {} },
    );
    assertEquals(Object.keys(refused).length, 4);
    assertEquals(Object.values(refused).filter((why) => why.startsWith('"')), []);
    assertEquals(refused["refs/heads/caf\xe9"], "the name of the ref is not UTF-8");
  });

  it("takes the name of a ref as UTF-8", () => {
    const { updates } = plan([set("refs/heads/caf\xc3\xa9", one)], { now: {} });
    assertEquals(updates.map(({ ref }) => ref), ["refs/heads/café"]);
  });

  it("refuses a branch that is no commit, and takes a tag of anything", () => {
    const { updates, refused } = plan(
      [set("refs/heads/tag", two, "tag"), set("refs/tags/blob", three, "blob")],
      { now: {} },
    );
    assertEquals(refused, {
      "refs/heads/tag": `trying to write non-commit object ${two} to branch 'refs/heads/tag'`,
    });
    assertEquals(updates.map(({ ref }) => ref), ["refs/tags/blob"]);
  });

  it("refuses a branch below another, unless that one goes", () => {
    const now = { "refs/heads/a": one, "refs/heads/main": one };
    assertEquals(plan([set("refs/heads/a/b", two)], { now }).refused, {
      "refs/heads/a/b": "'refs/heads/a' exists; cannot create 'refs/heads/a/b'",
    });
    assertEquals(plan([set("refs/heads/a/b", two), gone("refs/heads/a")], { now }).refused, {});
  });

  it("refuses the second of two new refs that exclude each other", () => {
    const { refused } = plan([set("refs/heads/a", one), set("refs/heads/a/b", one)], { now: {} });
    assertEquals(Object.keys(refused), ["refs/heads/a/b"]);
  });
});

describe("chooseHead", () => {
  const choose = (refs: string[], now: Record<string, Oid> = {}) =>
    chooseHead(manifestOf(now, "refs/heads/trunk"), refs.map((ref) => ({ ref, new: one })));

  it("takes the only branch, else main, else master, else the first", () => {
    assertEquals(choose(["refs/heads/dev"]), "refs/heads/dev");
    assertEquals(
      choose(["refs/heads/a", "refs/heads/master", "refs/heads/main"]),
      "refs/heads/main",
    );
    assertEquals(choose(["refs/heads/a", "refs/heads/master"]), "refs/heads/master");
    assertEquals(choose(["refs/heads/b", "refs/heads/a"]), "refs/heads/b");
  });

  it("leaves HEAD where it is when its branch comes along, when there are branches, and for tags", () => {
    assertEquals(choose(["refs/heads/dev", "refs/heads/trunk"]), undefined);
    assertEquals(choose(["refs/heads/dev"], { "refs/heads/x": one }), undefined);
    assertEquals(choose(["refs/tags/v1"]), undefined);
  });
});
