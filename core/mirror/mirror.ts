import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../atproto/identity.ts";
import { ID, type Refs } from "../atproto/lexicons.gen.ts";
import { atUri } from "../atproto/syntax.ts";
import { CorruptError, OfflineError, RemoteError } from "../errors.ts";
import type { Oid } from "../git/object.ts";
import { type ObjectStore, openStore } from "../git/store.ts";
import { withLock } from "../lock.ts";
import { spellAge } from "./age.ts";
import { CHAINS, Chains, readChains, writeChains } from "./chains.ts";
import { fetchManifest } from "./fetch_manifest.ts";
import type { Manifest } from "./manifest.ts";
import { isIntact, keepLists, placeRefs, sizeOfPacks, UNVERIFIED } from "./place.ts";
import {
  listedIn,
  readState,
  type Sealed,
  type State,
  takeSealed,
  trimState,
  writeState,
} from "./state.ts";
import type { Freshness, Latest, Received, View } from "./view.ts";
import type { World } from "./world.ts";

/** What mirrors need of the world. */
export interface Surroundings extends World {
  readonly cacheDir: string;
  /** The object stores that this process has open, by path: they outlive a call. */
  readonly stores: Map<string, OpenStore>;
  note(text: string): void;
}

/** A mirror's objects, and the CID of the manifest at which this process last looked which packs there are. */
export interface OpenStore {
  readonly objects: ObjectStore;
  cid?: string;
}

/**
 * One repository's copy on this machine: a bare git repository made from the packs in its owner's PDS. What changes it is
 * loaded when it does: most commands only read what is here.
 */
export class Mirror {
  /** Where the copy is, whether there is one or not. */
  readonly path: string;
  /** The AT URI of the repository. */
  readonly uri: string;
  readonly #world: Surroundings;

  constructor(world: Surroundings, readonly account: Account, readonly rkey: string) {
    this.#world = world;
    this.path = join(world.cacheDir, account.did.replaceAll(":", "_"), rkey);
    this.uri = atUri(account.did, ID.repo, rkey);
  }

  /** What the mirror knows of itself; undefined when it has never been synced, or lacks what it knows of. */
  state(): State | undefined {
    let seen: string | undefined;
    for (;;) {
      const state = readState(this.path);
      if (state === undefined) return undefined;
      if (isIntact(this.path, state.packs, [UNVERIFIED, CHAINS])) return state;
      // Another process may have joined packs between the two looks.
      const names = [...state.packs.values()].join();
      if (names === seen) return undefined;
      seen = names;
    }
  }

  /** The repository, brought up to date as `freshness` asks; a copy that cannot be refreshed is used with a note. */
  async view(freshness: Freshness): Promise<View> {
    try {
      return await this.#view(freshness);
    } catch (error) {
      const { offline } = freshness;
      if (!(error instanceof CorruptError) || !await this.heal({ offline })) throw error;
      return await this.#view(freshness);
    }
  }

