/** Runs sub-agents of built-in types and of types that files define, each in its own app. */

import * as Fs from "node:fs"
import * as Cause from "effect/Cause"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as UnknownCommand from "../command/UnknownCommand.js"
import * as Skill from "../commands/skill/Skill.js"
import * as Advice from "../domain/Advice.js"
import * as Attempt from "../domain/Attempt.js"
import * as CallContext from "../domain/CallContext.js"
import { type CommandError, InvalidUsage, toText } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import { SubAgentStep } from "../domain/SubAgentEvent.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import type * as Yield from "../domain/Yield.js"
import { SubAgentManager, type SubAgentTask } from "../extension/SubAgentManager.js"
import * as FrontMatter from "../extension/skill/FrontMatter.js"
import * as Lookout from "../extension/skill/Lookout.js"
import * as SkillFile from "../extension/skill/SkillFile.js"
import { SkillStore } from "../extension/skill/SkillStore.js"
import { SandboxSettings } from "../sandbox/config/SandboxSettings.js"
import type { Permission } from "../sandbox/permission/Permission.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import type { SandboxManager } from "../sandbox/SandboxManager.js"
import { SessionSettings } from "../session/SessionSettings.js"
import * as AgentTools from "./AgentTools.js"
import * as AgentType from "./AgentType.js"
import type { SubAgentRun } from "./internal/SubAgentRun.js"
import type { ModelProvider } from "./model/ModelProvider.js"

/** A directory of files that define types. */
interface Root {
  readonly source: "project" | "home"
  readonly directory: string
  /** The real path that must contain the directory. */
  readonly within?: string
}

/** The largest file in bytes, and the most files of a directory. */
const longest = 128 * 1024
const mostFiles = 500

/** Reads all types, sorted by name. */
export function* scan(roots: ReadonlyArray<Root>): Yield.Steps<ReadonlyArray<AgentType.AgentType>> {
  const byName = new Map(AgentType.all.map((type) => [type.name, type]))
  const unusable: Array<AgentType.AgentType> = []
  for (const root of roots) {
    const files = namesIn(root.directory).slice(0, mostFiles + 1)
    for (const [at, file] of files.entries()) {
      const type = at < mostFiles ? read(root, file) : unusableOf(root, file, tooMany)
      if (!type.isUsable) unusable.push(type)
      else if (!byName.has(type.name)) byName.set(type.name, type)
      yield
    }
  }
  return [...byName.values(), ...unusable].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const tooMany = `only the first ${mostFiles} files are read`

/** Lists the visible markdown files of a directory, sorted. */
const namesIn = (directory: string): ReadonlyArray<string> =>
  Attempt.orElse(() => Fs.readdirSync(directory), [])
    .filter((name) => /^[^.].*\.md$/i.test(name))
    .sort()

const nameOf = (file: string): string => file.replace(/\.md$/i, "")

const unusableOf = ({ source }: Root, file: string, problem: string): AgentType.AgentType => ({
  ...AgentType.ofFile(nameOf(file), source, { fields: new Map(), text: "", problem: `it can't be used: ${problem}` }),
  isUsable: false
})

const read = (root: Root, file: string): AgentType.AgentType => {
  const { directory, source, within } = root
  const failed = (problem: string): AgentType.AgentType => unusableOf(root, file, problem)
  const real = SkillFile.realOf(directory)
  if (real === undefined) return failed("its directory is missing")
  if (within !== undefined && !HostPath.isWithin(real, within))
    return failed("its directory is a link that leads out of the project")
  return Either.match(SkillFile.read(`${directory}/${file}`, real, longest), {
    onLeft: (why) => failed(`it ${why.replace("out of the skill", "out of its directory")}`),
    onRight: ({ bytes, size }) =>
      size > longest
        ? failed(`it is larger than ${longest} bytes`)
        : AgentType.ofFile(nameOf(file), source, FrontMatter.read(bytes.toString()))
  })
}

interface Options {
  readonly app: AgentTools.MakeApp
  /** Loads the layer that finds models, with the first task. */
  readonly models: () => Promise<Layer.Layer<ModelProvider, ConfigError>>
  /** True if a provider is set, so that lists include the `task:` commands. */
  readonly isOffered: boolean
}

/** Type names of other agents, and the equivalent types here. */
const typeAliases: ReadonlyMap<string, string> = new Map([
  ["agent", "general"],
  ["general-purpose", "general"],
  ["default", "general"],
  ["plan", "explore"],
  ["research", "explore"],
  ["search", "explore"]
])

const unknownType = (type: string, known: ReadonlyArray<AgentType.AgentType>): CommandError => {
  const [, skill] = /^skill:([\w.@+-]+)$/.exec(type) ?? []
  const meant = skill === undefined ? typeAliases.get(type.toLowerCase()) : `skill --skill ${skill}`
  return UnknownCommand.make({
    command: `task:${type}`,
    kind: "type of sub-agents",
    kinds: "types of sub-agents",
    name: type,
    known: known.filter(({ isUsable }) => isUsable).map(({ name }) => name),
    toWord: (name) => `task:${UntrustedText.word(name)}`,
    advice: [
      ...(meant === undefined ? [] : [Advice.line`It is called task:${meant} -d <words> -p <prompt> here.`]),
      Advice.line`${Advice.run("task:list")} lists all types.`
    ]
  })
}

/** Runs an effect whose commands neither write to their caller nor read from it. */
const isolated = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(CommandListener.current), ({ account }) =>
    self.pipe(
      CallContext.locally({
        listener: account === undefined ? {} : { account },
        input: undefined,
        stdin: undefined,
        audience: Advice.model
      })
    )
  )

