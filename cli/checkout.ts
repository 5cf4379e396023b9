import { dirname, join, resolve } from "node:path";
import { quote, UsageError } from "../core/errors.ts";
import { lookAt, readText } from "../core/files.ts";
import type { Env } from "./env.ts";
import { parseGitConfig } from "../core/git_config.ts";

/** A repository a checkout is of, and how that was told. */
export interface CheckoutRepo {
  readonly repo: string;
  readonly why: string;
}

/**
 * The knotless repository that the git checkout around `dir` is of; undefined when it is of none. Reads git's files, no
 * more. Throws a UsageError when several are as likely.
 */
export function findCheckoutRepo(dir: string, env: Env): CheckoutRepo | undefined {
  const gitDir = env.GIT_DIR ? resolve(dir, env.GIT_DIR) : findGitDir(dir);
  if (gitDir === undefined) return undefined;
  const head = readSmall(join(gitDir, "HEAD")) ?? "";
  const common = readSmall(join(gitDir, "commondir"));
  const shared = common === undefined ? gitDir : resolve(gitDir, common.trim());
  const config = readSmall(join(shared, "config"));
  return config === undefined ? undefined : chooseRepo(config, head);
}

/** Chooses among a config's repositories: the branch's, the only one, the configured one, origin's. */
export function chooseRepo(config: string, head: string): CheckoutRepo | undefined {
  const settings = new Map(parseGitConfig(config).map(({ key, value }) => [key, value]));
  const remotes = new Map<string, string>();
  for (const [key, value] of settings) {
    const [, name] = /^remote\.(.+)\.url$/s.exec(key) ?? [];
    const repo = name === undefined ? undefined : repoOfUrl(value);
    if (name !== undefined && repo !== undefined) remotes.set(name, repo);
  }
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head.trim())?.[1];
  const upstream = settings.get(`branch.${branch}.remote`);
  const tracked = remotes.get(upstream ?? "");
  if (tracked !== undefined) {
    return { repo: tracked, why: `branch ${branch} tracks remote ${upstream}` };
  }
  const [only, ...others] = new Set(remotes.values());
  const configured = settings.get("knotless.repo");
  if (only !== undefined && others.length === 0) {
    return { repo: only, why: `remote ${[...remotes.keys()].join(", ")}` };
  }
  if (configured) return { repo: configured, why: "git config knotless.repo" };
  const origin = remotes.get("origin");
  if (origin !== undefined) return { repo: origin, why: "remote origin" };
  if (only === undefined) return undefined;
  const listed = [...remotes].map(([name, repo]) => `${quote(repo)} (${quote(name)})`).join(", ");
  throw new UsageError(`this checkout is of several repositories: ${listed}`, {
    hint: `git config knotless.repo ${quote(only)}`,
  });
}

/** The repository a remote's URL names: `knotless://alice.test/app` is `alice.test/app`. */
function repoOfUrl(url: string): string | undefined {
  const [, owner, name] = /^knotless:\/\/([^/\s]+)\/([^/\s]+?)(?:\.git)?\/?$/.exec(url) ?? [];
  return owner && name ? `${owner.replaceAll(/%3a/gi, ":")}/${name}` : undefined;
}

function findGitDir(dir: string): string | undefined {
  for (let at = resolve(dir);; at = dirname(at)) {
    const place = join(at, ".git");
    const found = lookAt(place);
    if (found?.isDirectory()) return place;
    if (found?.isFile()) {
      const [, path] = /^gitdir: (.+)$/m.exec(readSmall(place) ?? "") ?? [];
      return path === undefined ? undefined : resolve(at, path);
    }
    if (at === dirname(at)) return undefined;
  }
}

/** The text of a file that is there and of a reasonable size. */
function readSmall(path: string): string | undefined {
  const found = lookAt(path);
  if (!found?.isFile() || found.size > 1_000_000) return undefined;
  try {
    return readText(path);
  } catch {
    return undefined;
  }
}
