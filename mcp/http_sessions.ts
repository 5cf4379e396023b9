import type { Peer } from "./connection.ts";

/** No machine has more clients at once; the one that was quiet the longest has forgotten us. */
const MOST = 64;

/** The sessions that `initialize` began, by the names they were given. */
export class HttpSessions {
  /** The one heard of last is the last. */
  readonly #peers = new Map<string, Peer>();

  begin(name: string, peer: Peer): void {
    this.#peers.set(name, peer);
    for (const [oldest] of this.#peers) {
      if (this.#peers.size <= MOST) break;
      this.end(oldest);
    }
  }

  find(name: string): Peer | undefined {
    const peer = this.#peers.get(name);
    if (peer === undefined) return undefined;
    this.#peers.delete(name);
    this.#peers.set(name, peer);
    return peer;
  }

  /** False when there is no such session. */
  end(name: string): boolean {
    this.#peers.get(name)?.close();
    return this.#peers.delete(name);
  }

  close(): void {
    for (const name of [...this.#peers.keys()]) this.end(name);
  }
}
