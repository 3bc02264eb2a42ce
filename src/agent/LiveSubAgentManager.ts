/** Runs sub-agents in houses of their own, by the types that Synapse brings and those that files define. */

import * as Fs from "node:fs"
import * as Cause from "effect/Cause"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as UnknownCommand from "../command/UnknownCommand.js"
import * as Skill from "../commands/skill/Skill.js"
import * as Advice from "../domain/Advice.js"
import * as CallContext from "../domain/CallContext.js"
import { type CommandError, InvalidUsage, toText } from "../domain/CommandError.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as Slices from "../domain/Slices.js"
import { SubAgentStep } from "../domain/SubAgentEvent.js"
import { SubAgentManager, type SubAgentTask } from "../extension/SubAgentManager.js"
import * as FrontMatter from "../extension/skill/FrontMatter.js"
import * as SkillFile from "../extension/skill/SkillFile.js"
import { SkillStore } from "../extension/skill/SkillStore.js"
import * as FileStamp from "../files/FileStamp.js"
import { SandboxSettings } from "../sandbox/config/SandboxSettings.js"
import { SessionSettings } from "../session/SessionSettings.js"
import * as AgentType from "./AgentType.js"
import type { SubAgentRun } from "./internal/SubAgentRun.js"
import { AgentTools } from "./LiveAgentTools.js"
import type { ModelProvider } from "./model/ModelProvider.js"

/** A directory of such files. */
interface Root {
  readonly source: "project" | "home"
  readonly directory: string
  /** The directory that it must lie in, by its real path; undefined where it may be a link to anywhere. */
  readonly within?: string
}

/** The most bytes of a file, and the most files of a directory. */
const longest = 128 * 1024
const mostFiles = 500

interface Entry {
  readonly stamp: string
  readonly type: AgentType.AgentType
}

/** The types as they were found last. */
export class AgentScan {
  private entries: ReadonlyMap<string, Entry> = new Map()
  private types: ReadonlyArray<AgentType.AgentType> = AgentType.all

  constructor(private readonly roots: ReadonlyArray<Root>) {}

  /** The types that were found last, sorted by name; the same array until they change. */
  get found(): ReadonlyArray<AgentType.AgentType> {
    return this.types
  }

  /** Looks for types. One at a time: a look that rests must not meet another. */
  *look(): Slices.Steps<ReadonlyArray<AgentType.AgentType>> {
    const entries = new Map<string, Entry>()
    const byName = new Map(AgentType.all.map((type) => [type.name, type]))
    const unusable: Array<AgentType.AgentType> = []
    for (const root of this.roots) {
      const names = namesIn(root.directory)
      const [first, ...others] = names.slice(mostFiles)
      if (first !== undefined) {
        const stamp = `${first} ${others.length}`
        // A file's path ends with its name.
        const known = this.entries.get(root.directory)
        const entry = known?.stamp === stamp ? known : { stamp, type: leftOut(root, first, others.length) }
        entries.set(root.directory, entry)
        unusable.push(entry.type)
      }
      for (const name of names.slice(0, mostFiles)) {
        const path = `${root.directory}/${name}`
        const entry = this.entryOf(root, path, name)
        entries.set(path, entry)
        const { type } = entry
        if (!type.isUsable) unusable.push(type)
        else if (!byName.has(type.name)) byName.set(type.name, type)
        yield
      }
    }
    const types = [...byName.values(), ...unusable].sort((a, b) => (a.name < b.name ? -1 : 1))
    this.entries = entries
    if (types.length !== this.types.length || types.some((type, at) => type !== this.types[at])) this.types = types
    return this.types
  }

  private entryOf(root: Root, path: string, name: string): Entry {
    const stamp = FileStamp.of(path).text
    const known = this.entries.get(path)
    return known?.stamp === stamp ? known : { stamp, type: read(root, path, name.replace(/\.md$/i, "")) }
  }
}

/** The names of a directory's markdown files, but for hidden ones, in order. */
const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    if (Fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return []
    return Fs.readdirSync(directory)
      .filter((name) => /^[^.].*\.md$/i.test(name))
      .sort()
  } catch {
    return []
  }
}

const unusableOf = (name: string, source: Root["source"], problem: string): AgentType.AgentType => ({
  ...AgentType.ofFile(name, source, { fields: new Map(), text: "", problem: `it can't be used: ${problem}` }),
  isUsable: false
})