/** A layer that runs sub-agents. It loads the loop and the models with the first task. */
export const layer = ({
  app,
  isOffered,
  models
}: Options): Layer.Layer<
  SubAgentManager,
  never,
  Permission | SandboxManager | SandboxSettings | SessionSettings | SkillStore
> =>
  Layer.scoped(
    SubAgentManager,
    Effect.gen(function* () {
      const makeTools = yield* AgentTools.make(app)
      const skills = yield* SkillStore
      const { home } = yield* SandboxSettings
      const { cwd = process.cwd() } = yield* SessionSettings
      const roots: ReadonlyArray<Root> = [
        { source: "project", directory: `${cwd}/.claude/agents`, within: SkillFile.realOf(cwd) ?? cwd },
        { source: "home", directory: `${home}/agents` }
      ]
      const scope = yield* Effect.scope
      const mutex = yield* Effect.makeSemaphore(1)
      const { known, look } = yield* Lookout.make(AgentType.all, () => scan(roots))

      const find = Effect.fnUntraced(function* (name: string): Effect.fn.Return<AgentType.AgentType, CommandError> {
        const types = yield* look
        const named = types.filter((type) => type.name === name)
        const type = named.find(({ isUsable }) => isUsable)
        if (type !== undefined) return type
        const [broken] = named
        return yield* broken === undefined
          ? unknownType(name, types)
          : new InvalidUsage({ reason: `task:${name}: ${UntrustedText.line(broken.problem ?? "", 300)}.` })
      })

      /** Runs a task that ends with the layer at the latest. */
      const supervised = <A, E>(task: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.acquireUseRelease(Effect.forkIn(Effect.interruptible(task), scope), Fiber.join, Fiber.interrupt)

      /** Loads the loop once, and again after a failure. */
      let loaded: SubAgentRun | undefined
      const load = Effect.gen(function* () {
        if (loaded !== undefined) return loaded
        const [{ make }, layer] = yield* Effect.promise(() =>
          Promise.all([import("./internal/SubAgentRun.js"), models()])
        )
        loaded = yield* Scope.extend(make(layer), scope)
        return loaded
      }).pipe(
        mutex.withPermits(1),
        Effect.mapError(({ message }) => new InvalidUsage({ reason: `A setting of agents is wrong: ${message}` }))
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
        const runTask = yield* load
        const { description, maxTurns = type.maxTurns, model = type.model, prompt } = task
        const rights = { cwd: task.cwd, isReadOnly: type.isReadOnly, task: { type: name, description } }
        return yield* runTask({ model, tools: makeTools(rights), prompt, instructions, maxTurns, tell })
      })

      return SubAgentManager.of({
        isOffered,
        types: known,
        look,
        check: find,
        execute: Effect.fn("SubAgentManager.execute")((type, task) =>
          Effect.flatMap(FiberRef.get(CommandListener.current), ({ onSubAgent }) => {
            const { description } = task
            const id = crypto.randomUUID()
            const tell = (step: SubAgentStep) => onSubAgent?.({ id, type, description, step })
            return Effect.onExit(
              Effect.suspend(() => {
                tell(SubAgentStep.Started())
                return supervised(isolated(run(type, task, tell)))
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
