/** The action of `synapse mcp import`: takes over the servers of other programs. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ExitCode from "../domain/ExitCode.js"
import * as ForeignText from "../domain/ForeignText.js"
import { McpReading } from "../extension/mcp/FileMcpConfig.js"
import * as Import from "../extension/mcp/Import.js"
import * as Server from "../extension/mcp/Server.js"
import * as ServerFile from "../extension/mcp/ServerFile.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import { complain, print } from "./Answer.js"
import { run } from "./McpServices.js"
import * as McpTrust from "./McpTrust.js"

interface Given {
  readonly from: Option.Option<string>
  readonly dryRun: boolean
  readonly yes: boolean
}

const line = (what: string, { file, name }: Import.Step, why = ""): string =>
  `${what}: ${ForeignText.word(name)}, from ${ForeignText.word(file.path, 600)}${why === "" ? "" : `: ${why}`}`

const describe = (step: Import.Step, taken: Import.Written) =>
  Effect.gen(function* () {
    const { home, root } = yield* McpReading
    const { userHome, variables } = yield* SandboxSettings.SandboxSettings
    const origin: Server.Origin = { source: "home", file: ServerFile.inHome(home) }
    const around = { home, root, userHome, variables, isWritable: () => false }
    return McpTrust.describe(Server.make(origin, step.name, taken, around), [])
  })

/** Shows what the servers that would be taken over run, and returns whether the user agrees. */
const agreed = (steps: ReadonlyArray<Import.Step>, { dryRun, yes }: Given) =>
  Effect.gen(function* () {
    const taken = steps.flatMap(({ result }, at) =>
      result._tag === "Take" ? [[steps[at] as Import.Step, result.written] as const] : []
    )
    if (taken.length === 0) return true
    const shown = yield* Effect.forEach(taken, ([step, written]) => describe(step, written))
    const heading = "These servers can be taken over. Their programs run outside of the sandbox, with all your rights:"
    yield* print("stdout", [heading, "", ...shown.flat(), ""].join("\n"))
    return dryRun || (yield* McpTrust.confirm("Take them over?", yes))
  })

/** Takes over the servers of other programs into the home file, and says what was done with each. */
export const take = (given: Given) =>
  Effect.gen(function* () {
    const { home, root } = yield* McpReading
    const { userHome } = yield* SandboxSettings.SandboxSettings
    const target: ServerFile.Target = { path: ServerFile.inHome(home), isHome: true }
    const files = Option.match(given.from, {
      onNone: () => Import.usual(root, userHome),
      onSome: (path) => [Import.namedForeignFiles(path, root)]
    })
    const current = ServerFile.read(target.path, true)
    if (current._tag === "Broken") return yield* complain(`${target.path} can't be used: ${current.reason}`)
    const before = current._tag === "Servers" ? current.servers : new Map<string, unknown>()

    const read = yield* Effect.forEach(files, (file) =>
      Effect.map(Import.read(file, root), (servers) => ({ file, servers }))
    )
    for (const { file, servers } of read) {
      if (Either.isLeft(servers))
        yield* print("stderr", `synapse: ${ForeignText.word(file.path, 600)}: ${servers.left}`)
    }
    const failed = read.some(({ servers }) => Either.isLeft(servers))
    const found = read.flatMap(({ file, servers }) =>
      Either.match(servers, {
        onLeft: () => [],
        onRight: (servers) => (servers === undefined ? [] : [{ file, servers }])
      })
    )
    if (Option.isSome(given.from) && found.length === 0 && !failed)
      return yield* complain(`there is no ${files[0]?.path}`)
    const steps = Import.plan(found, before, target.path, root)
    if (steps.length === 0) yield* print("stdout", "There are no servers to take over.")
    const isAgreed = yield* agreed(steps, given)

    const added = new Map<string, Import.Written>()
    const lines: Array<string> = []
    for (const step of steps) {
      if (step.result._tag === "Leave") lines.push(line(step.result.what, step, step.result.why))
      else if (!isAgreed) lines.push(line("not taken over", step))
      else {
        added.set(step.name, step.result.written)
        lines.push(line(given.dryRun ? "would be taken over" : "taken over", step))
      }
    }
    if (added.size > 0 && !given.dryRun) yield* ServerFile.add(target, added)
    if (lines.length > 0) yield* print("stdout", lines.join("\n"))
    return isAgreed && !failed ? ExitCode.success : ExitCode.failure
  }).pipe(run)
