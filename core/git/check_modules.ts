import { latin1 } from "./bytes.ts";
import type { Fault } from "./fault.ts";
import { type ModuleSetting, parseModules } from "./modules.ts";

/** Lists what git's own check would say of a `.gitmodules` file: names, URLs, paths and commands that attack who clones. */
export function findModulesFaults(bytes: Uint8Array): Fault[] {
  const faults = new Map<string, Fault>();
  // git takes a value to end at a NUL; what stands before it is what it would use.
  for (const setting of parseModules(latin1(bytes))) {
    const id = faultOf(setting);
    if (id !== undefined) {
      faults.set(id, { id, text: `has a submodule git's check calls ${id}`, isOdd: false });
    }
    const { module } = setting;
    if (module === "" || /(^|[/\\])\.\.($|[/\\])/.test(module)) {
      const text = "has a submodule whose name leads out of its place";
      faults.set("gitmodulesName", { id: "gitmodulesName", text, isOdd: false });
    }
  }
  return [...faults.values()];
}

function faultOf({ key, value }: ModuleSetting): string | undefined {
  if (value === undefined) return undefined;
  if (key === "url" && isBadUrl(value)) return "gitmodulesUrl";
  if (key === "path" && value.startsWith("-")) return "gitmodulesPath";
  if (key === "update" && value.startsWith("!")) return "gitmodulesUpdate";
  return undefined;
}

function isBadUrl(url: string): boolean {
  if (url.startsWith("-")) return true;
  if (/^\.\.?[/\\]/.test(url)) {
    if (decoded(url).includes("\n")) return true;
    const [start = ""] = /^(\.\.?[/\\])*/.exec(url) ?? [];
    return start.includes("..") && /^[:/]/.test(url.slice(start.length));
  }
  if (url.startsWith("git://")) return decoded(url).includes("\n");
  const [, web] = /^(?:https?|ftps?)::(.*)$/s.exec(url) ?? [];
  if (web === undefined && !/^(https?|ftps?):\/\//.test(url)) return false;
  const [, place] = /^[^:]+:\/\/([^/?#]*)/.exec(web ?? url) ?? [];
  if (place === undefined) return true;
  return place.slice(place.indexOf("@") + 1) === "" || decoded(web ?? url).includes("\n");
}

function decoded(url: string): string {
  return url.replace(
    /%([0-9a-fA-F]{2})/g,
    (_, digits: string) => String.fromCharCode(parseInt(digits, 16)),
  );
}
