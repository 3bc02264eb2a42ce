/** What commands leave where a later session begins: links that lead it out of what they could write. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Synapse from "../../src/Synapse.js"
import type * as SandboxSettings from "../../src/sandbox/config/SandboxSettings.js"
import * as SandboxManager from "../../src/sandbox/SandboxManager.js"
import { scene } from "../support/escape/Attack.js"
import * as Ground from "../support/escape/Ground.js"
import { type Shape, snapshot } from "../support/escape/World.js"

interface Start {
  readonly cwd: string
  readonly settings?: Partial<SandboxSettings.Settings>
}

/** Runs a command in a session of its own, of the same user. */
const inNext = ({ home, temporary }: Shape, { cwd, settings }: Start, command: string) =>
  Effect.flatMap(SandboxManager.SandboxManager, (manager) => manager.execute(command)).pipe(
    Effect.provide(
      Synapse.layer(
        { cwd, privateDirectories: [`${temporary}/synapse-${process.getuid?.()}`] },
        { sandbox: { home: `${home}/.synapse`, userHome: home, temporary, enabled: true, ...settings } }
      )
    ),
    Effect.orDie,
    Effect.exit
  )

interface Trap {
  readonly title: string
  /** Run in the first session, in the project. */
  readonly lay: (world: Shape) => string
  readonly start: (world: Shape) => Start
  /** The link that the refusal names; the project's `sub` by default. */
  readonly link?: (world: Shape) => string
  /** Done by the user in between. */
  readonly between?: (world: Shape) => void
}

const sub = ({ project }: Shape) => `${project}/sub`

const traps: ReadonlyArray<Trap> = [
  {
    title: "the directory that it begins in",
    lay: () => "rmdir sub; ln -s ../outside sub",
    start: (world) => ({ cwd: sub(world) })
  },
  {
    title: "a path that is allowed",
    lay: () => "rmdir sub; ln -s ../outside sub",
    start: (world) => ({ cwd: world.home, settings: { whitelist: [sub(world)] } })
  },
  {
    title: "a directory around the one that it begins in",
    lay: ({ outside }) => `rmdir sub; ln -s ${outside} sub`,
    start: (world) => ({ cwd: `${sub(world)}/directory` })
  },
  {
    title: "a chain of links, by the first of them",
    lay: () => "rmdir sub; mkdir a; ln -s ../../outside a/b; ln -s a/b sub",
    start: (world) => ({ cwd: sub(world) })
  },
  {
    title: "the directory that the user's shell has entered by a link",
    lay: () => "rmdir sub; ln -s ../outside sub",
    start: (world) => ({ cwd: world.outside, settings: { variables: { HOME: world.home, PWD: sub(world) } } })
  },
  {
    title: "the directory for temporary files",
    lay: () => "rmdir sub; ln -s ../outside sub",
    start: (world) => ({ cwd: world.home, settings: { temporary: sub(world) } })
  },
  {
    title: "a project that its user has moved meanwhile",
    lay: () => "rmdir sub; ln -s ../outside sub",
    between: ({ base, project }) => Fs.renameSync(project, `${base}/moved`),
    link: ({ base }) => `${base}/moved/sub`,
    start: ({ base }) => ({ cwd: `${base}/moved/sub` })
  },
  {
    title: "a file that is allowed",
    lay: () => "rmdir sub; ln -s ../outside/file sub",
    start: (world) => ({ cwd: world.home, settings: { whitelist: [sub(world)] } })
  },
  {
    title: "a path that goes up again",
    lay: () => "rmdir sub; ln -s ../outside/directory sub",
    start: (world) => ({ cwd: world.home, settings: { whitelist: [`${sub(world)}/./file`] } })
  }
]

