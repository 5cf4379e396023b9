/** Variables by which the compiled binary, and any copy of it that a child starts, would stop being knotless. */
const RUNTIME = ["BUN_BE_BUN", "BUN_OPTIONS"];

/** Gives the environment for a program that knotless starts: its own, less what steers the runtime inside the binary. */
export function childEnv(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !RUNTIME.includes(name)));
}
