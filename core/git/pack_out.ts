import { createHash } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";

const BUFFER = 1 << 18;

/** A pack being written to a file, through one buffer. */
export class PackOut implements Disposable {
  /** Where the next byte goes. */
  at = 0;
  readonly #fd: number;
  readonly #sha1 = createHash("sha1");
  readonly #sha256 = createHash("sha256");
  readonly #buffer = new Uint8Array(BUFFER);
  #used = 0;

  /** Creates the file and writes the header of a pack with so many objects. */
  constructor(path: string, objects: number) {
    this.#fd = openSync(path, "w");
    const header = new DataView(new ArrayBuffer(12));
    header.setUint32(0, 0x5041434b);
    header.setUint32(4, 2);
    header.setUint32(8, objects);
    this.put(new Uint8Array(header.buffer));
  }

  /** Writes bytes; they may change afterwards. */
  put(bytes: Uint8Array | readonly number[]): void {
    this.at += bytes.length;
    if (this.#used + bytes.length > BUFFER) this.#flush();
    if (bytes.length > BUFFER) {
      this.#write(Uint8Array.from(bytes));
    } else {
      this.#buffer.set(bytes, this.#used);
      this.#used += bytes.length;
    }
  }

  /** Writes the trailer and gives the size of it all and its SHA-256. */
  finish(): { bytes: number; sha256: string } {
    this.#flush();
    const trailer = this.#sha1.digest();
    this.at += trailer.length;
    this.#sha256.update(trailer);
    writeAll(this.#fd, trailer);
    return { bytes: this.at, sha256: this.#sha256.digest("hex") };
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  #write(bytes: Uint8Array): void {
    this.#sha1.update(bytes);
    this.#sha256.update(bytes);
    writeAll(this.#fd, bytes);
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}
