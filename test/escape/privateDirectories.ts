/** The places for private files of other sessions, below what this session may write. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PrivateDirectory from "../../src/session/PrivateDirectory.js"
import { type Attack, scene, together } from "../support/escape/Attack.js"
import { type Places, type Setup, type Shape, write } from "../support/escape/World.js"

const inHome = ({ project }: Places) => `${project}/.synapse/run`
const inLogin = ({ project }: Places) => `${project}/login/synapse`
const inTemporary = ({ base, temporary }: Places) => `${temporary}/${Path.basename(base)}`

const all = (places: Places) => [inHome(places), inLogin(places), inTemporary(places)]

const setup: Setup = {
  prepare: ({ project }) => Fs.mkdirSync(`${project}/login`),
  // In a directory of their own, commands come to no place of a session.
  sharesTemporary: true,
  privateDirectories: all
}

const isAsMade = (world: Shape) =>
  Effect.sync(() => {
    for (const place of all(world)) {
      const made = Fs.lstatSync(place)
      assert.isTrue(made.isDirectory(), place)
      assert.strictEqual(made.mode & 0o777, 0o700)
      assert.isTrue(Fs.readdirSync(place).every((name) => /^(hold|session|sandbox)-/.test(name)))
    }
    assert.deepStrictEqual(Fs.readdirSync(`${world.project}/.synapse`), ["run"])
  })

const attacks: ReadonlyArray<Attack> = (
  [
    [
      "writing there beforehand",
      "touch P/x && echo BREACH; mkdir -p P/sandbox-1/placeholders && echo BREACH; ln -s /etc P/etc && echo BREACH; mkfifo P/f && echo BREACH"
    ],
    [
      "renaming and removing them",
      "mv P P.gone && echo BREACH; rmdir P && echo BREACH; rm -rf P && echo BREACH; mv -T P/.. P.gone && echo BREACH"
    ],
    [
      "renaming and removing the directories around them",
      "d=$(dirname P); case $d in */tmp) ;; *) mv $d $d.gone && echo BREACH; rm -rf $d; rmdir $d && echo BREACH; mkdir $d.2; mv -T $d.2 $d && echo BREACH; rmdir $d.2;; esac"
    ],
    [
      "putting others in their place",
      'mkdir P.own; mv -T P.own P && echo BREACH; ln -sfnT P.own P && echo BREACH; python3 -c \'import os; os.rename("P.own", "P")\' && echo BREACH; rmdir P.own'
    ],
    [
      "changing who may enter",
      "chmod 777 P && echo BREACH; chmod 777 P/.. ; chmod u+s P && echo BREACH; chmod 700 P/.."
    ],
    ["looking", 'test "$(ls -A P)" = "" || { ls -A P; echo BREACH; }']
  ] as const
).map(([title, script]) => ({
  title,
  script: (places) =>
    all(places)
      .flatMap((place) => script.replaceAll("P", place).split("\n"))
      .join("\n"),
  after: isAsMade
}))

const settings: Attack = {
  title: "settings that another session would take",
  script: ({ project }) =>
    `echo '{"enabled":false}' >${project}/.synapse/sandbox.json && echo BREACH; mkdir ${project}/.synapse/index && echo BREACH; true`,
  says: /Read-only file system/,
  after: isAsMade
}

export const privateDirectories = (ground: string): void =>
  together(ground, "private directories", setup, {
    "the places of other sessions": [...attacks, settings],
    "another session's private directory": [
      {
        title: "is not to be seen by one that runs already, nor once a third has ended",
        test: (world) =>
          Effect.gen(function* () {
            yield* world.execute("true")
            for (const place of all(world)) {
              const made = PrivateDirectory.make([place])
              Fs.writeFileSync(`${made}/command`, world.secret)
              ChildProcess.execFileSync("mkfifo", [`${made}/state`])
              const reader = Fs.openSync(`${made}/state`, Fs.constants.O_RDONLY | Fs.constants.O_NONBLOCK)
              const seen = yield* world.attack(
                `cat ${made}/*; echo x >${made}/command; timeout 2 sh -c 'echo x >${made}/state'; ls -A ${place} | sed s/^/BREACH/; rm -rf ${made}`
              )
              assert.notMatch(JSON.stringify(seen), new RegExp(`${world.secret}|BREACH`))
              assert.strictEqual(Fs.readFileSync(`${made}/command`, "utf8"), world.secret)
              assert.strictEqual(Fs.readSync(reader, Buffer.alloc(10)), 0)
              Fs.closeSync(reader)
              // As a session does at its end.
              Fs.rmSync(made, { recursive: true })
              assert.throws(() => Fs.rmdirSync(place))
              const next = yield* world.attack(`mkdir ${place} && echo BREACH; mkdir ${place}/x && echo BREACH; true`)
              assert.notInclude(JSON.stringify(next), "BREACH")
            }
            yield* world.manager.shutdown
            assert.deepStrictEqual(
              all(world).filter((place) => Fs.existsSync(place)),
              []
            )
          })
      }
    ]
  })

export const hiddenPrivateDirectory = (ground: string): void =>
  scene(
    ground,
    "another session's private directory is hidden where a rule hides what lies around it, and the session's own works",
    {
      prepare: ({ mark, secret, temporary }) => write(`${temporary}/${mark}`, secret),
      blacklist: ({ temporary }) => [temporary]
    },
    (world) =>
      Effect.gen(function* () {
        const { mark, temporary } = world
        const seen = yield* world.attack(
          `cat ${temporary}/${mark} && echo BREACH; echo x >${temporary}/x && echo BREACH`
        )
        assert.match(seen.stdout, /^RAN$/m)
        assert.notMatch(JSON.stringify(seen), new RegExp(`${world.secret}|BREACH`))
        assert.deepStrictEqual(Fs.existsSync(`${temporary}/x`), false)
      }).pipe(Effect.ensuring(Effect.sync(() => Fs.rmSync(`${world.temporary}/${world.mark}`))))
  )
