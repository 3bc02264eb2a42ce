/** The actions of `synapse mcp list`, `add` and `remove`. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { InvalidUsage } from "../domain/CommandError.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as Definition from "../extension/mcp/Definition.js"
import type { Found, Reading } from "../extension/mcp/FileMcpConfig.js"
import { McpReading } from "../extension/mcp/FileMcpConfig.js"
import type { McpEntry } from "../extension/mcp/McpConfig.js"
import * as McpConfig from "../extension/mcp/McpConfig.js"
import * as McpEnvironment from "../extension/mcp/McpEnvironment.js"
import * as McpName from "../extension/mcp/McpName.js"
import * as ServerFile from "../extension/mcp/ServerFile.js"
import * as TrustFile from "../extension/mcp/TrustFile.js"
import { complain, print } from "./Answer.js"
import { run } from "./McpServices.js"

const states = {
  ready: "ready",
  broken: "broken",
  untrusted: "not trusted",
  loose: "not usable",
  disabled: "disabled"
} as const

/** The most characters of a target in the table. */
const widest = 100

const cut = (text: string): string => (text.length > widest ? `${text.slice(0, widest - 1)}…` : text)

/** Lines up rows of words. */
const table = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)))
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

const problemOf = ({ entry }: Found): string | undefined => entry.server.problem ?? missingProgram(entry)

const stateOf = (one: Found): string =>
  states[one.state === "ready" && problemOf(one) !== undefined ? "broken" : one.state]

/** Says that the program of an entry is not there. */
const missingProgram = (entry: McpEntry): string | undefined =>
  entry._tag === "Stdio" &&
  McpEnvironment.find(entry.command, entry.cwd, McpEnvironment.make(entry.env, entry.cwd)) === undefined
    ? `there is no program ${ForeignText.word(entry.command)}`
    : undefined

/** Says each thing once, with the names of all servers that it is said of. */
const remarks = (found: ReadonlyArray<Found>): ReadonlyArray<string> => {
  const names = new Map<string, Array<string>>()
  const say = (text: string, name: string) => names.set(text, [...(names.get(text) ?? []), name])
  for (const one of found) {
    const { isFile, name } = one.entry.server
    if (isFile === true) continue
    const problem = one.state === "disabled" ? undefined : problemOf(one)
    if (problem !== undefined) say(problem, name)
    const ignored = one.server?.ignored ?? []
    if (ignored.length > 0) say(`ignored: ${ignored.map((word) => ForeignText.word(word)).join(", ")}`, name)
  }
  const files = found.flatMap(({ entry: { server } }) =>
    server.isFile === true ? [`${ForeignText.word(server.name)} can't be used: ${server.problem}`] : []
  )
  return [...[...names].map(([text, of]) => `${of.join(", ")}: ${text}`), ...files]
}

const none =
  "There are no servers. Add one: synapse mcp add <name> -- <command>; or take over those of other programs: synapse mcp import"

const toText = ({ found }: Reading): string => {
  const rows = found.flatMap((one) => {
    const { server } = one.entry
    return one.server === undefined ? [] : [[cut(server.name), server.source, stateOf(one), cut(server.target)]]
  })
  const below = remarks(found)
  return [...table(rows), ...(rows.length > 0 && below.length > 0 ? [""] : []), ...below].join("\n") || none
}

const toJson = ({ found }: Reading): string =>
  JSON.stringify(
    found.map((one) => ({
      ...(one.entry.server.isFile === true
        ? { file: one.entry.server.name, source: one.entry.server.source }
        : { name: one.entry.server.name, source: one.entry.server.source, target: one.entry.server.target }),
      state: stateOf(one),
      ...(problemOf(one) === undefined ? {} : { problem: problemOf(one) }),
      ...(one.server === undefined || one.server.ignored.length === 0 ? {} : { ignored: one.server.ignored })
    }))
  )

/** Prints the servers, each with where it stands, what it is, and whether it can be used. */
export const list = ({ json }: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const reading = yield* (yield* McpReading).read
    yield* print("stdout", json ? toJson(reading) : toText(reading))
    return ExitCode.success
  }).pipe(run)

/** Splits `NAME=value`; the words of an error do not hold the value. */
const pairs = (
  texts: ReadonlyArray<string>,
  option: string,
  separator: "=" | ":"
): Either.Either<Readonly<Record<string, string>>, InvalidUsage> => {
  const entries = texts.map((text) => [text.slice(0, text.indexOf(separator)).trim(), text] as const)
  const wrong = texts.findIndex((text) => text.indexOf(separator) < 1)
  if (wrong >= 0) {
    const reason = `${option} number ${wrong + 1} is not of the form NAME${separator}value.`
    return Either.left(new InvalidUsage({ reason }))
  }
  return Either.right(
    Object.fromEntries(
      entries.map(([name, text]) => {
        const value = text.slice(text.indexOf(separator) + 1)
        return [name, separator === ":" ? value.trim() : value]
      })
    )
  )
}

