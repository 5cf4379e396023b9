import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

async function pages(): Promise<string[]> {
  const top = (await readdir(ROOT)).filter((name) => name.endsWith(".md"));
  const docs = await readdir(join(ROOT, "docs"), { recursive: true });
  return [...top, ...docs.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
}

describe("the pages", () => {
  it("link to pages that are there", async () => {
    const broken: string[] = [];
    for (const page of await pages()) {
      const text = await readFile(join(ROOT, page), "utf8");
      for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        if (!existsSync(join(ROOT, dirname(page), target))) broken.push(`${page}: ${target}`);
      }
    }
    assertEquals(broken, []);
  });

  it("of the architecture name files that are there", async () => {
    const text = await readFile(join(ROOT, "ARCHITECTURE.md"), "utf8");
    const named = new Set(
      [...text.matchAll(/\b(?:main\.ts|(?:cli|core|mcp|remote|scripts|lexicons)\/[\w./]*)/g)]
        .map(([path]) => path.replace(/\.$/, "")),
    );
    assert(named.size > 20, `only ${named.size} names are found`);
    assertEquals([...named].filter((path) => !existsSync(join(ROOT, path))), []);
  });
});
