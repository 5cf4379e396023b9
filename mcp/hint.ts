import { type Hint, type KnotlessError, quote } from "../core/errors.ts";
import { type Fact, findFact } from "../core/facts.ts";

/** An error as an assistant reads it: what is wrong, and on a line of its own what to do. */
export function spellError({ message, hint }: KnotlessError, facts: readonly Fact[]): string {
  return hint === undefined ? message : `${message}\n${spellHint(hint, facts)}`;
}

/** Spells advice for an assistant: a command as the tool to call, or for a person to run where it has none. */
export function spellHint(hint: Hint, facts: readonly Fact[]): string {
  if (typeof hint === "string") return hint;
  if ("signIn" in hint) {
    const account = hint.account === undefined ? "" : ` ${quote(hint.account)}`;
    const again = hint.signIn === "none" ? "" : " again";
    return `sign in${again}: run knotless login${account}, or reconnect knotless in your assistant`;
  }
  if ("goOnline" in hint) return "unset KNOTLESS_OFFLINE where this server is started";
  const tool = findFact(hint.command.split(" "), facts)?.fact.tool;
  const args = Object.entries(hint.args ?? {})
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const said = tool === undefined ? `run knotless ${hint.command}` : `call ${tool}`;
  return args.length === 0 ? said : `${said} with ${args.join(", ")}`;
}
