import { spawn } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";

/** What a program took, in milliseconds; what it started itself counts. */
export interface Taken {
  readonly wall: number;
  readonly cpu: number;
}

/** How a program is run. */
export interface Manner {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const POLL_MS = 20;

/** Runs a program to its end and gives what it took; one that fails is an error. */
export async function timed(command: readonly string[], manner: Manner = {}): Promise<Taken> {
  // The shell tells what the kernel counted for its children, which no API of the runtime does.
  const script = 'TIMEFORMAT="took %3R %3U %3S"; time "$@" < /dev/null > /dev/null';
  const child = spawn("bash", ["-c", script, "bash", ...command], {
    stdio: ["ignore", "ignore", "pipe"],
    cwd: manner.cwd,
    env: { ...Deno.env.toObject(), LC_ALL: "C", ...manner.env },
  });
  let said = "";
  child.stderr.on("data", (part) => said += part);
  const status = await new Promise((resolve) => child.once("close", resolve));
  const [, wall, user, system] = /^took (\S+) (\S+) (\S+)$/m.exec(said) ?? [];
  if (status !== 0 || wall === undefined) throw new Error(`${command.join(" ")}: ${said}`);
  return { wall: Number(wall) * 1000, cpu: (Number(user) + Number(system)) * 1000 };
}

/** The median wall time and the least CPU time of so many runs. */
export async function often(times: number, run: () => Promise<Taken>): Promise<Taken> {
  const taken: Taken[] = [];
  for (let at = 0; at < times; at++) taken.push(await run());
  return {
    wall: median(taken.map(({ wall }) => wall)),
    cpu: Math.min(...taken.map(({ cpu }) => cpu)),
  };
}

/** The number in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** Runs `work`, and gives the most memory, in MB, that a process of the program had meanwhile; NaN where none can tell. */
export async function peakOf(program: string, work: () => Promise<unknown>): Promise<number> {
  let peak = NaN;
  let isDone = false;
  const watch = async () => {
    while (!isDone) {
      for (const pid of await processesOf(program)) {
        const now = await memoryOf(pid);
        if (!(now <= peak)) peak = now;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  const watching = watch();
  try {
    await work();
  } finally {
    isDone = true;
    await watching;
  }
  return peak;
}

/** The most memory that a process has had so far, in MB. */
export async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024;
}

/** The CPU milliseconds that a process has used so far. */
export async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // In ticks, of which Linux counts a hundred a second.
  return (Number(fields[11] ?? NaN) + Number(fields[12] ?? NaN)) * 10;
}

async function processesOf(program: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    const path = await readlink(`/proc/${name}/exe`).catch(() => "");
    if (path === program) found.push(Number(name));
  }
  return found;
}
