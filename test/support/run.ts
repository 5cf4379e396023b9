import { spawn } from "node:child_process";

/** What came of a program. */
export interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  /** What `out` is the text of. */
  readonly bytes: Uint8Array;
}

/** Runs a program to its end. */
export async function run(
  program: string,
  args: readonly string[],
  { env, cwd, stdin }: {
    env: Readonly<Record<string, string>>;
    cwd: string;
    stdin?: string | undefined;
  },
): Promise<Ended> {
  const child = spawn(program, [...args], { env, cwd });
  const out: Uint8Array[] = [];
  const err: Uint8Array[] = [];
  child.stdout.on("data", (chunk) => out.push(chunk));
  child.stderr.on("data", (chunk) => err.push(chunk));
  // A program that does not read its stdin may end first.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin ?? "");
  const status = await new Promise<number>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => done(code ?? (signal ? 128 : 1)));
  });
  const bytes = Buffer.concat(out);
  return { status, bytes, out: bytes.toString(), err: Buffer.concat(err).toString() };
}
