/** The actions of `synapse mcp`, except `serve`, `install` and `uninstall`. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { InvalidUsage } from "../domain/CommandError.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import type { NotWritten } from "../extension/mcp/ConfigFile.js"
import * as Definition from "../extension/mcp/Definition.js"
import type { Reading } from "../extension/mcp/FileMcpConfig.js"
import * as FileMcpConfig from "../extension/mcp/FileMcpConfig.js"
import { McpReading } from "../extension/mcp/FileMcpConfig.js"
import * as Import from "../extension/mcp/Import.js"
import type { McpEntry } from "../extension/mcp/McpConfig.js"
import * as McpConfig from "../extension/mcp/McpConfig.js"
import * as McpEnvironment from "../extension/mcp/McpEnvironment.js"
import * as McpName from "../extension/mcp/McpName.js"
import type { NamedFile } from "../extension/mcp/NamedFiles.js"
import * as OAuth from "../extension/mcp/OAuth.js"
import * as Server from "../extension/mcp/Server.js"
import * as ServerFile from "../extension/mcp/ServerFile.js"
import * as TrustFile from "../extension/mcp/TrustFile.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import * as TerminalQuestion from "../sandbox/permission/TerminalQuestion.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as SessionSettings from "../session/SessionSettings.js"
import * as Action from "./Action.js"
import { complain, print, succeed } from "./Invocation.js"
import type { Stdio } from "./Stdio.js"

/** Makes a text harmless for a terminal without cutting it. */
const inFull = (text: string): string => text.replace(/[\s\S]{1,250}/gu, PermissionPrompt.printable)

const shownWord = (text: string): string => inFull(/^[\w./:@%+,=-]+$/.test(text) ? text : JSON.stringify(text))

const row = (name: string, text: string): string => `    ${name.padEnd(9)}  ${text}`