  async #view({ offline, maxAge, strict = false }: Freshness): Promise<View> {
    const state = this.state();
    const age = state && this.#world.now().getTime() - state.checkedAt;
    if (state && age !== undefined && (offline || (age >= 0 && age < maxAge))) {
      return this.#viewOf(state);
    }
    if (offline) {
      throw new OfflineError(`no copy of ${this.uri} is on this machine`, this.account.pds);
    }
    try {
      return (await this.latest()).view;
    } catch (error) {
      if (!(error instanceof RemoteError) || !state || strict) throw error;
      this.#world.note(`${error.message}; this is the copy of ${spellAge(age ?? 0)} ago`);
      return this.#viewOf(state);
    }
  }

  /** The manifest as the owner's PDS has it now; the mirror stays as it is. */
  async manifest(): Promise<Manifest> {
    return await this.#read();
  }

  /**
   * The manifest as the owner's PDS has it now, and the repository synced to it; `isWhole` has every pack of the manifest
   * here as it is, folds too whose objects are held already. With `toWrite` the objects of a manifest that went back
   * are taken too, so that its owner can publish above it.
   */
  async latest(how: { isWhole?: boolean; toWrite?: boolean } = {}): Promise<Latest> {
    return await this.#locked(async () => {
      try {
        return await this.#sync(how);
      } catch (error) {
        if (!(error instanceof CorruptError) || !await this.#heal({ offline: false })) throw error;
        return await this.#sync(how);
      }
    });
  }

  /**
   * Looks whether the packs are as they were written. A damaged copy is taken away, so that the next look makes it again;
   * true when it was. Offline it stays, and is a CorruptError.
   */
  async heal(how: { offline: boolean }): Promise<boolean> {
    return await this.#locked(() => this.#heal(how));
  }

  /** The paths, without their ending, of the indexes of these of the manifest's packs, all held whole. */
  async packPaths(listed: Refs["packs"]): Promise<string[]> {
    const { listPath } = await import("./consolidate.ts");
    const state = this.state();
    return await Promise.all(listed.map(async ({ cid, rkey }) => {
      const sha256 = state?.records.get(cid) ?? "";
      const name = state?.packs.get(sha256);
      if (!name) throw new CorruptError(`the pack ${rkey} of ${this.uri} is not on this machine`);
      return await listPath(this.path, sha256, name);
    }));
  }

  /**
   * Indexes a pack, its bytes or the path of its file, into a folder of its own and refuses it unless every object is sound
   * and all that `tips` reach is held. The mirror itself does not change until `advance`.
   */
  async receive(pack: Uint8Array | string, tips: readonly Oid[]): Promise<Received> {
    const { receivePack } = await import("./receive.ts");
    return await receivePack(this.#world, this.path, this.#objects(), { pack, tips });
  }

  /** Forgets a received pack. */
  async discard({ folder, close }: Received): Promise<void> {
    close();
    await rm(folder, { recursive: true, force: true });
  }

  /**
   * Takes over what a write has made of the repository: its manifest, the pack that came with it, and the pack records
   * made for it. A mirror that has moved meanwhile keeps what it has and takes the rest at its next look.
   */
  async advance(
    manifest: Manifest,
    received: Received | undefined,
    made: readonly Sealed[],
  ): Promise<void> {
    await this.#locked(async () => {
      const state = this.state();
      const packs = new Map(state?.packs);
      let chains = readChains(this.path) ?? new Chains();
      if (received) {
        const { keepReceived } = await import("./receive.ts");
        await keepReceived(this.#world, this.path, received);
        const { sha256, name } = received;
        packs.set(sha256, name);
        const isInTail = manifest.record.tail.some((one) => one.sha256 === sha256);
        if (isInTail || received.needs.length > 0) chains = chains.with(sha256, received.chains);
        this.#objects().refresh();
      }
      if (state?.cid === manifest.record.prev) {
        const next = takeSealed({ ...this.#next(manifest, state), packs }, made);
        for (const { sha256, folds, isThin } of made) {
          if (isThin) chains = chains.joined(sha256, folds);
        }
        chains = chains.of(listedIn(manifest.record, next.records));
        await writeChains(this.path, chains, this.#world.unique());
        await this.#place(next, manifest.record);
      } else if (state) {
        await writeChains(this.path, chains, this.#world.unique());
        await writeState(this.path, { ...state, packs }, this.#world.unique());
      }
    });
  }

  /** The bytes of packs and indexes that the copy takes up on this machine. */
  async bytes(): Promise<number> {
    return await sizeOfPacks(this.path);
  }

  /** Removes the copy from this machine. */
  async remove(): Promise<void> {
    await this.#locked(async () => {
      this.#close();
      await rm(this.path, { recursive: true, force: true });
    });
  }

  async #heal({ offline }: { offline: boolean }): Promise<boolean> {
    const { clearCopy, dropDamagedCover, dropDamagedIndexes, isDamaged } = await import(
      "./damage.ts"
    );
    const { signal } = this.#world;
    // An index that is gone is not missed.
    const isCoverBad = await dropDamagedCover(this.path, signal);
    const isIndexBad = await dropDamagedIndexes(this.path) || isCoverBad;
    const isBad = await isDamaged(this.path, signal);
    if (isBad && offline) {
      throw new CorruptError(`the copy of ${this.uri} on this machine is damaged`, {
        code: "corrupt.copy",
        hint: `it is made again where the network may be asked; it can be deleted: ${this.path}`,
      });
    }
    // Another process may have made again what is still open here.
    this.#close();
    if (!isBad) return isIndexBad;
    await clearCopy(this.path);
    this.#world.note(`the copy of ${this.uri} on this machine was damaged: it is made again`);
    return true;
  }

  async #sync(how: { isWhole?: boolean; toWrite?: boolean }): Promise<Latest> {
    const { LostPackError } = await import("./sync.ts");
    let manifest = await this.#read();
    for (let again = true;; again = false) {
      try {
        return { manifest, view: await this.#syncTo(manifest, how) };
      } catch (error) {
        if (!(error instanceof LostPackError) || !again) throw error;
        // A fold may have retired the pack since the manifest was read; the same generation means it is lost.
        const newer = await this.#read();
        if (newer.record.generation === manifest.record.generation) throw error;
        manifest = newer;
      }
    }
  }

  async #syncTo(
    manifest: Manifest,
    { isWhole = false, toWrite = false }: { isWhole?: boolean; toWrite?: boolean },
  ): Promise<View> {
    const state = this.state();
    const { generation } = manifest.record;
    const isThere = !isWhole || manifest.record.packs.every(({ cid }) => packName(state, cid));
    if (state && state.cid === manifest.cid && isThere) {
      const checked = { ...state, checkedAt: this.#world.now().getTime() };
      await placeRefs(this.path, state.head, state.refs, this.#world.unique());
      await writeState(this.path, checked, this.#world.unique());
      return this.#viewOf(checked);
    }
    const isBack = state !== undefined && state.cid !== manifest.cid &&
      generation <= state.generation;
    if (isBack) {
      this.#world.note(
        `${manifest.uri} went back: it is at generation ${generation} (${manifest.cid}), ` +
          `this machine has seen ${state.generation} (${state.cid}); the copy stays as it was`,
      );
      if (!toWrite) return this.#viewOf(state);
    }
    // What the state says is held, another process may have brought since this one looked.
    const held = state ? this.#viewOf(state).objects : this.#objects();
    const { account, path } = this;
    const { bringPacks } = await import("./bring.ts");
    const bringing = { account, path, held, state, manifest, isWhole };
    const { packs, records, waiting } = await bringPacks(this.#world, bringing);
    this.#objects().refresh();
    const next = { ...(isBack ? state : this.#next(manifest, state)), packs, records };
    const placed = await this.#place(next, isBack ? undefined : manifest.record);
    await rm(waiting, { recursive: true, force: true });
    return this.#viewOf(placed);
  }

  #next(manifest: Manifest, state: State | undefined): State {
    const { record: { generation, head }, cid, refs } = manifest;
    return {
      uri: this.uri,
      generation,
      cid,
      head,
      refs,
      packs: state?.packs ?? new Map(),
      records: state?.records ?? new Map(),
      checkedAt: this.#world.now().getTime(),
    };
  }

  /** Refs last: all that they reach is there by now. */
  async #place(next: State, record: Refs | undefined): Promise<State> {
    const state = record === undefined ? next : trimState(next, record);
    await keepLists(this.path, state.packs);
    await placeRefs(this.path, state.head, state.refs, this.#world.unique());
    await writeState(this.path, state, this.#world.unique());
    const { consolidate } = await import("./consolidate.ts");
    const joined = await consolidate(this.path, state, {
      store: this.#objects(),
      unique: () => this.#world.unique(),
      signal: this.#world.signal,
      progress: (text, done, total) => this.#world.progress(text, done, total),
    });
    const { coverPacks } = await import("./cover.ts");
    await coverPacks(this.path, this.#world.unique());
    return joined;
  }

  async #read(): Promise<Manifest> {
    return await fetchManifest(this.#world.records, this.account, this.rkey);
  }

  #viewOf({ head, refs, generation, cid, checkedAt }: State): View {
    const open = this.#open();
    // Another process may have brought packs since this one looked.
    if (open.cid !== cid) open.objects.refresh();
    open.cid = cid;
    return { head, refs, objects: open.objects, generation, cid, checkedAt };
  }

  #objects(): ObjectStore {
    return this.#open().objects;
  }

  #open(): OpenStore {
    const { stores } = this.#world;
    const open = stores.get(this.path) ?? { objects: openStore(this.path) };
    stores.set(this.path, open);
    return open;
  }

  #close(): void {
    this.#world.stores.get(this.path)?.objects.close();
    this.#world.stores.delete(this.path);
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    return await withLock(`${this.path}.lock`, this.#world.signal, work);
  }
}

/** The git pack made of the pack whose record has the CID; empty when what it folds is held in its place. */
function packName(state: State | undefined, cid: string): string | undefined {
  return state?.packs.get(state.records.get(cid) ?? "");
}
