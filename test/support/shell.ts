import { spawnSync } from "node:child_process";

/** The words a real shell makes of a line. */
export function shellWords(line: string): string[] {
  const { stdout, stderr, status } = spawnSync("sh", ["-c", `printf '%s\\0' ${line}`]);
  if (status !== 0) throw new Error(`sh does not read ${line}: ${stderr}`);
  return stdout.toString().split("\0").slice(0, -1);
}