const names = (label: string, values: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.keys(values).length === 0 ? [] : [row(label, Object.keys(values).map(shownWord).join(" "))]

const whatRuns = (server: Server.Server): ReadonlyArray<string> => {
  if (server.definition === undefined) return []
  return Definition.Definition.$match(server.definition, {
    Stdio: ({ args, command, cwd, env }) => [
      row("runs", [command, ...args.map(Definition.withoutSecrets)].map(shownWord).join(" ")),
      ...Either.match(server.expanded, {
        onLeft: () => (cwd === undefined ? [] : [row("in", shownWord(cwd))]),
        onRight: (expanded) => (expanded._tag === "Stdio" ? [row("in", inFull(expanded.cwd))] : [])
      }),
      ...names("variables", env)
    ],
    Http: ({ headers, url }) => [
      row("address", shownWord(Definition.withoutSecrets(url))),
      ...names("headers", headers)
    ]
  })
}

/**
 * Describes a server in full: its command line, the names of its variables and headers, the files trusted with it, and
 * what it names besides in places that commands may write.
 */
const describeServer = (server: Server.Server, files: ReadonlyArray<NamedFile>): ReadonlyArray<string> => {
  const read = server.definition === undefined ? [] : Definition.textsOf(server.definition).flatMap(Server.namesIn)
  return [
    `  ${server.name}${server.isDisabled ? " (disabled)" : ""}`,
    ...whatRuns(server),
    ...(read.length === 0 ? [] : [row("reads", [...new Set(read)].join(" "))]),
    ...files.map(({ path }) => row("file", inFull(path))),
    ...server.named.places.map((path) => row("writable", inFull(path))),
    ...Either.match(server.expanded, { onLeft: (reason) => [row("broken", reason)], onRight: () => [] })
  ]
}

/** The servers that are not trusted yet, and the files that the answer yes will trust. */
interface Pending {
  /** The sentence above the servers. */
  readonly heading: string
  readonly servers: ReadonlyArray<{ readonly server: Server.Server; readonly files: ReadonlyArray<NamedFile> }>
  readonly files: ReadonlyArray<NamedFile>
}

const pendingOf = ({ entries, isProjectTrusted, project }: Reading): Pending => {
  const servers = entries.flatMap((entry) => {
    const { files = [], server, written } = entry
    const isPending = reasonFor(entry) === "untrusted" || (!isProjectTrusted && server.source === "project")
    return written !== undefined && isPending ? [{ server: written, files }] : []
  })
  // Servers can share a file. If it changed between two reads, both versions are shown, and the last one is trusted.
  const all = servers.flatMap(({ files, server }) =>
    server.consent === undefined ? files : [...files, server.consent]
  )
  const files = all.filter(
    ({ path, sha256 }, at) => all.findIndex((one) => one.path === path && one.sha256 === sha256) === at
  )
  const isWhole = project !== undefined && !isProjectTrusted
  return {
    heading: isWhole
      ? `${project.path} lists these servers. Their programs run outside of the sandbox, with all your rights:`
      : "These servers may run what commands write. They run outside of the sandbox, with all your rights:",
    servers,
    files: isWhole ? [project, ...files] : files
  }
}

const limits = (files: ReadonlyArray<NamedFile>): ReadonlyArray<string> => [
  "You trust the content as it is now. After a change, you are asked again:",
  ...files.map(({ path, sha256 }) => `  ${sha256.slice(0, 16)}  ${inFull(path)}`),
  "What the programs load besides (modules, packages, files in writable places) is not looked at: commands may change it."
]

/** Asks for confirmation unless `yes` is set. Without a terminal, prints an error and returns false. */
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

/** Explains which servers can't be used although their files are trusted. */
const loose = ({ entries }: Reading): ReadonlyArray<string> =>
  entries.flatMap((entry) =>
    reasonFor(entry) === "loose" ? [`${entry.server.name} can't be used: ${entry.server.problem}`] : []
  )

const nothing = (reading: Reading, root: string): Effect.Effect<number, never, Stdio> => {
  const unusable = loose(reading)
  if (unusable.length > 0) return complain(unusable.join("\nsynapse: "))
  const file = ServerFile.inProject(root)
  const broken = reading.entries.find(({ server, written }) => written === undefined && server.name === file)
  if (broken !== undefined) return complain(`${file} can't be trusted: ${broken.server.problem}`)
  const text = reading.project === undefined ? `there is no ${file}` : `${file} is trusted already`
  return succeed(`Nothing to do: ${text}.`)
}

/**
 * Shows what is not trusted yet, asks, and stores the answer. It trusts the content that was shown, even if a file has
 * changed since.
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
    const shown = servers.flatMap((one) => describeServer(one.server, one.files))
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

/** Finds a server with an address. */
const remote = (name: string) =>
  Effect.gen(function* () {
    const { home, read } = yield* McpReading
    const entry = (yield* read).entries.find(({ server }) => server.name === name)
    if (entry?._tag === "Http") return { entry, home }
    const reason =
      entry === undefined
        ? `there is no server ${UntrustedText.word(name)}: synapse mcp list shows them.`
        : entry._tag === "Unusable"
          ? `${name} can't be used: ${entry.problem}.`
          : `${name} is a program of this machine, and wants no login.`
    return yield* new InvalidUsage({ reason })
  })

export const login = ({ name }: { readonly name: string }) =>
  Effect.gen(function* () {
    const { entry, home } = yield* remote(name)
    const show = (address: string) =>
      print("stderr", `Open this address in a browser to log in to ${name}:\n\n${inFull(address)}\n`)
    return yield* OAuth.login(home, entry, show).pipe(
      Effect.matchEffect({
        onFailure: (error) => complain(error.message),
        onSuccess: (isDone) => succeed(isDone ? `Logged in to ${name}.` : `${name} wants no login.`)
      })
    )
  }).pipe(run)

/** Deletes the login to a server. */
export const logout = ({ name }: { readonly name: string }) =>
  Effect.gen(function* () {
    const { entry, home } = yield* remote(name)
    const text = OAuth.logout(home, entry) ? `Logged out of ${name}.` : `There is no login to ${name}.`
    return yield* succeed(text)
  }).pipe(run)

const line = ({ file, name, what, why }: Import.Step): string =>
  `${what}: ${UntrustedText.word(name)}, from ${UntrustedText.word(file.path, 600)}${why === "" ? "" : `: ${why}`}`

/** Imports the servers of other programs, and reports each. Those of the project's files become the project's. */
export const take = ({ yes }: { readonly yes: boolean }) =>
  Effect.gen(function* () {
    const { home, isWritable = Effect.succeed(() => true), root } = yield* McpReading
    const { userHome, variables } = yield* SandboxSettings.SandboxSettings
    const targets = [false, true].map((isHome) => targetOf({ home, root }, isHome))
    const before = []
    for (const { isHome, path } of targets) {
      const current = ServerFile.read(path, isHome)
      if (Either.isLeft(current)) return yield* complain(`${path} can't be used: ${current.left}`)
      before.push({ path, servers: current.right?.servers ?? new Map<string, unknown>() })
    }
    const read = yield* Effect.forEach(Import.usual(root, { userHome, variables }), (file) =>
      Effect.map(Import.read(file, root), (servers) => ({ file, servers }))
    )
    for (const { file, servers } of read) {
      if (Either.isLeft(servers))
        yield* print("stderr", `synapse: ${UntrustedText.word(file.path, 600)}: ${servers.left}`)
    }
    const failed = read.some(({ servers }) => Either.isLeft(servers))
    const found = read.flatMap(({ file, servers: read }) => {
      const servers = Either.getOrUndefined(read)
      return servers === undefined ? [] : [{ file, servers }]
    })
    const steps = Import.plan(found, before, root)
    if (steps.length === 0) yield* print("stdout", "There are no servers to take over.")
    const around = { home, root, userHome, variables, isWritable: yield* isWritable }
    const taken = targets.map((target) => ({
      target,
      servers: steps.flatMap(({ file, name, written }) => {
        if (written === undefined || file.isProjects === target.isHome) return []
        const origin: Server.Origin = { source: target.isHome ? "home" : "project", file: target.path }
        return [{ file, name, written, server: Server.make(origin, name, written, around) }]
      })
    }))
    const all = taken.flatMap(({ servers, target }) => servers.map((one) => ({ ...one, target })))
    const shown = all.flatMap(({ file, server, target }) => [
      ...describeServer(server, []),
      row("from", inFull(file.path)),
      row("into", inFull(target.path))
    ])
    const heading = "These servers can be taken over. Their programs run outside of the sandbox, with all your rights:"
    if (all.length > 0) yield* print("stdout", [heading, "", ...shown, ""].join("\n"))
    const files = [...new Set(all.map(({ file }) => inFull(file.path)))]
    const isAgreed = all.length === 0 || (yield* confirm(`Take over what ${files.join(" and ")} list?`, yes))
    for (const { servers, target } of isAgreed ? taken : []) {
      if (servers.length === 0) continue
      const change = yield* ServerFile.add(target, new Map(servers.map(({ name, written }) => [name, written])))
      const consents = servers.flatMap(({ server }) => server.consent ?? [])
      if (consents.length > 0) yield* TrustFile.add(home, consents)
      const isTrusted = target.isHome || change === undefined || (yield* TrustFile.keep(home, target.path, change))
      if (!isTrusted) yield* print("stderr", left(target.path))
    }
    const lines = steps.map((step) =>
      line(step.what === "taken over" && !isAgreed ? { ...step, what: "not taken over" } : step)
    )
    if (lines.length > 0) yield* print("stdout", lines.join("\n"))
    return isAgreed && !failed ? ExitCode.success : ExitCode.failure
  }).pipe(run)

/** Returns the project's file and the files that its servers run, trusted or not. */
const ofProject = ({ entries }: Reading, root: string): ReadonlySet<string> => {
  const files = entries.flatMap(({ files = [], server }) => (server.source === "project" ? files : []))
  return new Set([ServerFile.inProject(root), ...files.map(({ path }) => path)])
}

/** Stops trusting all files below the current directory, and the files that its `mcp_servers.json` runs. */
export const untrust = () =>
  Effect.gen(function* () {
    const { home, read, root } = yield* McpReading
    const trusts = TrustFile.read(home)
    if (Either.isLeft(trusts)) {
      const path = TrustFile.pathIn(home)
      return yield* complain(
        `${path} can't be used: ${trusts.left}. Correct it, or move it away: then nothing is trusted.`
      )
    }
    const file = ServerFile.inProject(root)
    const named = ofProject(yield* read, root)
    const meant = [...trusts.right.keys()].filter(
      (path) => named.has(path) || HostPath.isWithin(path, Path.dirname(file))
    )
    if (meant.length === 0) return yield* succeed(`Nothing to do: ${inFull(file)} is not trusted.`)
    yield* TrustFile.remove(home, new Set(meant))
    return yield* succeed(`not trusted any more: ${meant.map(inFull).join(", ")}`)
  }).pipe(run)

const layer = Layer.provide(FileMcpConfig.layerReading, SessionSettings.layer())

const run = <R>(action: Effect.Effect<number, InvalidUsage | NotWritten, R>) =>
  Action.run(Effect.provide(action, layer))

const states = {
  ready: "configured",
  broken: "broken",
  untrusted: "not trusted",
  loose: "not usable",
  disabled: "disabled"
} as const

/** The most characters of a target in the table. */
const widest = 100

const cut = (text: string): string => (text.length > widest ? `${text.slice(0, widest - 1)}…` : text)

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)))
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

