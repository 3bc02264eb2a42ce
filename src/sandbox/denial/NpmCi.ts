/**
 * Gives npm in a sandbox the packages of a lock file that the user's cache has. `npm ci` empties `node_modules` first,
 * so missing packages must be known before it runs.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { CommandLine } from "../../bash/CommandLine.js"
import * as Attempt from "../../domain/Attempt.js"
import * as EntryBelow from "../platform/EntryBelow.js"
import * as GitDirectory from "../policy/GitDirectory.js"
import * as CommandWords from "./CommandWords.js"
import { isLocal } from "./internal/Message.js"

/** The largest lock file, in bytes, and the most packages that are looked up. */
const largest = 32 * 1024 ** 2
const most = 5000

/** Created with the first lock file, because most sessions read none. */
const makeLock = () => {
  const value = Schema.Struct({
    integrity: Schema.optional(Schema.String),
    resolved: Schema.optional(Schema.String),
    optional: Schema.optional(Schema.Boolean),
    dev: Schema.optional(Schema.Boolean)
  })
  return Schema.parseJson(Schema.Struct({ packages: Schema.Record({ key: Schema.String, value }) }))
}

const packagesIn = (directory: string) => {
  const read = (name: string) => GitDirectory.readBytes(`${directory}/${name}`, largest)
  const text = (read("npm-shrinkwrap.json") ?? read("package-lock.json"))?.toString()
  const lock = text === undefined ? undefined : Either.getOrUndefined(Schema.decodeUnknownEither(makeLock())(text))
  return Object.entries(lock?.packages ?? {}).slice(0, most)
}

/** Returns a package's place in npm's cache, by the hash of its content. */
const placeOf = (integrity = ""): string => {
  const [, kind = "none", hash = ""] =
    /\b(sha512)-([\w+/]+=*)/.exec(integrity) ?? /\b(sha\d+)-([\w+/]+=*)/.exec(integrity) ?? []
  const hex = Buffer.from(hash, "base64").toString("hex")
  return `_cacache/content-v2/${kind}/${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex.slice(4)}`
}

const isFetched = (resolved: string): boolean => {
  const [, host] = /^https?:\/\/(?:[^/@]*@)?(\[[^\]/]*\]|[^:/]+)/.exec(resolved) ?? []
  return host !== undefined && !isLocal(host)
}

const isFilled = (directory: string): boolean => Attempt.orElse(() => Fs.readdirSync(directory).length > 0, false)

const installing = new Set("add ci clean-install i ic in install install-clean install-test isntall it".split(" "))
const emptying = new Set(["ci", "clean-install", "ic", "install-clean"])

/** npm's caches: the user's own, and the commands' own below their directory for caches. */
interface Caches {
  readonly users: string
  readonly directory: string
  readonly own: string
}

/**
 * Links the commands' cache to the packages in the user's, and returns the packages that `npm ci` would lack after
 * emptying `node_modules`.
 */
export const lacking = (
  command: CommandLine,
  cwd: string,
  { directory, own, users }: Caches
): ReadonlyArray<string> => {
  const all = CommandWords.invocations(command)
  const words = all.filter(([name]) => name === "npm").flat()
  if (!words.some((word) => installing.has(word))) return []
  const isEmptying = words.some((word) => emptying.has(word)) && !words.includes("--dry-run")
  const entered = CommandWords.entered(all, cwd)
  const from = entered.at(-1) ?? cwd
  const [project = from, ...others] = [
    ...CommandWords.workingDirectories(command).map((path) => Path.resolve(from, path)),
    from,
    ...entered
  ]
  const lacks = new Set<string>()
  for (const place of new Set([project, ...others])) {
    const isAtRisk = isEmptying && place === project && isFilled(`${place}/node_modules`)
    for (const [at, { dev, integrity, optional, resolved }] of packagesIn(place)) {
      if (resolved === undefined && integrity === undefined) continue
      const content = placeOf(integrity)
      if (Fs.existsSync(`${directory}/${own}/${content}`)) continue
      const link = `${users}/${content}`
      const isLeftOut = optional === true || (dev === true && words.some((word) => /^--(?:omit|production)/.test(word)))
      if (Fs.existsSync(link)) EntryBelow.link(directory, `${own}/${content}`, link)
      else if (isAtRisk && !isLeftOut && isFetched(resolved ?? "http://registry"))
        lacks.add(at.slice(at.lastIndexOf("node_modules/") + 13))
    }
  }
  return [...lacks]
}