export const links = (ground: string): void => {
  for (const { between, lay, link = sub, start, title } of traps) {
    scene(ground, `a command's link is not followed by ${title}`, {}, (world) =>
      Effect.gen(function* () {
        Fs.mkdirSync(sub(world))
        const laid = yield* world.attack(lay(world))
        assert.match(laid.stdout, /^RAN$/m)
        yield* world.manager.shutdown
        between?.(world)
        const before = snapshot(world.outside)
        const next = yield* inNext(
          world,
          start(world),
          `echo x >${world.outside}/new; echo x >>${world.outside}/file; echo x >>${world.outside}/directory/file`
        )
        assert.deepStrictEqual(snapshot(world.outside), before)
        assert.strictEqual(next._tag, "Failure")
        const said = String(next)
        assert.include(said, `${link(world)} is a symbolic link to ${world.outside}`)
        assert.match(said, /commands of an earlier session may have made it/)
        assert.match(said, new RegExp(`(?:--cwd|cd|allow|TMPDIR=|If) ?${world.outside}`))
      })
    )
  }

  scene(
    ground,
    "a link that leads nowhere else, the user's own link elsewhere, and the target's own name work",
    {},
    (world) =>
      Effect.gen(function* () {
        const { base, outside, project } = world
        yield* world.attack("mkdir real; ln -s real near; ln -s ../outside far")
        yield* world.manager.shutdown
        Fs.symlinkSync(outside, `${base}/own`)
        for (const [cwd, made] of [
          [`${project}/near`, `${project}/real`],
          [`${base}/own`, outside],
          [outside, outside]
        ] as const) {
          const exit = yield* inNext(world, { cwd }, `echo x >${made}/new && rm ${made}/new && echo done`)
          assert.isTrue(exit._tag === "Success" && exit.value.stdout === "done\n", String(exit))
        }
        Fs.unlinkSync(`${base}/own`)
      })
  )

  const foreign = Ground.foreign(ground)
  scene(
    ground,
    "another user's directory, which can't be listed, is neither read nor worked in where it can be written around",
    {},
    (world) =>
      Effect.gen(function* () {
        const own = `${foreign}/own`
        const there = yield* inNext(world, { cwd: own }, "echo x >new && rm new && echo done")
        assert.isTrue(there._tag === "Success" && there.value.stdout === "done\n", String(there))
        const around = { whitelist: [Path.dirname(foreign)] }
        const refused = yield* inNext(world, { cwd: own, settings: around }, "echo BREACH")
        assert.match(String(refused), /foreign: it can't be searched .*; it is another user's, who could let you/)
        const beside = yield* inNext(world, { cwd: world.project, settings: around }, `ls ${own} && echo BREACH; true`)
        assert.isTrue(beside._tag === "Success" && beside.value.stdout === "", String(beside))
      }),
    Fs.existsSync(foreign) ? undefined : "it takes root to make one"
  )

  scene(ground, "a link made while it starts leads a session nowhere else", { needs: ["perl"] }, (world) =>
    Effect.gen(function* () {
      Fs.mkdirSync(sub(world))
      const before = snapshot(world.outside)
      // Goes on in its sandbox until the world ends.
      yield* world.attack(
        `ln -s ../outside way; perl -e 'while (-e "README") { rename "sub", "d"; rename "way", "sub"; rename "sub", "way"; rename "d", "sub" }' >/dev/null 2>&1 &`
      )
      for (let round = 0; round < 2; round++) {
        for (const start of [{ cwd: sub(world) }, { cwd: world.home, settings: { whitelist: [sub(world)] } }]) {
          yield* inNext(world, start, `echo x >${world.outside}/new; echo x >>${world.outside}/file`)
        }
      }
      assert.deepStrictEqual(snapshot(world.outside), before)
      Fs.renameSync(`${world.project}/README`, `${world.project}/over`)
    })
  )

  scene(ground, "a right that was granted while it ran is remembered as well", {}, (world) =>
    Effect.gen(function* () {
      const given = Path.join(world.base, "given")
      Fs.mkdirSync(given)
      yield* world.execute("true")
      yield* Effect.orDie(world.manager.allow(given))
      yield* world.attack(`ln -s ../outside ${given}/sub`)
      yield* world.manager.shutdown
      const next = yield* inNext(world, { cwd: `${given}/sub` }, "echo x >new")
      assert.include(String(next), `${given}/sub is a symbolic link`)
      assert.isFalse(Fs.existsSync(`${world.outside}/new`))
    })
  )
}