const reasonFor = (entry: McpEntry) => (entry._tag === "Unusable" ? entry.reason : undefined)

const problemOf = (entry: McpEntry): string | undefined => entry.server.problem ?? missingProgram(entry)

const stateOf = (entry: McpEntry): string =>
  states[reasonFor(entry) ?? (problemOf(entry) === undefined ? "ready" : "broken")]

/** Says if an entry's program does not exist. */
const missingProgram = (entry: McpEntry): string | undefined =>
  entry._tag === "Stdio" && McpEnvironment.find(entry.command, entry.cwd, entry.env["PATH"]) === undefined
    ? `there is no program ${UntrustedText.word(entry.command)}`
    : undefined

/** Groups the remarks, so that each is shown once with the names of its servers. */
const remarks = (entries: ReadonlyArray<McpEntry>): ReadonlyArray<string> => {
  const names = new Map<string, Array<string>>()
  const say = (text: string, name: string) => names.set(text, [...(names.get(text) ?? []), name])
  for (const entry of entries) {
    const { isFile, name } = entry.server
    if (isFile === true) continue
    const problem = reasonFor(entry) === "disabled" ? undefined : problemOf(entry)
    if (problem !== undefined) say(problem, name)
    const ignored = entry.written?.ignored ?? []
    if (ignored.length > 0) say(`ignored: ${ignored.map((word) => UntrustedText.word(word)).join(", ")}`, name)
  }
  const files = entries.flatMap(({ server }) =>
    server.isFile === true ? [`${UntrustedText.word(server.name)} can't be used: ${server.problem}`] : []
  )
  return [...[...names].map(([text, of]) => `${of.join(", ")}: ${text}`), ...files]
}

