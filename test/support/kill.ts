/** Kills programs in the middle of their work. */
import { spawn } from "node:child_process";
import process from "node:process";
import type { Proxy } from "./proxy.ts";

/** What a program that is to be killed is run with. */
export interface KillOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Counts the requests of this method only. */
  readonly nsid?: string;
}

/**
 * Runs a program, and kills it and all it started at its request number `at`, which goes on after; false when it ended
 * before. Questions about the PDS itself do not count.
 */
export async function killAt(
  proxy: Proxy,
  at: number,
  [command = "", ...args]: readonly string[],
  { cwd, env, stdin = "", nsid }: KillOptions,
): Promise<boolean> {
  proxy.forget();
  let release = () => {};
  const until = new Promise<void>((resolve) => release = resolve);
  using rule = proxy.inject(
    { ...(nsid && { nsid }), path: /^\/xrpc\/(?!.*describeServer)/, skip: at, times: 1 },
    { kind: "hold", until },
  );
  const child = spawn(command, args, {
    cwd,
    env,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(stdin);
  let isOver = false;
  const over = new Promise<void>((resolve) =>
    child.once("close", () => {
      isOver = true;
      resolve();
    })
  );
  while (rule.hits === 0 && !isOver) await new Promise((resolve) => setTimeout(resolve, 2));
  const isKilled = !isOver;
  if (isKilled) process.kill(-(child.pid ?? 0), "SIGKILL");
  await over;
  release();
  // What goes on without its sender is to have ended.
  while (proxy.seen.some(({ status }) => status === undefined)) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return isKilled;
}
