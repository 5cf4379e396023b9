import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { statSync } from "node:fs";
import { join } from "node:path";
import {
  AuthError,
  CorruptError,
  NotFoundError,
  RefusedError,
  RemoteError,
  UsageError,
} from "../../core/errors.ts";
import { fetchPack } from "../../core/forge/fetch_pack.ts";
import { readRemoteUrl } from "../../core/forge/remote_url.ts";
import { type Advertised, discover } from "../../core/forge/smart_http.ts";
import { buildLongRepo, buildOddRepo, git, gitBytes, initRepo, tempDir } from "../support/git.ts";
import { type HostOptions, openGitHost } from "../support/http_backend.ts";

const wire = { fetch, signal: new AbortController().signal, progress: () => {} };

/** Serves a folder with one repository of two commits, `app.git`, in it. */
async function openSmallHost(options: HostOptions = {}) {
  const temp = tempDir();
  const dir = buildLongRepo(join(temp.path, "app.git"), { commits: 2, files: 3 });
  const host = await openGitHost(temp.path, options);
  return {
    ...host,
    dir,
    url: host.url,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      temp[Symbol.dispose]();
    },
  };
}

function find(url: string): Promise<Advertised> {
  return discover(readRemoteUrl(url), wire);
}

describe("discover", () => {
  it("gives every ref as git ls-remote does, and the branch of HEAD", async () => {
    using temp = tempDir();
    const dir = join(buildOddRepo(join(temp.path, "odd")), ".git");
    git(dir, "symbolic-ref", "HEAD", "refs/heads/main");
    await using host = await openGitHost(temp.path);
    const { refs, head } = await find(`${host.url}/odd/.git/`);
    const listed = [...refs].map(([ref, oid]) => `${oid}\t${ref}`).join("\n");
    assertEquals(listed, git(dir, "ls-remote", "."));
    assertEquals(head, "refs/heads/main");
  });

  it("follows redirects, and takes the login no further than its origin", async () => {
    await using end = await openSmallHost();
    await using start = await openSmallHost({
      redirects: { "/old/": "/app.git/", "/far/": `${end.url}/app.git/`, "/round/": "/round/" },
    });
    const login = start.url.replace("//", "//ann:secret@");
    const near = await find(`${login}/old`);
    assertEquals(near.remote.url.href, `${start.url}/app.git`);
    assert(start.requests.every(({ authorization }) => authorization !== undefined));
    const far = await find(`${login}/far`);
    assertEquals(far.remote, { url: new URL(`${end.url}/app.git`), authorization: undefined });
    assert(end.requests.every(({ authorization }) => authorization === undefined));
    const before = start.requests.length;
    await assertRejects(() => find(`${start.url}/round`), RemoteError, "answered 302");
    assertEquals(start.requests.length - before, 6);
  });

  it("sends the user and password of the URL, and never shows them", async () => {
    await using host = await openSmallHost({ login: "ann:p@ss:s3cret" });
    const login = `${host.url.replace("//", "//ann:p%40ss%3As3cret@")}/app.git`;
    assertEquals((await find(login)).refs.size, 2);
    for (const url of [`${host.url}/app.git`, login.replace("ann", "bob")]) {
      const error = await assertRejects(() => find(url), AuthError, "is not there, or not for");
      assertEquals([error.exit, error.retryable], [4, false]);
      assert(!/ann|bob|s3cret/.test(JSON.stringify(error) + error.message));
    }
  });

  it("says that there is no repository where there is none", async () => {
    await using host = await openSmallHost();
    await assertRejects(() => find(`${host.url}/none.git`), NotFoundError, "no git repository at");
    host.answerWith({ status: 200, type: "text/html", body: "<html>" });
    await assertRejects(() => find(`${host.url}/app.git`), NotFoundError, "no git repository at");
    host.answerWith({ status: 503 });
    const error = await assertRejects(() => find(`${host.url}/app.git`), RemoteError, "503");
    assert(error.retryable);
  });

  it("says that a host cannot be reached", async () => {
    await using host = await openSmallHost();
    const { url } = host;
    await host[Symbol.asyncDispose]();
    const error = await assertRejects(() => find(`${url}/app.git`), RemoteError, "be reached");
    assert(error.retryable);
  });

  it("takes no list that breaks off or breaks the format for a shorter one", async () => {
    await using host = await openSmallHost();
    const url = `${host.url}/app.git/info/refs?service=git-upload-pack`;
    const list = await (await fetch(url)).text();
    const type = "application/x-git-upload-pack-advertisement";
    const cuts = [list.slice(0, -4), list.slice(0, -20), `${list.slice(0, -30)}0000`, "", "0000"];
    for (const body of [...cuts, list.replace(/[0-9a-f]{40} refs/, "not an oid refs")]) {
      host.answerWith({ status: 200, type, body });
      const error = await assertRejects(() => find(`${host.url}/app.git`), Error);
      assert(error instanceof RemoteError || error instanceof CorruptError, String(error));
    }
    const said = "ERR access denied by \x1b[31mrule";
    const packet = (said.length + 4).toString(16).padStart(4, "0") + said;
    host.answerWith({ status: 200, type, body: packet });
    await assertRejects(() => find(`${host.url}/app.git`), RemoteError, "access denied by \uFFFD");
  });

  it("gives no refs for an empty repository", async () => {
    using temp = tempDir();
    initRepo(join(temp.path, "empty.git"), { bare: true });
    await using host = await openGitHost(temp.path);
    assertEquals((await find(`${host.url}/empty.git`)).refs.size, 0);
  });

  it("refuses a repository of SHA-256 ids, and a shallow one", async () => {
    using temp = tempDir();
    const long = buildLongRepo(join(temp.path, "long"), { commits: 5, files: 2 });
    git(temp.path, "clone", "-q", "--bare", "--depth=1", `file://${long}`, "shallow.git");
    git(temp.path, "init", "-q", "--bare", "--object-format=sha256", "wide.git");
    const wide = join(temp.path, "wide.git");
    const tree = new TextDecoder().decode(gitBytes(wide, "", "mktree")).trim();
    git(wide, "update-ref", "refs/heads/main", git(wide, "commit-tree", "-m", "x", tree));
    await using host = await openGitHost(temp.path);
    await assertRejects(() => find(`${host.url}/shallow.git`), RefusedError, "shallow");
    await assertRejects(() => find(`${host.url}/wide.git`), RefusedError, "SHA-256");
  });
});