const none =
  "There are no servers. Add one: synapse mcp add <name> -- <command>; or take over those of other programs: synapse mcp import"

const hasLogin = (entry: McpEntry, home: string): boolean => entry._tag === "Http" && OAuth.isLoggedIn(home, entry)

const toText = ({ entries }: Reading, home: string): string => {
  const rows = entries.flatMap((entry) => {
    const { isFile, name, source, target } = entry.server
    return isFile === true
      ? []
      : [[cut(name), source, `${stateOf(entry)}${hasLogin(entry, home) ? ", logged in" : ""}`, cut(target)]]
  })
  const below = remarks(entries)
  return [...table(rows), ...(rows.length > 0 && below.length > 0 ? [""] : []), ...below].join("\n") || none
}

const toJson = ({ entries }: Reading, home: string): string =>
  JSON.stringify(
    entries.map((entry) => {
      const { isFile, name, source, target } = entry.server
      const { ignored = [] } = entry.written ?? {}
      return {
        ...(isFile === true ? { file: name, source } : { name, source, target }),
        state: stateOf(entry),
        login: hasLogin(entry, home) || undefined,
        problem: problemOf(entry),
        ignored: ignored.length === 0 ? undefined : ignored
      }
    })
  )

/** Prints the servers with their source, target and state. */
export const list = ({ json }: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const { home, read } = yield* McpReading
    return yield* succeed((json ? toJson : toText)(yield* read, home))
  }).pipe(run)

