import { deflateSync } from "node:zlib";
import { change, describeHostile, file, held, root } from "../support/hostile.ts";
import { deltaOn, handmade, insertDelta, packOf, varint, whole } from "../support/owner.ts";

describeHostile("takes no pack", (it) => {
  it("whose deltas lean on what is nowhere, on each other or on more than is allowed", async ({ refused, branch, record, refsWith, owner }) => {
    const nowhere = "1".repeat(40);
    const delta = insertDelta(10, file.bytes);
    await refused(
      () => branch(change.oid, packOf(change.entry, root.entry, deltaOn(nowhere, delta))),
      new RegExp(nowhere),
    );
    const [one, two] = [handmade("blob", "one"), handmade("blob", "two")];
    await refused(
      () =>
        branch(
          change.oid,
          packOf(
            change.entry,
            root.entry,
            deltaOn(two.oid, insertDelta(3, one.bytes)),
            deltaOn(one.oid, insertDelta(3, two.bytes)),
          ),
        ),
      /base|lean/,
    );
    // Each byte short: the chain of 4,200 deltas fits a record.
    const chain = [whole("blob", Uint8Array.of(0, 0))];
    for (let i = 1; i <= 4200; i++) {
      const before = chain.at(-1)?.length ?? 0;
      chain.push(deltaOn(before, insertDelta(2, Uint8Array.of(i >> 8, i))));
    }
    const blob = await owner.upload(packOf(...chain));
    await refused(
      async () => ({
        refs: refsWith({ "refs/heads/evil": change.oid }),
        packs: [
          await record(packOf(...chain), { objects: 4201, blobs: [blob] }),
        ],
      }),
      /chain of more than 4095 deltas/,
    );
  });

  it("that would inflate to more than it may", async ({ refused, branch }) => {
    const huge = 10 * 2 ** 30;
    const zeros = deflateSync(new Uint8Array(1 << 20));
    for (const kind of ["blob", "tree", "commit"] as const) {
      await refused(
        () =>
          branch(change.oid, packOf(whole(kind, new Uint8Array(), { size: huge, data: zeros }))),
        /object of 10737418240 bytes is over the limit/,
      );
    }
    // It says one byte and inflates to a million, or says much and has little.
    await refused(
      () => branch(change.oid, packOf(whole("blob", Uint8Array.of(0), { data: zeros }))),
      /inflate|longer|size|damaged/,
    );
    await refused(
      () =>
        branch(
          change.oid,
          packOf(whole("blob", Uint8Array.of(0), { size: 2 ** 30, data: zeros })),
        ),
      /inflates to 1048576 bytes, not the 1073741824/,
    );
    const delta = Uint8Array.from([
      ...varint(held.bytes.length),
      ...varint(huge),
      0x80 | 0x10,
      1,
    ]);
    await refused(
      () => branch(change.oid, packOf(deltaOn(held.oid, delta))),
      /object of 10737418240 bytes is over the limit/,
    );
  });

  it("that is small and would take all memory or hours", async ({ refused, branch }) => {
    const base = handmade("blob", new Uint8Array(1 << 23));
    const copies = (times: number, ...more: number[]) =>
      Uint8Array.from([
        ...varint(1 << 23),
        ...varint(times * 0x7fffff + more.length / 2),
        ...Array.from({ length: times }, () => [0xf0, 0xff, 0xff, 0x7f]).flat(),
        ...more,
      ]);
    await refused(
      () => branch(change.oid, packOf(base.entry, deltaOn(base.oid, copies(80)))),
      /object of 671088560 bytes is over the limit of 536870912/,
    );
    const many = Array.from({ length: 6 }, (_, i) => deltaOn(base.oid, copies(60, 1, i)));
    await refused(
      () => branch(change.oid, packOf(base.entry, ...many)),
      /inflates to over 2147483648 bytes/,
    );
    for (const kind of ["commit", "tree", "tag"] as const) {
      const entry = whole(kind, new Uint8Array(), { size: 2 ** 28 });
      await refused(() => branch(change.oid, packOf(entry)), /is over the limit of 134217728/);
    }
  });
});
