/** Processes of this machine, as far as needed to tell whether one is still there. */

/** A process at one moment. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Told with the pid, it tells a process from a later one with its number. */
  readonly started: string;
  /** Arguments, the program first; a process may have written over them. */
  readonly command: readonly string[];
}

async function readLinux(pid: number): Promise<Process | undefined> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    const command = await Deno.readTextFile(`/proc/${pid}/cmdline`);
    // The name, in parentheses, may hold anything.
    const [state = "", parent = "", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    return {
      pid,
      parent: Number(parent),
      started: rest[17] ?? "",
      command: command.split(/[\0 ]/).filter(Boolean),
    };
  } catch {
    return undefined;
  }
}

async function readByPs(pid: number): Promise<Process | undefined> {
  const { code, stdout } = await new Deno.Command("ps", {
    args: ["-ww", "-o", "ppid=,stat=,lstart=,command=", "-p", String(pid)],
    env: { LC_ALL: "C" },
    stderr: "null",
  }).output();
  if (code !== 0) return undefined;
  const [parent, state = "", ...rest] = new TextDecoder().decode(stdout).trim().split(/\s+/);
  if (state.startsWith("Z")) return undefined;
  return {
    pid,
    parent: Number(parent),
    started: rest.slice(0, 5).join(" "),
    command: rest.slice(5),
  };
}

/**
 * Gives a running process; one that has ended and was not waited for yet is gone. Windows has
 * neither `/proc` nor `ps`, so there every process is.
 */
export async function readProcess(pid: number): Promise<Process | undefined> {
  if (Deno.build.os === "windows") return undefined;
  return await (Deno.build.os === "linux" ? readLinux(pid) : readByPs(pid));
}