/** Splits `NAME=value`. Errors do not show the value, which may be secret. */
const pairs = (
  texts: ReadonlyArray<string>,
  option: string,
  separator: "=" | ":"
): Either.Either<Readonly<Record<string, string>>, InvalidUsage> => {
  const wrong = texts.findIndex((text) => text.indexOf(separator) < 1)
  if (wrong >= 0) {
    const reason = `${option} number ${wrong + 1} is not of the form NAME${separator}value.`
    return Either.left(new InvalidUsage({ reason }))
  }
  const entries = texts.map((text) => {
    const [name = "", ...value] = text.split(separator)
    return [name.trim(), separator === ":" ? value.join(separator).trim() : value.join(separator)]
  })
  return Either.right(Object.fromEntries(entries))
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

const flawOf = (words: ReadonlyArray<string>, name: string): string | undefined => {
  const [command = ""] = words
  if (isAddress(command))
    return `An address is given with --url: synapse mcp add ${name} --url ${UntrustedText.word(command)}`
  if (words.length > 1 || !/\s/.test(command) || command.includes("${") || Fs.existsSync(command)) return undefined
  return `There is no program ${JSON.stringify(UntrustedText.word(command))}. Give its words apart: synapse mcp add ${name} -- ${UntrustedText.word(command)}`
}

/** Makes a relative directory absolute, and keeps variables. */
const directoryOf = (written: string): string => (/^(?:~(?:\/|$)|\$\{)/.test(written) ? written : Path.resolve(written))

const definitionOf = (given: Added): Either.Either<Definition.Definition, InvalidUsage> =>
  Either.gen(function* () {
    const { cwd, env, header, name, project, words } = given
    const fail = (reason: string) => Either.left(new InvalidUsage({ reason }))
    const refuse = (why: string) => fail(`${UntrustedText.word(name)} can't be added: ${why}.`)
    const refusal = McpName.refusal(name)
    if (refusal !== undefined) return yield* refuse(refusal)
    const flaw = flawOf(words, name)
    if (flaw !== undefined) return yield* fail(flaw)
    const [command, ...args] = words
    const url = Option.getOrUndefined(given.url)
    if (command === undefined && url === undefined)
      return yield* fail(`The program or the address is missing: synapse mcp add ${name} -- PROGRAM, or --url ADDRESS`)
    if (url !== undefined && !isAddress(url) && !url.startsWith("${"))
      return yield* fail(`--url ${UntrustedText.word(url)}: an address begins with https:// or http://.`)
    const fields = {
      command,
      args,
      env: yield* pairs(env, "--env", "="),
      cwd: Option.getOrUndefined(Option.map(cwd, directoryOf)),
      url,
      headers: yield* pairs(header, "--header", ":")
    }
    const written = Object.entries(fields).filter(([, value]) => Object.keys(value ?? {}).length > 0)
    const decoded = Definition.decode(Object.fromEntries(written))
    if (Either.isLeft(decoded)) return yield* refuse(decoded.left)
    const { definition, ignored } = decoded.right
    return ignored.length === 0
      ? project
        ? definition
        : Server.settle(definition, process.cwd())
      : yield* refuse(`${ignored.join(" and ")} ${url === undefined ? "needs a url" : "needs a command"}`)
  })

const targetOf = (reading: { readonly home: string; readonly root: string }, isHome: boolean): ServerFile.Target => ({
  path: isHome ? ServerFile.inHome(reading.home) : ServerFile.inProject(reading.root),
  isHome
})

const left = (path: string): string =>
  `synapse: ${path} stays untrusted, as it was before; ${McpConfig.howToTrust(Path.dirname(path))}`

export const add = (given: Added) =>
  Effect.gen(function* () {
    const reading = yield* McpReading
    const value = Definition.encode(yield* definitionOf(given))
    const target = targetOf(reading, !given.project)
    const change = yield* ServerFile.add(target, new Map([[given.name, value]]), given.force)
    if (given.project && change !== undefined) yield* TrustFile.keep(reading.home, target.path, change)
    yield* print("stdout", `added: ${given.name}, in ${target.path}`)
    const find = Effect.map(reading.read, ({ entries }) => entries.find(({ server }) => server.name === given.name))
    const { consent, named } = (yield* find)?.written ?? {}
    if (consent !== undefined && named !== undefined) {
      yield* TrustFile.add(reading.home, [consent])
      const places = named.places.map(inFull).join(" and ")
      yield* print(
        "stderr",
        `synapse: commands may write to ${places}: code of ${given.name} there runs outside of the sandbox`
      )
    }
    const added = yield* find
    const problem = added === undefined ? undefined : problemOf(added)
    if (problem !== undefined) yield* print("stderr", `synapse: it can't be used yet: ${problem}`)
    const directory = Option.getOrElse(given.cwd, process.cwd)
    const missing = given.words.find(
      (word) => /^\.\.?\//.test(word) && HostPath.isMissing(Path.resolve(directory, word))
    )
    if (missing !== undefined)
      yield* print(
        "stderr",
        `synapse: ${UntrustedText.word(missing)} does not exist in ${UntrustedText.word(directory, 300)}`
      )
    return ExitCode.success
  }).pipe(run)

export const remove = ({ name, project }: { readonly name: string; readonly project: boolean }) =>
  Effect.gen(function* () {
    const reading = yield* McpReading
    const target = targetOf(reading, !project)
    const change = yield* ServerFile.remove(target, name)
    if (change !== undefined) {
      const isTrusted = !project || (yield* TrustFile.keep(reading.home, target.path, change))
      yield* print("stdout", `removed: ${UntrustedText.word(name)}, from ${target.path}`)
      if (!isTrusted) yield* print("stderr", left(target.path))
      return ExitCode.success
    }
    const servers = (yield* reading.read).entries.flatMap(({ written }) => written ?? [])
    const other = servers.find((server) => server.name === name && server.origin.file !== target.path)
    const hint = other === undefined ? "" : ` It is in ${other.origin.file}${project ? "" : ": add --project"}.`
    return yield* complain(`there is no server ${UntrustedText.word(name)} in ${target.path}.${hint}`)
  }).pipe(run)
