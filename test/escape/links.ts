/** What commands leave where a later session begins: links that lead it out of what they could write. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Synapse from "../../src/Synapse.js"
import type * as SandboxSettings from "../../src/sandbox/config/SandboxSettings.js"
import * as SandboxManager from "../../src/sandbox/SandboxManager.js"
import type { Families, Scene } from "../support/escape/Attack.js"
import * as Ground from "../support/escape/Ground.js"
import { type Places, type Setup, type Shape, snapshot } from "../support/escape/World.js"

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
  /** Run in the first session, in a directory of its own. */
  readonly lay: (world: Places) => string
  /** `sub` is what has been laid. */
  readonly start: (world: Places, sub: string) => Start
}

const aside = "rmdir sub; ln -s ../../outside sub"

const traps: ReadonlyArray<Trap> = [
  {
    title: "the directory that it begins in",
    lay: () => aside,
    start: (_, sub) => ({ cwd: sub })
  },
  {
    title: "a path that is allowed",
    lay: () => aside,
    start: ({ home }, sub) => ({ cwd: home, settings: { whitelist: [sub] } })
  },
  {
    title: "a directory around the one that it begins in",
    lay: ({ outside }) => `rmdir sub; ln -s ${outside} sub`,
    start: (_, sub) => ({ cwd: `${sub}/directory` })
  },
  {
    title: "a chain of links, by the first of them",
    lay: () => "rmdir sub; mkdir a; ln -s ../../../outside a/b; ln -s a/b sub",
    start: (_, sub) => ({ cwd: sub })
  },
  {
    title: "the directory that the user's shell has entered by a link",
    lay: () => aside,
    start: ({ home, outside }, sub) => ({ cwd: outside, settings: { variables: { HOME: home, PWD: sub } } })
  },
  {
    title: "the directory for temporary files",
    lay: () => aside,
    start: ({ home }, sub) => ({ cwd: home, settings: { temporary: sub } })
  },
  {
    title: "a file that is allowed",
    lay: () => "rmdir sub; ln -s ../../outside/file sub",
    start: ({ home }, sub) => ({ cwd: home, settings: { whitelist: [sub] } })
  },
  {
    title: "a path that goes up again",
    lay: () => "rmdir sub; ln -s ../../outside/directory sub",
    start: ({ home }, sub) => ({ cwd: home, settings: { whitelist: [`${sub}/./file`] } })
  },
  {
    title: "a project that its user has moved meanwhile",
    lay: () => aside,
    start: (_, sub) => ({ cwd: sub })
  }
]

const isRefused = (world: Shape, start: Start, link: string) =>
  Effect.gen(function* () {
    const before = snapshot(world.outside)
    const next = yield* inNext(
      world,
      start,
      `echo x >${world.outside}/new; echo x >>${world.outside}/file; echo x >>${world.outside}/directory/file`
    )
    assert.deepStrictEqual(snapshot(world.outside), before)
    assert.strictEqual(next._tag, "Failure")
    const said = String(next)
    assert.include(said, `${link} is a symbolic link to ${world.outside}`)
    assert.match(said, /commands of an earlier session may have made it/)
    assert.match(said, new RegExp(`(?:--cwd|cd|allow|TMPDIR=|If) ?${world.outside}`))
  })

const works = (world: Shape, cwd: string, made = cwd) =>
  Effect.gen(function* () {
    const exit = yield* inNext(world, { cwd }, `echo x >${made}/new && rm ${made}/new && echo done`)
    assert.isTrue(exit._tag === "Success" && exit.value.stdout === "done\n", String(exit))
  })

export const ofLinks: Setup = {
  prepare: ({ base, outside, project }) => {
    for (const at of traps.keys()) Fs.mkdirSync(`${project}/${at}/sub`, { recursive: true })
    Fs.mkdirSync(`${base}/given`)
    Fs.symlinkSync(outside, `${base}/own`)
  },
  earlier: (places) =>
    [...traps.map(({ lay }, at) => `(cd ${at}; ${lay(places)})`), "mkdir real; ln -s real near"].join("\n")
}

export const links = (ground: string): Families => {
  const foreign = Ground.foreign(ground)
  return {
    "a command's link": [
      ...traps.map(
        ({ start, title }, at): Scene => ({
          title: `is not followed by ${title}`,
          test: (world) => {
            const isMoved = title.includes("moved")
            const project = isMoved ? `${world.base}/moved` : world.project
            if (isMoved) Fs.renameSync(world.project, project)
            const sub = `${project}/${at}/sub`
            return Effect.ensuring(
              isRefused(world, start(world, sub), sub),
              Effect.sync(() => isMoved && Fs.renameSync(project, world.project))
            )
          }
        })
      ),
      {
        title: "is followed where it leads nowhere else, as the user's own elsewhere, and the target by its own name",
        test: (world) =>
          Effect.gen(function* () {
            yield* works(world, `${world.project}/near`, `${world.project}/real`)
            yield* works(world, `${world.base}/own`, world.outside)
            yield* works(world, world.outside)
          })
      },
      {
        title: "is not followed where it was made with a right that was granted meanwhile",
        test: (world) =>
          Effect.gen(function* () {
            const given = `${world.base}/given`
            yield* world.execute("true")
            yield* Effect.orDie(world.manager.allow(given))
            yield* world.attack(`ln -s ../outside ${given}/sub`)
            yield* world.manager.shutdown
            const next = yield* inNext(world, { cwd: `${given}/sub` }, "echo x >new")
            assert.include(String(next), `${given}/sub is a symbolic link`)
            assert.isFalse(Fs.existsSync(`${world.outside}/new`))
          })
      },
      {
        title: "leads a session nowhere else where it is made while that one starts",
        needs: ["perl"],
        test: (world) =>
          Effect.gen(function* () {
            const sub = `${world.project}/race`
            Fs.mkdirSync(sub)
            const before = snapshot(world.outside)
            // Goes on in its sandbox until the world ends.
            yield* world.attack(
              `ln -s ../outside way; perl -e 'while (-e "README") { rename "race", "d"; rename "way", "race"; rename "race", "way"; rename "d", "race" }' >/dev/null 2>&1 &`
            )
            const starts = [{ cwd: sub }, { cwd: world.home, settings: { whitelist: [sub] } }]
            for (const start of [...starts, ...starts]) {
              yield* inNext(world, start, `echo x >${world.outside}/new; echo x >>${world.outside}/file`)
            }
            assert.deepStrictEqual(snapshot(world.outside), before)
            Fs.renameSync(`${world.project}/README`, `${world.project}/over`)
          })
      }
    ],
    "another user's directory, which can't be listed": [
      {
        title: "is neither read nor worked in where it can be written around",
        not: Fs.existsSync(foreign) ? undefined : "it takes root to make one",
        test: (world) =>
          Effect.gen(function* () {
            const own = `${foreign}/own`
            yield* works(world, own)
            const around = { whitelist: [Path.dirname(foreign)] }
            const refused = yield* inNext(world, { cwd: own, settings: around }, "echo BREACH")
            assert.match(String(refused), /foreign: it can't be searched .*; it is another user's, who could let you/)
            const beside = yield* inNext(
              world,
              { cwd: world.project, settings: around },
              `ls ${own} && echo BREACH; true`
            )
            assert.isTrue(beside._tag === "Success" && beside.value.stdout === "", String(beside))
          })
      }
    ]
  }
}
