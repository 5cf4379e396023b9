import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { readLogEntry } from "../../core/forge/log_entry.ts";
import { concat, utf8 } from "../../core/git/bytes.ts";
import { openStore } from "../../core/git/store.ts";
import { git, initRepo, putObject, tempDir } from "../support/git.ts";

const PERSON = "A U Thor <a@example.com> 1700000000 +0100";
const OTHER = "Carl <c@example.com> 1700000001 -0230";
const LATIN = Uint8Array.of(0x47, 0xfc, 0x6e);
const FORMAT = "%H%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%s%x00%b";

/** Commits after their tree: the parents' lines and the rest. */
const shapes: readonly (string | Uint8Array)[] = [
  `author ${PERSON}\ncommitter ${PERSON}\n\nsubject\n`,
  `author ${PERSON}\ncommitter ${OTHER}\n\nsubject\n\nbody of\ntwo lines\n`,
  `author ${PERSON}\ncommitter ${PERSON}\n\n\n  \ntwo\nlines  \n \t\nbody\n`,
  `author ${PERSON}\ncommitter ${PERSON}\n\n`,
  `author ${PERSON}\ncommitter ${PERSON}\n`,
  `author  <a@example.com> 1700000000 +0100\ncommitter ${OTHER}\n\nnameless\n`,
  `author A U Thor  <a@example.com> 1700000000 +0100\ncommitter ${PERSON}\n\nspaces\n`,
  `author A U Thor <a@example.com>\ncommitter ${PERSON}\n\nno date\n`,
  `author A U Thor <a@example.com> 99999999999999 +0000\ncommitter ${OTHER}\n\nfar\n`,
  `author A <U> Thor <a@example.com> 1700000000 +0100\ncommitter ${OTHER}\n\nbrackets\n`,
  `author Gün <g@example.com> 1700000000 +0100\ncommitter ${OTHER}\n\nÄpfel\n`,
  `author ${PERSON}\ncommitter ${PERSON}\ngpgsig -----BEGIN-----\n \n abc\n -----END-----\n\nsigned\n\nencoding latin-1\n`,
  `author ${PERSON}\ncommitter ${PERSON}\nencoding UTF-8\n\nnamed Ü\n`,
  `author ${PERSON}\ncommitter ${PERSON}\nmergetag object 1\n encoding ISO-8859-1\n\nmerged Ü\n`,
  concat([
    utf8("author "),
    LATIN,
    utf8(` <g@example.com> 1700000000 +0100\ncommitter ${PERSON}\nencoding ISO-8859-1\n\n`),
    LATIN,
    utf8("\n\n"),
    LATIN,
    utf8("\n"),
  ]),
];

describe("an entry of a log", () => {
  it("tells of commits of every shape what git does", () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "odd"), { bare: true });
    const tree = putObject(dir, "tree", "");
    const made: string[] = [];
    for (const shape of shapes) {
      const lines = `tree ${tree}\n${made.slice(-2).map((oid) => `parent ${oid}\n`).join("")}`;
      const rest = typeof shape === "string" ? utf8(shape) : shape;
      made.push(putObject(dir, "commit", concat([utf8(lines), rest])));
    }
    const store = openStore(dir);
    for (const oid of made) {
      const said = git(dir, "log", "-1", `--format=${FORMAT}`, oid);
      const [sha, parents = "", name, email, time, itsName, itsEmail, itsTime, subject, body = ""] =
        said.split("\0");
      const date = (seconds: string | undefined) =>
        new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z");
      const { author, committer = author, ...entry } = readLogEntry(store, oid);
      assertEquals(
        [entry.sha, entry.parents.join(" "), entry.summary, entry.body ?? ""],
        [sha, parents, subject, body.trimEnd()],
      );
      assertEquals([author.name, author.email], [name, email]);
      assertEquals([committer.name, committer.email], [itsName, itsEmail]);
      if (Number(time) < 1e13) assertEquals(author.date, date(time), said);
      assertEquals(committer.date, date(itsTime));
    }
    store.close();
  });
});
