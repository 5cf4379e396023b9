import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import type { WriteContext } from "../core/context.ts";
import { CorruptError, KnotlessError, NotFoundError } from "../core/errors.ts";
import { decideAgain } from "../core/forge/decide_again.ts";
import { isOvertaken, type RefUpdate, shortRef } from "../core/forge/moved.ts";
import type { RepoName } from "../core/forge/names.ts";
import { MOST_NEEDS } from "../core/forge/place_pack.ts";
import { withKeptFile } from "../core/forge/kept_file.ts";
import { publish } from "../core/forge/publish.ts";
import { openWriting, type Writing } from "../core/forge/writing.ts";
import type { Oid } from "../core/git/object.ts";
import type { Received } from "../core/mirror/view.ts";
import { peeledOf } from "../core/mirror/verify.ts";
import type { Env } from "./git.ts";
import { toWire } from "./lines.ts";
import type { Options } from "./options.ts";
import { chooseHead, type Moved, planPush, refuseOthers, type Request } from "./plan.ts";
import type { Resolved } from "./plan.ts";
import {
  findCutOff,
  type Held,
  openPushed,
  packObjects,
  type Pushed,
  resolveSources,
} from "./pushed.ts";

/** A push from the repository at hand to one on the network. */
export interface Push {
  readonly context: WriteContext;
  readonly pushed: Pushed;
  readonly options: Options;
  readonly writing: Writing;
  /** The refs as git was told of them. */
  readonly listed: ReadonlyMap<string, Oid>;
}

/** Opens a push: both repositories must be of a kind that can be pushed to, and the one on the network yours. */
export async function openPush(
  open: () => Promise<WriteContext>,
  named: RepoName,
  { env, options }: { env: Env; options: Options },
): Promise<Push> {
  const opening = open();
  // What is wrong with the repository at hand is said first.
  opening.catch(() => {});
  const pushed = await openPushed(env);
  const context = await opening;
  const writing = await openExisting(context, named);
  const listed = new Map([...writing.manifest.refs].map(([ref, { oid }]) => [ref, oid]));
  return { context, pushed, options, writing, listed };
}

async function openExisting(context: WriteContext, named: RepoName): Promise<Writing> {
  try {
    return await openWriting(context, named);
  } catch (error) {
    if (!(error instanceof NotFoundError) || !("name" in named)) throw error;
    throw new NotFoundError(error.message, {
      code: error.code,
      hint: { command: "repo create", args: { name: named.name } },
    });
  }
}

/** The lines that tell git the refs there are; HEAD is not among them, or `git push --mirror` would delete it. */
export function listRefs({ listed }: Push): string {
  return [...listed].map(([ref, oid]) => `${oid} ${toWire(ref)}\n`).join("");
}

/** Meets the requests that can be met, in one write, and gives the lines that tell git what became of each. */
export async function push(pushing: Push, requests: readonly Request[]): Promise<string> {
  const resolved = await resolveSources(pushing.pushed, requests, pushing.listed);
  const told = new Set<string>();
  return await decideAgain(pushing.writing, async (writing) => {
    const { updates, refused, moved } = await plan(pushing, writing, resolved);
    for (const one of moved) {
      if (!told.has(one.ref)) pushing.context.note(spellMoved(one));
      told.add(one.ref);
    }
    if (updates.size > 0 && !pushing.options.dryRun) {
      await send(pushing, writing, [...updates.values()]);
    }
    return spellResults(requests, refused);
  }, isPlannedAgain);
}

/** A plan on the newest state refuses the refs that another write is in the way of, and the others are tried again. */
function isPlannedAgain(error: unknown): boolean {
  return isOvertaken(error) || error instanceof KnotlessError &&
      ["conflict.ref_names", "refused.current_branch"].includes(error.code);
}

