import process from "node:process";

/** Sets what the process ends with once nothing is left to do; leaving at once would cut what a pipe has not taken yet. */
export function endWith(status: number): void {
  process.exitCode = status;
  // What was interrupted may hold a stream or a socket that would keep the process.
  if (status === 130) setTimeout(() => process.exit(), 1000).unref();
}
