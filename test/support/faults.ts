/** Faults of a network, and a machine that writes while they come. */
import { fsck } from "./git.ts";
import { describePair, type Pair } from "./pair.ts";
import type { Fault, NetworkProxies } from "./proxy.ts";

/** A server's answer that says what is wrong. */
export function answer(status: number, error = "Wrong", headers = {}): Fault {
  return {
    kind: "answer",
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ error, message: "says the test" }),
  };
}

/** What a test is given: the left machine is the one that suffers. */
export interface Faulty extends Pair {
  /** Those of the left machine. */
  readonly proxies: NetworkProxies;
  /** Commits a file of this content on the left machine as a new process would, and gives the commit. */
  write(content: string | Uint8Array): Promise<string>;
  /** Has git check the left machine's copy. */
  check(): void;
}

/** Describes what comes of faults: each test is given the machines and a repository with one commit. */
export function describeFaults(
  what: string,
  define: (it: (name: string, run: (faulty: Faulty) => Promise<void>) => void) => void,
): void {
  describePair(
    `a network that fails ${what}`,
    (it) =>
      define((name, run) =>
        it(name, async (pair) => {
          const { app, left } = pair;
          const write = async (content: string | Uint8Array) =>
            (await app.commit(left, [
              typeof content === "string"
                ? { path: "file.txt", content }
                : { path: "file.bin", base64: content.toBase64() },
            ])).commit;
          const check = () => fsck(app.repository.mirror.path);
          await write("start\n");
          await run({ ...pair, proxies: left.proxies, write, check });
        })
      ),
  );
}
