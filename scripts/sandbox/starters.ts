/**
 * Who started this process. A signal to `npx` or to `deno task` does not always reach what runs
 * inside, and what is killed tells nobody: so the processes between are remembered and looked for.
 */
import { type Process, readProcess } from "./processes.ts";

const interval = 500;

function baseName(path: string | undefined): string {
  return (path ?? "").replace(/^.*[/\\]/, "").replace(/\.(exe|js|cjs|cmd)$/, "");
}

function isNpm({ command: [program, script] }: Process): boolean {
  return /^np[mx]$/.test(baseName(program)) || /^np[mx](-cli)?$/.test(baseName(script));
}

/** True for a process that only passes on: `sh -c …`, `deno task …`, the script around `deno`. */
function passesOn({ command: [program, first = ""] }: Process): boolean {
  const name = baseName(program);
  if (/^(ba|da|z|k)?sh$/.test(name)) return /^-[a-z]*c$/.test(first);
  if (name === "deno") return first === "task";
  return name === "node" && /[/\\](deno[/\\]bin\.cjs|\.bin[/\\]deno)$/.test(first);
}

/**
 * Gives the processes that this one must not outlive, nearest first: up to the nearest npm or npx
 * when only such as pass on lie between, else up to the first that does something of its own.
 */
export async function findStarters(
  pid: number,
  read: (pid: number) => Promise<Process | undefined> = readProcess,
): Promise<Process[]> {
  const starters: Process[] = [];
  for (let at = pid; at > 1;) {
    const found = await read(at);
    if (!found) break;
    starters.push(found);
    if (isNpm(found) || !passesOn(found)) break;
    at = found.parent;
  }
  return starters;
}

/** Answers when one of the processes is gone; never when there are none. */
export function untilOneIsGone(processes: readonly Process[]): Promise<void> {
  return new Promise((done) => {
    const look = async () => {
      for (const { pid, started } of processes) {
        if ((await readProcess(pid))?.started !== started) return done();
      }
      Deno.unrefTimer(setTimeout(look, interval));
    };
    if (processes.length > 0) look();
  });
}
