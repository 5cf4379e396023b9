import { Console } from "node:console";
import process from "node:process";

let isClaimed = false;

/**
 * Takes stdout for the protocol alone: whatever else prints there is sent to stderr from here on. To be called before
 * the code of others is loaded, and no earlier: it opens streams, which takes more time than all the rest of a start.
 */
export function claimStdout(): void {
  if (isClaimed) return;
  isClaimed = true;
  const { stderr } = process;
  Object.defineProperty(process, "stdout", { configurable: true, get: () => stderr });
  globalThis.console = new Console(stderr, stderr);
}
