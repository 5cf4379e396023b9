import type { Bench, Measure } from "./bench.ts";
import { openHome } from "../../test/support/home.ts";
import { openNetwork } from "../../test/support/network.ts";

const LINES = 3000;
/** Changing a line may cost this part of rewriting the file, in bytes sent and received. */
const MOST = 1 / 50;

/**
 * One line of a 138 kB file, whose number is not known, changed over MCP two ways: found by repo_search and edited in
 * place, or read and written whole. Bytes are those of the calls' arguments and of their answers' text.
 */
export const longEdit: Bench = async () => {
  await using network = await openNetwork({ own: true });
  await using home = await openHome(network);
  const repo = `${home.account.handle}/long`;
  let sent = 0;
  let received = 0;
  const ask = async (name: string, args: object): Promise<string> => {
    const { texts: [text = ""], isError } = await home.tool(name, args);
    if (isError) throw new Error(`${name}: ${text}`);
    sent += JSON.stringify(args).length;
    received += new TextEncoder().encode(text).length;
    return text;
  };
  const taken = () => {
    const bytes = { sent, received };
    sent = received = 0;
    return bytes;
  };
  await ask("repo_create", { name: "long" });
  const content = Array.from({ length: LINES }, (_, line) => lineAt(line)).join("");
  const changes = [{ path: "src/long.ts", content }];
  await ask("repo_commit", { repo, message: "Begin", changes });
  taken();

  const text = await ask("repo_read", { repo, path: "src/long.ts" });
  const whole = text.replace("value(1500)", "value(-1500)");
  await ask("repo_commit", {
    repo,
    message: "Negate",
    changes: [{ path: "src/long.ts", content: whole }],
  });
  const before = taken();

  await ask("repo_search", { repo, text: "value(1600)", path: "src/long.ts", context: 1 });
  await ask("repo_commit", {
    repo,
    message: "Negate",
    changes: [{ path: "src/long.ts", edits: [{ old: "value(1600)", new: "value(-1600)" }] }],
  });
  const now = taken();

  const bytes = (name: string, value: number, limit?: number): Measure => ({
    name,
    value,
    unit: "B",
    ...(limit !== undefined && { limit }),
  });
  return [
    bytes(`read and write ${content.length} B whole, sent`, before.sent),
    bytes("read and write it whole, received", before.received),
    bytes("search and edit, sent", now.sent, 313),
    bytes("search and edit, received", now.received, 634),
    {
      name: "search and edit, part of reading and writing",
      value: (now.sent + now.received) / (before.sent + before.received),
      unit: "",
      limit: MOST,
    },
  ];
};

function lineAt(line: number): string {
  return `export const name${line} = value(${line}); // ${"-".repeat(6)}\n`;
}
