import type { Complete } from "./completion.ts";
import type { Filter } from "./filter.ts";

/** Completes only what may be named. */
export function completeWithin({ repos }: Filter, complete: Complete): Complete {
  if (repos === undefined) return complete;
  const named = repos.flatMap((repo) => "name" in repo ? [repo] : []);
  return async (name, value, chosen) => {
    const begins = (text: string) => text.startsWith(value.toLowerCase());
    const { owner, repo } = chosen;
    if (name === "owner") return [...new Set(named.map((one) => one.owner))].filter(begins);
    const own = named.filter((one) => one.owner === owner?.toLowerCase());
    if (name === "repo") {
      return own.map((one) => one.name).filter((one) => begins(one.toLowerCase()));
    }
    return own.some((one) => one.name === repo) ? await complete(name, value, chosen) : [];
  };
}
