/** Plans which servers of other programs are taken over into the home file. */
import * as Path from "node:path"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import { Definition, decode, encode } from "./Definition.js"
import type { ForeignFile } from "./ForeignFiles.js"
import type * as Foreign from "./internal/Foreign.js"
import * as NamedFiles from "./NamedFiles.js"

/** A definition as it is written in a file. */
export type Written = Readonly<Record<string, unknown>>

/** The decision on a server: it is taken over as it is `written`, or left. */
export type Result = Data.TaggedEnum<{
  Take: { readonly written: Written }
  Leave: { readonly what: string; readonly why: string }
}>

/** Makes a result, and takes one apart with `$match`. */
export const Result = Data.taggedEnum<Result>()

/** A server of a file, and what is done with it. */
export interface Step {
  readonly name: string
  readonly file: ForeignFile
  readonly result: Result
}

/** Writes a value with the names of its objects in order, so that values that are the same are written alike. */
const ordered = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner
  )

const plain = (value: unknown): unknown =>
  Either.match(decode(value), { onLeft: () => value, onRight: ({ definition }) => encode(definition) })

const isBelow = (root: string) => (path: string) => path.startsWith(`${root}/`) && !HostPath.isMissing(path)

/**
 * Gives a server the directory that it was written for: one that names files of the project needs it, and no other gets
 * it, for `npx` would run what the project has installed.
 */
const located = (definition: Definition, root: string): Definition => {
  if (definition._tag === "Http") return definition
  const { args, command, cwd, env } = definition
  if (cwd !== undefined) {
    const isElsewhere = /^[/~]|\$\{/.test(cwd)
    return isElsewhere ? definition : Definition.Stdio({ args, command, env, cwd: Path.resolve(root, cwd) })
  }
  const named = NamedFiles.pathsOf({ args, command, cwd: root, env }, "/", isBelow(root))
  const needs = Either.isRight(named) && named.right.length > 0
  return needs ? Definition.Stdio({ args, command, env, cwd: root }) : definition
}

/**
 * Decides on each server of the files, the first of a name first.
 *
 * @param before the servers that the home file has, as they are written
 * @param home the path of that file
 */
export const plan = (
  found: ReadonlyArray<{ readonly file: ForeignFile; readonly servers: Foreign.Servers }>,
  before: ReadonlyMap<string, unknown>,
  home: string,
  root: string
): ReadonlyArray<Step> => {
  const taken = new Map([...before].map(([name, value]) => [name, { value: plain(value), by: home }]))
  return found.flatMap(({ file, servers }) =>
    [...servers].map(([name, server]): Step => {
      if (Either.isLeft(server)) {
        return { name, file, result: Result.Leave({ what: "not taken over", why: server.left }) }
      }
      const written = encode(located(server.right, root))
      const other = taken.get(name)
      if (other === undefined) {
        taken.set(name, { value: written, by: file.path })
        return { name, file, result: Result.Take({ written }) }
      }
      const isSame = ordered(other.value) === ordered(written)
      const why = `the name is taken, by another server in ${other.by}`
      return {
        name,
        file,
        result: Result.Leave(isSame ? { what: "there already", why: "" } : { what: "skipped", why })
      }
    })
  )
}
