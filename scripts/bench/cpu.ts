import { spawnSync } from "node:child_process";

/** So that a start of four milliseconds is not a matter of one. */
const REPEATS = 5;

/** A program, its arguments and what it reads. */
export interface Run {
  readonly name: string;
  readonly command: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Gives the least CPU milliseconds each run took, of `times` rounds in which all take turns, so that a busy machine is
 * busy for all of them alike.
 */
export function leastCpu(runs: readonly Run[], times = 15): Map<string, number> {
  const least = new Map<string, number>();
  for (let round = 0; round < times; round++) {
    for (const run of runs) {
      least.set(run.name, Math.min(least.get(run.name) ?? Infinity, cpuOf(run)));
    }
  }
  return least;
}

/** The shell tells what the kernel counted for its children, which no API of the runtime does; in milliseconds, so of several. */
function cpuOf({ name, command, stdin = "", env }: Run): number {
  const script = `TIMEFORMAT="cpu %3U %3S"
    time for ((at = 0; at < ${REPEATS}; at++)); do "$@" <<< "$STDIN" > /dev/null || exit 1; done`;
  const { status, stderr } = spawnSync("bash", ["-c", script, "bash", ...command], {
    encoding: "utf8",
    env: { ...Deno.env.toObject(), LC_ALL: "C", STDIN: stdin, ...env },
  });
  const [, user, system] = /^cpu (\S+) (\S+)$/m.exec(stderr) ?? [];
  if (status !== 0 || user === undefined) throw new Error(`${name} failed: ${stderr}`);
  return (Number(user) + Number(system)) * 1000 / REPEATS;
}