/** Says that there are more files than are read, at the first of those that are not. */
const leftOut = ({ source }: Root, name: string, others: number): AgentType.AgentType => {
  const rest = others === 0 ? "is" : `and ${others} ${others === 1 ? "other" : "others"} are`
  const problem = `there are more than ${mostFiles} files: this one ${rest} not read`
  return unusableOf(name.replace(/\.md$/i, ""), source, problem)
}

const read = ({ directory, source, within }: Root, path: string, name: string): AgentType.AgentType => {
  const failed = (problem: string): AgentType.AgentType => unusableOf(name, source, problem)
  const real = SkillFile.realOf(directory)
  if (real === undefined) return failed("its directory is missing")
  if (within !== undefined && !SkillFile.isWithin(real, within))
    return failed("its directory is a link that leads out of the project")
  return Either.match(SkillFile.read(path, real, longest), {
    onLeft: (why) => failed(`it ${why.replace("out of the skill", "out of its directory")}`),
    onRight: ({ bytes, size }) =>
      size > longest
        ? failed(`it is larger than ${longest} bytes`)
        : AgentType.ofFile(name, source, FrontMatter.read(bytes.toString()))
  })
}

/** The options of the manager. */
export interface Options {
  /** Loads the layer that finds models; it is called with the first task. */
  readonly models: () => Promise<Layer.Layer<ModelProvider, ConfigError>>
  /** True where a provider is set, so that lists name the commands. */
  readonly isOffered: boolean
}

/** Milliseconds that nobody looks again after a look, and how many times longer than it took: it never matters. */
const pause = { least: 1000, times: 50 }

/** The types that other agents' names stand for. */
const foreign: ReadonlyMap<string, string> = new Map([
  ["agent", "general"],
  ["general-purpose", "general"],
  ["default", "general"],
  ["plan", "explore"],
  ["research", "explore"],
  ["search", "explore"]
])

const unknownType = (type: string, known: ReadonlyArray<AgentType.AgentType>): CommandError => {
  const [, skill] = /^skill:([\w.@+-]+)$/.exec(type) ?? []
  const meant = skill === undefined ? foreign.get(type.toLowerCase()) : `skill --skill ${skill}`
  return UnknownCommand.make({
    command: `task:${type}`,
    kind: "type of sub-agents",
    kinds: "types of sub-agents",
    name: type,
    known: known.filter(({ isUsable }) => isUsable).map(({ name }) => name),
    toWord: (name) => `task:${ForeignText.word(name)}`,
    advice: [
      ...(meant === undefined
        ? []
        : [Advice.line`It is called ${Advice.typed(`task:${meant} -d <words> -p <prompt>`)} here.`]),
      Advice.line`${Advice.run("task:list")} lists all types.`
    ]
  })
}

/** Runs an effect as if nobody called it: what its commands say and read is not their caller's. */
const apart = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(CallContext.get("listener"), ({ account }) =>
    self.pipe(
      CallContext.locally({
        listener: account === undefined ? {} : { account },
        input: undefined,
        stdin: undefined,
        audience: Advice.model
      })
    )
  )

