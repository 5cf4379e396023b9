import { join } from "node:path";
import type { Account } from "./atproto/identity.ts";
import { readText } from "./files.ts";
import { parseGitConfig } from "./git_config.ts";

/** Who the commits are by that knotless makes: user.name and user.email of the config file, else the handle. */
export function readAuthor(
  configDir: string,
  { did, handle }: Account,
): { name: string; email: string } {
  const shown = handle === "handle.invalid" ? did : handle;
  const settings = parseGitConfig(readText(join(configDir, "config")) ?? "");
  const find = (key: string) => settings.findLast((setting) => setting.key === key)?.value;
  return {
    name: find("user.name") || shown,
    // A colon is fit for no mail address.
    email: find("user.email") || `${shown.replaceAll(":", "_")}@noreply.knotless.dev`,
  };
}
