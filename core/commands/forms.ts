import { count, flag, many, object, optional, text } from "../form.ts";

/** The commit that an answer is of, or that a command made. */
export const commitId = text("the commit's id");

/** How a list ends that was cut. */
export const cut = {
  more: optional(flag("true when the list was cut")),
  cursor: optional(text("with it the next call goes on")),
};

/** A commit's author or committer. */
export const person = object({ name: text(), email: text(), date: text() });

/** What a tag or a branch points at. */
export const sha = text("an object's id");

/** A repository that another is made of. */
export const source = object({ repo: text(), uri: text() });

/** The files of a diff that is too long to give. */
export const files = many(
  object({ path: text(), added: count(), removed: count(), lines: count("of its diff") }),
);
