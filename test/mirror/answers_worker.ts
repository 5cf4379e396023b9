/**
 * A process of its own that keeps answers beside a mirror and asks for those that others keep; says on stdout how many it
 * was given and how many of those were not what they should be.
 */
import process from "node:process";
import { PATCHES } from "../../core/mirror/answer_forms.ts";
import { Answers } from "../../core/mirror/answers.ts";
import { seededRandom } from "../support/random.ts";

const [path = "", seed = "1"] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const room = { memory: 0, disk: 1 << 18, files: 12 };
let given = 0;
let wrong = 0;
for (let round = 0; round < 300; round++) {
  const number = Math.floor(random() * 20);
  const bytes = new Uint8Array(number * 1000).fill(number);
  const patch = {
    path: bytes.subarray(0, 3).map(() => 65),
    bytes,
    added: number,
    removed: 0,
    lines: 9,
  };
  const answers = new Answers(path, "1", PATCHES, room);
  const found = answers.get(`${number}`, new Date());
  if (found === undefined) {
    await answers.set(`${number}`, [patch], { now: new Date(), isCostly: true });
    continue;
  }
  given++;
  const [only, ...others] = found;
  const isRight = others.length === 0 && only?.added === number &&
    only.bytes.length === bytes.length && only.bytes.every((byte) => byte === number);
  if (!isRight) wrong++;
}
process.stdout.write(`${given} ${wrong}\n`);
