/** A program for the bench: indexes the pack it is given into a folder, and follows what its objects lead to. */
import process from "node:process";
import { indexPack } from "../../core/git/index_pack.ts";
import { Links } from "../../core/git/links.ts";
import { PACK_LIMITS } from "../../core/mirror/arrive.ts";

const [pack = "", outDir = ""] = process.argv.slice(2);
await indexPack(pack, { outDir, limits: PACK_LIMITS, complete: true, links: new Links() });
