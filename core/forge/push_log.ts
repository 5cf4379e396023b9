import { ID, type Refs } from "../atproto/lexicons.gen.ts";
import type { Did } from "../atproto/syntax.ts";
import type { WriteContext } from "../context.ts";
import type { RefUpdate } from "./moved.ts";
import { createSurely } from "./write_again.ts";

type Push = Refs["log"][number];

const MOST_PUSHES = 32;
/** Over this many bytes of JSON the older half moves to a record, so that a push stays small. */
const LOG_BYTES = 8_000;
/** Over this many updates a push's are in records of their own. */
const INLINE_UPDATES = 20;
const RECORD_UPDATES = 400;

/**
 * The manifest's log with one push more; what it no longer holds goes to dev.knotless.log records first, whose rkeys are
 * put into `records`.
 */
export async function logPush(
  context: WriteContext,
  repo: string,
  log: readonly Push[],
  { id, by, updates }: { id: string; by: Did; updates: readonly RefUpdate[] },
  records: string[],
): Promise<Push[]> {
  const told = updates.map(({ ref, old, new: made }) => ({
    ref,
    ...(old !== undefined && { old }),
    ...(made !== undefined && { new: made }),
  }));
  const write = async (pushes: Push[]): Promise<string> => {
    const { rkey } = await createSurely(context, ID.log, { repo, pushes });
    records.push(rkey);
    return rkey;
  };
  let push: Push = { id, by, updates: told };
  if (told.length > INLINE_UPDATES) {
    let record: string | undefined;
    for (let start = 0; start < told.length; start += RECORD_UPDATES) {
      const rkey = await write([{ id, by, updates: told.slice(start, start + RECORD_UPDATES) }]);
      record ??= rkey;
    }
    push = { id, by, updates: [], ...(record !== undefined && { record }) };
  }
  const next = [...log, push];
  if (next.length <= MOST_PUSHES && JSON.stringify(next).length <= LOG_BYTES) return next;
  const older = next.splice(0, Math.ceil(next.length / 2));
  await write(older);
  return next;
}