describe("fetchPack", () => {
  it("fetches a pack of all, then one of just what is new", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "app.git"), { commits: 300 });
    await using host = await openGitHost(temp.path);
    const found = await find(`${host.url}/app.git`);
    const tip = git(dir, "rev-parse", "main");
    const old = git(dir, "rev-parse", "main~30");
    const file = join(temp.path, "new.pack");
    const fresh = initRepo(join(temp.path, "fresh"), { bare: true });
    for (
      const { haves, expected } of [
        { haves: [], expected: ["main"] },
        { haves: [old], expected: ["main", `^${old}`] },
      ]
    ) {
      await fetchPack(found, { wants: [tip], haves, file }, wire);
      git(fresh, "index-pack", ...(haves.length === 0 ? ["--strict"] : []), file);
      const packed = git(fresh, "verify-pack", "-v", file).split("\n")
        .filter((line) => /^[0-9a-f]{40} /.test(line)).map((line) => line.slice(0, 40)).sort();
      const wanted = git(dir, "rev-list", "--objects", ...expected).split("\n")
        .map((line) => line.slice(0, 40)).sort();
      assertEquals(packed, wanted);
    }
  });

  it("says so when the connection breaks, and what the host says", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "app.git"), { commits: 100 });
    await using host = await openGitHost(temp.path);
    const found = await find(`${host.url}/app.git`);
    const file = join(temp.path, "pack");
    const tip = git(dir, "rev-parse", "main");
    for (const bytes of [0, 3, 20_000]) {
      host.cutAfter(bytes);
      const error = await assertRejects(
        () => fetchPack(found, { wants: [tip], haves: [], file }, wire),
        Error,
      );
      assert(error instanceof RemoteError || error instanceof CorruptError, String(error));
    }
    const gone = "1".repeat(40);
    await assertRejects(
      () => fetchPack(found, { wants: [gone], haves: [], file }, wire),
      RemoteError,
      `not our ref ${gone}`,
    );
    await fetchPack(found, { wants: [tip], haves: [], file }, wire);
    assert(statSync(file).size > 20_000);
  });
});

describe("readRemoteUrl", () => {
  it("takes https, and http to this machine", () => {
    for (
      const url of ["https://git.example/a/b.git", "http://localhost:1/a", "http://127.0.0.1/"]
    ) {
      assertEquals(readRemoteUrl(url).authorization, undefined);
    }
    assertEquals(readRemoteUrl("https://git.example/a/").url.href, "https://git.example/a");
    const login = readRemoteUrl("https://token@git.example/a");
    assertEquals(login.url.href, "https://git.example/a");
    assertEquals(login.authorization, `Basic ${btoa("token:")}`);
  });

  it("refuses anything else without repeating it", () => {
    for (
      const url of [
        "http://u:secret@git.example/a",
        "ssh://u:secret@git.example/a",
        "git@secret.example:a",
        "https://u:secret@/a b",
        "https://u:secret%zz@git.example/a",
        "https://git.example/a?token=secret",
        "/home/secret",
      ]
    ) {
      const error = assertThrows(() => readRemoteUrl(url), UsageError);
      assert(!error.message.includes("secret"), error.message);
    }
  });
});
