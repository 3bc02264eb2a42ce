/**
 * One attack, as a line of a table: what is run inside, what it may say, and what must be so outside afterwards.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { has } from "./Ground.js"
import { type Places, type Setup, type Shape, snapshot, World, layer as worldLayer } from "./World.js"

/** Prepared before any attack, a command that gets through says this word. */
const breach = "BREACH"

export interface Attack {
  readonly title: string
  /** Says BREACH where it got through, and nothing else that matters. */
  readonly script: string | ((places: Places) => string)
  /** What its output must say besides: that it was stopped for the right reason. */
  readonly says?: RegExp
  /** Programs that it takes; without them it is skipped, visibly. */
  readonly needs?: ReadonlyArray<string>
  /** Why it can't be tried here; visibly skipped then. */
  readonly not?: string | undefined
  /** The script does not come to its end. */
  readonly ends?: true
  /** What must be so outside besides; outside of the project nothing has changed in any case. */
  readonly after?: (world: Shape) => Effect.Effect<void> | undefined
}

const missing = ({ needs = [], not }: Pick<Attack, "needs" | "not">): string | undefined => {
  const absent = needs.filter((program) => !has(program))
  return not ?? (absent.length === 0 ? undefined : `there is no ${absent.join(", ")}`)
}

const still = ({ home, outside, secret }: Shape) => ({ home: snapshot(home), outside: snapshot(outside), secret })

/** Runs an attack and holds it to what every attack is held to. */
const run = (attack: Attack, world: Shape): Effect.Effect<void> =>
  Effect.gen(function* () {
    const before = still(world)
    const script = typeof attack.script === "string" ? attack.script : attack.script(world)
    const { stderr, stdout } = yield* world.attack(script)
    const said = `${stdout}\n${stderr}`
    assert.notInclude(said, world.secret)
    assert.notInclude(said, Buffer.from(world.secret).toString("hex"))
    assert.notInclude(said, breach)
    if (attack.ends === undefined) assert.match(stdout, /^RAN$/m)
    if (attack.says !== undefined) assert.match(said, attack.says)
    assert.deepStrictEqual(still(world), before)
    yield* attack.after?.(world) ?? Effect.void
  })

/** A test of another shape. */
export interface Scene {
  readonly title: string
  readonly needs?: ReadonlyArray<string>
  readonly not?: string | undefined
  readonly test: (world: Shape) => Effect.Effect<unknown>
}

type List = ReadonlyArray<Attack | Scene>

export type Families = Readonly<Record<string, List>>

/** Attacks, or families of them, in one sandbox, where none spoils what the next begins with. */
export const together = (ground: string, title: string, setup: Setup, all: Families | List): void =>
  layer(worldLayer(ground, setup), { excludeTestServices: true, timeout: 30_000 })(title, ({ effect }) => {
    const each = (one: Attack | Scene) => {
      const why = missing(one)
      if (why !== undefined) return it.skip(`${one.title} (${why})`)
      const test = (world: Shape) => ("script" in one ? run(one, world) : one.test(world))
      effect(one.title, () => Effect.asVoid(Effect.flatMap(World, test)))
    }
    if (isList(all)) return all.forEach(each)
    for (const [name, list] of Object.entries(all)) describe(name, () => list.forEach(each))
  })

const isList = (all: Families | List): all is List => Array.isArray(all)

/** A test of another shape, in a world of its own; skipped, visibly, for the reason that `not` gives. */
export const scene = (
  ground: string,
  title: string,
  setup: Setup,
  test: (world: Shape) => Effect.Effect<unknown>,
  not?: string
): void => {
  const why = missing({ ...setup, not })
  if (why !== undefined) return it.skip(`${title} (${why})`)
  it.live(title, () => Effect.provide(Effect.asVoid(Effect.flatMap(World, test)), worldLayer(ground, setup)), 300_000)
}
