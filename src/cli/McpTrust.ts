/** The action of `synapse mcp trust`: shows what the project's file would run, and asks whether to trust it. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ExitCode from "../domain/ExitCode.js"
import * as Definition from "../extension/mcp/Definition.js"
import type { Found, Reading } from "../extension/mcp/FileMcpConfig.js"
import { McpReading } from "../extension/mcp/FileMcpConfig.js"
import type { NamedFile } from "../extension/mcp/NamedFiles.js"
import { namesIn, type Server } from "../extension/mcp/Server.js"
import * as ServerFile from "../extension/mcp/ServerFile.js"
import * as TrustFile from "../extension/mcp/TrustFile.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import * as TerminalQuestion from "../sandbox/permission/TerminalQuestion.js"
import { complain, print } from "./Answer.js"
import { run } from "./McpServices.js"
import type { Stdio } from "./Stdio.js"

/** Makes a text harmless for a terminal, and leaves nothing of it out. */
const inFull = (text: string): string => text.replace(/[\s\S]{1,250}/gu, PermissionPrompt.printable)

const word = (text: string): string => inFull(/^[\w./:@%+,=-]+$/.test(text) ? text : JSON.stringify(text))

const row = (name: string, text: string): string => `    ${name.padEnd(9)}  ${text}`

const names = (label: string, values: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.keys(values).length === 0 ? [] : [row(label, Object.keys(values).map(word).join(" "))]

const whatRuns = (server: Server): ReadonlyArray<string> => {
  if (server.definition === undefined) return []
  return Definition.Definition.$match(server.definition, {
    Stdio: ({ args, command, cwd, env }) => [
      row("runs", [command, ...args.map(Definition.withoutSecrets)].map(word).join(" ")),
      ...Either.match(server.expanded, {
        onLeft: () => (cwd === undefined ? [] : [row("in", word(cwd))]),
        onRight: (expanded) => (expanded._tag === "Stdio" ? [row("in", inFull(expanded.cwd))] : [])
      }),
      ...names("variables", env)
    ],
    Http: ({ headers, url }) => [row("address", word(Definition.withoutSecrets(url))), ...names("headers", headers)]
  })
}

/**
 * Describes a server in full: what it runs, the names of its variables or headers, those that it reads from the
 * environment, and the files that are trusted with it.
 */
export const describe = (server: Server, files: ReadonlyArray<NamedFile>): ReadonlyArray<string> => {
  const read = server.definition === undefined ? [] : Definition.textsOf(server.definition).flatMap(namesIn)
  return [
    `  ${server.name}${server.isDisabled ? " (disabled)" : ""}`,
    ...whatRuns(server),
    ...(read.length === 0 ? [] : [row("reads", [...new Set(read)].join(" "))]),
    ...files.map(({ path }) => row("file", inFull(path))),
    ...Either.match(server.expanded, { onLeft: (reason) => [row("broken", reason)], onRight: () => [] })
  ]
}

/** The servers that are not trusted yet, which are shown, and the files that an answer of yes trusts. */
interface Pending {
  /** The sentence above the servers. */
  readonly heading: string
  readonly servers: ReadonlyArray<Found & { readonly server: Server }>
  readonly files: ReadonlyArray<NamedFile>
}

const pendingOf = ({ found, isProjectTrusted, project }: Reading): Pending => {
  const known = found.flatMap((one) => (one.server === undefined ? [] : [{ ...one, server: one.server }]))
  const servers = known.filter(
    ({ server, state }) => state === "untrusted" || (!isProjectTrusted && server.origin.source === "project")
  )
  // Servers can share a file. Two that were read with different content are both shown; the last one is kept.
  const all = servers.flatMap((one) => one.files)
  const files = all.filter(
    ({ path, sha256 }, at) => all.findIndex((one) => one.path === path && one.sha256 === sha256) === at
  )
  const isWhole = project !== undefined && !isProjectTrusted
  return {
    heading: isWhole
      ? `${project.path} lists these servers. Their programs run outside of the sandbox, with all your rights:`
      : "These servers run files that commands may write. They run outside of the sandbox, with all your rights:",
    servers,
    files: isWhole ? [project, ...files] : files
  }
}

const limits = (files: ReadonlyArray<NamedFile>): ReadonlyArray<string> => [
  `Trusted is the content that ${files.length === 1 ? "this file has" : "these files have"} now; after a change you are asked again:`,
  ...files.map(({ path, sha256 }) => `  ${sha256.slice(0, 16)}  ${inFull(path)}`),
  "What the programs load besides (modules, packages, other files of the project) is not looked at: commands may change it."
]

/** Asks whether to go on, unless that is said already. Returns whether it is; where there is no terminal, says so. */
export const confirm = (question: string, yes: boolean): Effect.Effect<boolean, never, Stdio> =>
  Effect.gen(function* () {
    if (yes) return true
    const answer = yield* TerminalQuestion.ask(`${question} [y/N] `)
    if (Option.isNone(answer)) {
      yield* complain("there is no terminal to ask at; --yes does it without asking.")
      return false
    }
    return /^y(?:es)?$/i.test(answer.value.trim())
  })

/** Says which servers can't be used though their files are trusted. */
const loose = ({ found }: Reading): ReadonlyArray<string> =>
  found.flatMap(({ entry: { server }, state }) =>
    state === "loose" ? [`${server.name} can't be used: ${server.problem}`] : []
  )

const nothing = (reading: Reading, root: string): Effect.Effect<number, never, Stdio> => {
  const unusable = loose(reading)
  if (unusable.length > 0) return complain(unusable.join("\nsynapse: "))
  const file = ServerFile.inProject(root)
  const broken = reading.found.find(({ entry, server }) => server === undefined && entry.server.name === file)
  if (broken !== undefined) return complain(`${file} can't be trusted: ${broken.entry.server.problem}`)
  const text = reading.project === undefined ? `there is no ${file}` : `${file} is trusted already`
  return Effect.as(print("stdout", `Nothing to do: ${text}.`), ExitCode.success)
}

/**
 * Shows what is not trusted yet, asks, and keeps the answer. What is trusted is the content that was shown, also where a
 * file has changed since.
 */
export const trust = ({ yes }: { readonly yes: boolean }) =>
  Effect.gen(function* () {
    const { home, read, root } = yield* McpReading
    const reading = yield* read
    if (reading.trustProblem !== undefined) {
      return yield* complain(`${reading.trustProblem}. Correct it, or move it away: then nothing is trusted.`)
    }
    const { files, heading, servers } = pendingOf(reading)
    if (files.length === 0) return yield* nothing(reading, root)
    const shown = servers.flatMap((one) => describe(one.server, one.files))
    yield* print("stdout", [heading, "", ...shown, "", ...limits(files), ""].join("\n"))
    if (!(yield* confirm("Trust this?", yes))) {
      yield* print("stderr", "Nothing was trusted.")
      return ExitCode.failure
    }
    yield* TrustFile.add(home, files)
    yield* print("stdout", `trusted: ${files.map(({ path }) => inFull(path)).join(", ")}`)
    const left = loose(yield* read)
    if (left.length > 0) yield* complain(left.join("\nsynapse: "))
    return ExitCode.success
  }).pipe(run)