interface Added {
  readonly name: string
  readonly env: ReadonlyArray<string>
  readonly header: ReadonlyArray<string>
  readonly url: Option.Option<string>
  readonly cwd: Option.Option<string>
  readonly words: ReadonlyArray<string>
  readonly project: boolean
  readonly force: boolean
}

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text)

/** Returns what is wrong with the words of a command. */
const flawOf = (words: ReadonlyArray<string>, name: string): string | undefined => {
  const [command = ""] = words
  if (isAddress(command))
    return `An address is given with --url: synapse mcp add ${name} --url ${ForeignText.word(command)}`
  if (words.length > 1 || !/\s/.test(command) || command.includes("${") || Fs.existsSync(command)) return undefined
  return `There is no program ${JSON.stringify(ForeignText.word(command))}. Give its words apart: synapse mcp add ${name} -- ${ForeignText.word(command)}`
}

/** Returns the directory as it is written down: a relative one is that of this call, and variables stay. */
const directoryOf = (written: string): string => (/^(?:~(?:\/|$)|\$\{)/.test(written) ? written : Path.resolve(written))

const definitionOf = ({
  cwd,
  env,
  header,
  name,
  url,
  words
}: Added): Either.Either<Definition.Definition, InvalidUsage> => {
  const fail = (reason: string) => Either.left(new InvalidUsage({ reason }))
  const refusal = McpName.refusal(name)
  if (refusal !== undefined) return fail(`${ForeignText.word(name)} can't be added: ${refusal}.`)
  const [command, ...args] = words
  if (Option.isSome(url)) {
    if (command !== undefined) return fail("Give either --url or, after --, a command: not both.")
    if (env.length > 0) return fail("--env goes with a command; a server at an address gets --header.")
    if (Option.isSome(cwd)) return fail("--cwd goes with a command.")
    if (!isAddress(url.value) && !url.value.startsWith("${"))
      return fail(`--url ${ForeignText.word(url.value)}: an address begins with https:// or http://.`)
    return Either.map(pairs(header, "--header", ":"), (headers) =>
      Definition.Definition.Http({ url: url.value, headers })
    )
  }
  if (command === undefined) return fail("The command is missing, after --; or give --url.")
  const flaw = flawOf(words, name)
  if (flaw !== undefined) return fail(flaw)
  if (header.length > 0) return fail("--header goes with --url; a command gets --env.")
  return Either.map(pairs(env, "--env", "="), (variables) =>
    Definition.Definition.Stdio({
      command,
      args,
      env: variables,
      cwd: Option.getOrUndefined(Option.map(cwd, directoryOf))
    })
  )
}

const targetOf = (reading: { readonly home: string; readonly root: string }, isHome: boolean): ServerFile.Target => ({
  path: isHome ? ServerFile.inHome(reading.home) : ServerFile.inProject(reading.root),
  isHome
})

const left = (path: string): string =>
  `synapse: ${path} stays untrusted, as it was before; ${McpConfig.howToTrust(Path.dirname(path))}`

/** Adds a server to the home file, or to the project's. */
export const add = (given: Added) =>
  Effect.gen(function* () {
    const reading = yield* McpReading
    const value = Definition.encode(yield* definitionOf(given))
    const target = targetOf(reading, !given.project)
    const change = yield* ServerFile.add(target, new Map([[given.name, value]]), given.force)
    if (given.project && change !== undefined) yield* TrustFile.keep(reading.home, target.path, change)
    yield* print("stdout", `added: ${given.name}, in ${target.path}`)
    const { found } = yield* reading.read
    const added = found.find(({ entry }) => entry.server.name === given.name)
    const problem = added === undefined ? undefined : problemOf(added)
    if (problem !== undefined) yield* print("stderr", `synapse: it can't be used yet: ${problem}`)
    return ExitCode.success
  }).pipe(run)

/** Removes a server from the home file, or from the project's. */
export const remove = ({ name, project }: { readonly name: string; readonly project: boolean }) =>
  Effect.gen(function* () {
    const reading = yield* McpReading
    const target = targetOf(reading, !project)
    const change = yield* ServerFile.remove(target, name)
    if (change !== undefined) {
      const isTrusted = !project || (yield* TrustFile.keep(reading.home, target.path, change))
      yield* print("stdout", `removed: ${ForeignText.word(name)}, from ${target.path}`)
      if (!isTrusted) yield* print("stderr", left(target.path))
      return ExitCode.success
    }
    const { found } = yield* reading.read
    const other = found.find(({ server }) => server?.name === name && server.origin.file !== target.path)
    const hint = other === undefined ? "" : ` It is in ${other.server?.origin.file}${project ? "" : ": add --project"}.`
    return yield* complain(`there is no server ${ForeignText.word(name)} in ${target.path}.${hint}`)
  }).pipe(run)
