/** Finds skills in `$SYNAPSE_HOME/skills`, and in `.agents/skills` and `.claude/skills` of the working directory. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Slices from "../../domain/Slices.js"
import { SandboxSettings } from "../../sandbox/config/SandboxSettings.js"
import { SessionSettings } from "../../session/SessionSettings.js"
import type * as FrontMatter from "./FrontMatter.js"
import * as Interpreter from "./internal/Interpreter.js"
import * as SkillFile from "./SkillFile.js"
import * as SkillScan from "./SkillScan.js"
import { SkillStore } from "./SkillStore.js"
import * as UnknownSkill from "./UnknownSkill.js"

/** The directories of skills, below the working directory, of the project. */
export const projectDirectories: ReadonlyArray<string> = [".agents/skills", ".claude/skills"]

/**
 * Returns the directory of the user's own skills.
 *
 * @param home the directory of Synapse's own files
 */
export const homeDirectory = (home: string): string => `${home}/skills`

/** Milliseconds that nobody looks again after a look, and how many times longer than it took: it never matters. */
const pause = { least: 1000, times: 50 }

/** A layer which finds skills on this machine. It looks for them when it is first asked. */
export const layer: Layer.Layer<SkillStore, never, SandboxSettings | SessionSettings> = Layer.scoped(
  SkillStore,
  Effect.gen(function* () {
    const { home } = yield* SandboxSettings
    const { cwd = process.cwd() } = yield* SessionSettings
    const within = SkillFile.realOf(cwd) ?? cwd
    const scan = new SkillScan.SkillScan([
      ...projectDirectories.map((path) => ({ source: "project" as const, directory: `${cwd}/${path}`, within })),
      { source: "home", directory: homeDirectory(home) }
    ])
    const turn = yield* Effect.makeSemaphore(1)
    let parser: FrontMatter.Parser | undefined
    const scope = yield* Effect.scope
    const runtime = yield* Effect.runtime()
    /** The time from which `known` looks again. */
    let next = 0

    const parsing = Effect.promise(async () => {
      parser ??= await import("yaml")
      return parser
    })
    const list = turn.withPermits(1)(Effect.flatMap(parsing, (parser) => Slices.run(() => scan.look(parser))))
    /** Looks without the parser, which takes longer to load than there are skills to read for most. */
    const glance = turn.withPermits(1)(Slices.run(() => scan.look(parser)))
    const refresh = Effect.suspend(() => {
      const began = performance.now()
      return Effect.ensuring(
        Effect.flatMap(glance, ({ length }) => (length > 0 && parser === undefined ? list : Effect.void)),
        Effect.sync(() => {
          const now = performance.now()
          next = now + Math.max(pause.least, (now - began) * pause.times)
        })
      )
    })
    const find = Effect.fn("SkillStore.find")(function* (name: string) {
      const skill = scan.one(name, yield* parsing)
      return skill ?? (yield* UnknownSkill.make(name, yield* list))
    })

    return SkillStore.of({
      list,
      find,
      load: Effect.fn("SkillStore.load")(function* (name) {
        const skill = yield* find(name)
        const text = scan.instructions(skill)
        if (Either.isRight(text)) return { skill, text: text.right }
        return yield* UnknownSkill.unusable(skill, text.left)
      }),
      program: ({ directory }, { path }, args) =>
        Interpreter.programOf(path, SkillFile.realOf(directory) ?? directory, args),
      known: () => {
        if (performance.now() >= next) {
          next = Number.POSITIVE_INFINITY
          Runtime.runFork(runtime)(refresh, { scope })
        }
        return scan.found
      }
    })
  })
)
