/**
 * Runs sub-agents in houses of their own, by the types that Synapse brings and those that files define.
 *
 * @since 0.1.0
 */

import * as Cause from "effect/Cause"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as UnknownCommand from "../command/UnknownCommand.js"
import * as SkillText from "../commands/skill/Skill.text.js"
import * as Advice from "../domain/Advice.js"
import { type CommandError, InvalidUsage, toText } from "../domain/CommandError.js"
import * as CommandInput from "../domain/CommandInput.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as Slices from "../domain/Slices.js"
import { SubAgentStep } from "../domain/SubAgentEvent.js"
import { SubAgentManager, type SubAgentTask } from "../extension/SubAgentManager.js"
import type * as FrontMatter from "../extension/skill/FrontMatter.js"
import * as SkillFile from "../extension/skill/SkillFile.js"
import { SkillStore } from "../extension/skill/SkillStore.js"
import { SandboxSettings } from "../sandbox/config/SandboxSettings.js"
import { SessionSettings } from "../session/SessionSettings.js"
import { AgentScan } from "./AgentScan.js"
import { AgentTools } from "./AgentTools.js"
import * as AgentType from "./AgentType.js"
import type { ModelProvider } from "./model/ModelProvider.js"
import type { SubAgentRun } from "./SubAgentRun.js"

/**
 * The options of the manager.
 *
 * @since 0.1.0
 * @category models
 */
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
  Effect.flatMap(FiberRef.get(CommandListener.current), ({ account }) =>
    self.pipe(
      Effect.locally(CommandListener.current, account === undefined ? {} : { account }),
      Effect.locally(CommandInput.current, undefined),
      Effect.locally(CommandInput.ofLine, undefined),
      Effect.locally(Advice.audience, Advice.model)
    )
  )

/**
 * A layer which runs sub-agents. The loop and the models are loaded with the first task.
 *
 * @since 0.1.0
 * @category layers
 */
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
      let parser: FrontMatter.Parser | undefined
      /** The time from which `types` looks again. */
      let next = 0

      const look = turn.withPermits(1)(
        Effect.flatMap(
          Effect.promise(async () => {
            if (parser === undefined && scan.hasFiles) parser = await import("yaml")
            return parser
          }),
          (parser) => Slices.run(() => scan.look(parser))
        )
      )
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
            const [{ make }, layer] = yield* Effect.promise(() => Promise.all([import("./SubAgentRun.js"), models()]))
            loaded = yield* Scope.extend(make(layer), scope)
            return loaded
          }).pipe(
            Effect.mapError((error) => new InvalidUsage({ reason: `A setting of agents is wrong: ${error.message}` }))
          )
        })
      )

      const instructionsOf = Effect.fnUntraced(function* (type: AgentType.AgentType, names: ReadonlyArray<string>) {
        const texts = yield* Effect.forEach(new Set([...type.skills, ...names]), (name) =>
          Effect.map(skills.load(name), SkillText.instructions)
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
          Effect.flatMap(FiberRef.get(CommandListener.current), ({ onSubAgent }) => {
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