async function plan(
  { pushed, options, listed }: Push,
  { repository, manifest, reading }: Writing,
  resolved: readonly Resolved[],
) {
  const { atomic, leases } = options;
  const { updates, refused, moved } = planPush(resolved, { manifest, listed, leases, atomic });
  if (pushed.roots.length === 0 || updates.size === 0) return { updates, refused, moved };
  const held = heldBy({ repository, manifest, reading });
  const tips = newOids(updates.values());
  const cut = await findCutOff(pushed, tips, held);
  const sound = new Map(updates);
  const unsound = new Map(refused);
  for (const [target, { new: tip }] of updates) {
    if (tip === undefined || !cut.has(tip)) continue;
    sound.delete(target);
    unsound.set(target, "shallow update not allowed");
  }
  return atomic && unsound.size > 0
    ? { updates: new Map<string, RefUpdate>(), refused: refuseOthers(resolved, unsound), moved }
    : { updates: sound, refused: unsound, moved };
}

function newOids(updates: Iterable<RefUpdate>): Oid[] {
  return [...new Set([...updates].flatMap(({ new: oid }) => oid ?? []))];
}

function heldBy({ repository, manifest, reading }: Writing): Held {
  const oids = [...new Set([...manifest.refs.values()].map(({ oid }) => oid))];
  return { path: repository.mirror.path, tips: oids.filter((oid) => reading.objects.has(oid)) };
}

async function send(pushing: Push, writing: Writing, updates: readonly RefUpdate[]): Promise<void> {
  try {
    await write(pushing, writing, updates);
  } catch (error) {
    // The copy here may be damaged: the next push has one that is not.
    if (error instanceof CorruptError) await pushing.context.mirrors.heal({ offline: false });
    throw error;
  }
}

async function write(
  pushing: Push,
  writing: Writing,
  updates: readonly RefUpdate[],
): Promise<void> {
  const { context } = pushing;
  const { repository, manifest, reading } = writing;
  const tips = newOids(updates);
  const key = [repository.uri, ...tips, "", ...heldBy(writing).tips].join("\n");
  await withKeptFile(context, repository.mirror, key, async (file) => {
    const received = tips.length === 0 ? undefined : await bring(pushing, writing, tips, file);
    const objects = received?.reader ?? reading.objects;
    const firstHead = chooseHead(manifest, updates);
    const written = await publish(context, repository, manifest, {
      updates: updates.map((update) => {
        const peeled = update.new === undefined ? undefined : peeledOf(objects, update.new);
        return { ...update, ...(peeled !== undefined && { peeled }) };
      }),
      firstHead,
      received,
    });
    if (firstHead !== undefined && written.record.head === firstHead) {
      context.note(`the default branch of ${repository.spelled} is now ${shortRef(firstHead)}`);
    }
  });
}

/**
 * Packs what is new, unless an earlier push has, and has the mirror check it; undefined when every object is there
 * already.
 */
async function bring(
  { pushed, options }: Push,
  writing: Writing,
  tips: readonly Oid[],
  file: string,
): Promise<Received | undefined> {
  const { mirror } = writing.repository;
  const held = heldBy(writing);
  const part = `${file}.part`;
  const isThin = held.tips.length > 0;
  const whole = { held, file: part, isThin: false, isHeard: false };
  if (!existsSync(file)) {
    const first = { ...whole, isThin, isHeard: options.progress };
    const { objects, isBulk } = await packObjects(pushed, tips, first);
    if (objects === 0) {
      const missing = tips.find((oid) => !writing.reading.objects.has(oid));
      if (missing !== undefined) throw new CorruptError(`git did not pack ${missing}`);
      return undefined;
    }
    // What many readers will fetch must not lean on much else.
    if (isThin && isBulk) await packObjects(pushed, tips, whole);
    await rename(part, file);
  }
  const received = await mirror.receive(file, tips);
  if (received.needs.length <= MOST_NEEDS) return received;
  await mirror.discard(received);
  await packObjects(pushed, tips, whole);
  await rename(part, file);
  return await mirror.receive(file, tips);
}

function spellMoved({ ref, old, now }: Moved): string {
  if (old === undefined) return `${ref} exists: it is at ${now}`;
  return now === undefined
    ? `${ref} is gone: it was ${old}`
    : `${ref} moved: it was ${old}, it is now ${now}`;
}

function spellResults(
  requests: readonly Request[],
  refused: ReadonlyMap<string, string>,
): string {
  return requests.map(({ target }) => {
    const why = refused.get(target);
    return why === undefined ? `ok ${target}\n` : `error ${target} ${toWire(why)}\n`;
  }).join("");
}