/** A layer which runs sub-agents. The loop and the models are loaded with the first task. */
export const layer = ({
  isOffered,
  models
}: Options): Layer.Layer<SubAgentManager, never, AgentTools | SandboxSettings | SessionSettings | SkillStore> =>
  Layer.scoped(
    SubAgentManager,
    Effect.gen(function* () {
      const agents = yield* AgentTools
      const skills = yield* SkillStore
      const { home } = yield* SandboxSettings
      const { cwd = process.cwd() } = yield* SessionSettings
      const scan = new AgentScan([
        { source: "project", directory: `${cwd}/.claude/agents`, within: SkillFile.realOf(cwd) ?? cwd },
        { source: "home", directory: `${home}/agents` }
      ])
      const scope = yield* Effect.scope
      const runtime = yield* Effect.runtime()
      const turn = yield* Effect.makeSemaphore(1)
      /** The time from which `types` looks again. */
      let next = 0

      const look = turn.withPermits(1)(Slices.run(() => scan.look()))
      const refresh = Effect.suspend(() => {
        const began = performance.now()
        return Effect.ensuring(
          look,
          Effect.sync(() => {
            const now = performance.now()
            next = now + Math.max(pause.least, (now - began) * pause.times)
          })
        )
      })

      const find = Effect.fnUntraced(function* (name: string): Effect.fn.Return<AgentType.AgentType, CommandError> {
        const types = yield* look
        const named = types.filter((type) => type.name === name)
        const type = named.find(({ isUsable }) => isUsable)
        if (type !== undefined) return type
        const [broken] = named
        return yield* broken === undefined
          ? unknownType(name, types)
          : new InvalidUsage({ reason: `task:${name}: ${ForeignText.line(broken.problem ?? "", 300)}.` })
      })

      /** The tasks that run or wait; they have ended when the layer has. */
      const running = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
      yield* Effect.addFinalizer(() => Effect.suspend(() => Fiber.interruptAll(running)))
      const counted = <A, E, R>(task: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.withFiberRuntime((fiber) => {
          running.add(fiber)
          fiber.addObserver(() => running.delete(fiber))
          return task
        })

      /** Loads the loop once; a failure is tried again by the next task. */
      let loaded: SubAgentRun | undefined
      const loading = yield* Effect.makeSemaphore(1)
      const load = loading.withPermits(1)(
        Effect.suspend((): Effect.Effect<SubAgentRun, CommandError> => {
          if (loaded !== undefined) return Effect.succeed(loaded)
          return Effect.gen(function* () {
            const [{ make }, layer] = yield* Effect.promise(() =>
              Promise.all([import("./internal/SubAgentRun.js"), models()])
            )
            loaded = yield* Scope.extend(make(layer), scope)
            return loaded
          }).pipe(
            Effect.mapError((error) => new InvalidUsage({ reason: `A setting of agents is wrong: ${error.message}` }))
          )
        })
      )

      const instructionsOf = Effect.fnUntraced(function* (type: AgentType.AgentType, names: ReadonlyArray<string>) {
        const texts = yield* Effect.forEach(new Set([...type.skills, ...names]), (name) =>
          Effect.map(skills.load(name), Skill.instructions)
        )
        return [AgentType.instructionsOf(type), ...texts].join("\n\n")
      })

      const run = Effect.fnUntraced(function* (
        name: string,
        task: SubAgentTask,
        tell: (step: SubAgentStep) => void
      ): Effect.fn.Return<string, CommandError> {
        const type = yield* find(name)
        const instructions = yield* instructionsOf(type, task.skills ?? [])
        const runner = yield* load
        const model = yield* runner.model(task.model ?? type.model)
        const { description, maxTurns = type.maxTurns, prompt } = task
        const rights = { cwd: task.cwd, isReadOnly: type.isReadOnly, task: { type: name, description } }
        return yield* runner.inTurn(
          Effect.scoped(
            Effect.flatMap(agents.make(rights), (tools) =>
              runner.run({ model, tools, prompt, instructions, maxTurns, tell })
            )
          )
        )
      })

      return SubAgentManager.of({
        isOffered,
        types: () => {
          if (performance.now() >= next) {
            next = Number.POSITIVE_INFINITY
            Runtime.runFork(runtime)(refresh, { scope })
          }
          return scan.found
        },
        look,
        check: find,
        execute: Effect.fn("SubAgentManager.execute")((type, task) =>
          Effect.flatMap(CallContext.get("listener"), ({ onSubAgent }) => {
            const { description } = task
            const id = crypto.randomUUID()
            const tell = (step: SubAgentStep) => onSubAgent?.({ id, type, description, step })
            return Effect.onExit(
              Effect.suspend(() => {
                tell(SubAgentStep.Started())
                return counted(apart(run(type, task, tell)))
              }),
              (exit) => Effect.sync(() => tell(endOf(exit)))
            )
          })
        )
      })
    })
  )

const endOf = (exit: Exit.Exit<string, CommandError>): SubAgentStep => {
  if (Exit.isSuccess(exit)) return SubAgentStep.Ended({ ending: "done", text: exit.value })
  if (Exit.isInterrupted(exit)) return SubAgentStep.Ended({ ending: "interrupted", text: "" })
  const failure = Cause.failureOption(exit.cause)
  const text = Option.match(failure, { onNone: () => "An internal error.", onSome: (error) => toText(error) })
  return SubAgentStep.Ended({ ending: "failed", text })
}
