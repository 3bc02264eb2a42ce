/** What has come up must be a sandbox in which all is masked, or no command runs in it. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Synapse from "../../../../src/Synapse.js"
import { SandboxManager } from "../../../../src/sandbox/SandboxManager.js"
import * as Directory from "../../../support/sandbox/Directory.js"

/** A project, and programs that come before the system's: these are not on the PATH. */
const inProject = (
  programs: Readonly<Record<string, (project: string) => string>>,
  use: (project: string) => Effect.Effect<void, unknown, SandboxManager>,
  place = "",
  allowed: (project: string) => ReadonlyArray<string> = () => []
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const project = yield* Directory.make
      const bin = yield* Directory.make
      for (const [name, text] of Object.entries(programs)) {
        Fs.writeFileSync(`${bin}/${name}`, `#!/bin/bash\n${text(project)}\n`, { mode: 0o755 })
      }
      if (!("bwrap" in programs)) Fs.symlinkSync("/usr/bin/bwrap", `${bin}/bwrap`)
      const home = yield* Directory.make
      // Not a place that is writable within: programs from there are not taken.
      const sandbox = { home, temporary: project, enabled: true, whitelist: allowed(project) }
      const environment = { PATH: bin }
      const cwd = `${project}${place}`
      Fs.mkdirSync(cwd, { recursive: true })
      yield* Effect.provide(use(project), Synapse.layer({ cwd, environment }, { sandbox }))
    })
  )

const execute = (command: string) => Effect.flatMap(SandboxManager, (manager) => manager.execute(command))

const hasBubblewrap = Fs.existsSync("/usr/bin/bwrap")

describe.skipIf(process.platform !== "linux" || !hasBubblewrap)("a sandbox that has come up", () => {
  it.live(
    "masks what was moved while it started, before its first command",
    () =>
      inProject(
        { mount: (project) => `/bin/mv ${project}/a ${project}/b 2>/dev/null; exec /usr/bin/mount "$@"` },
        (project) =>
          Effect.gen(function* () {
            Fs.mkdirSync(`${project}/a`)
            Fs.writeFileSync(`${project}/a/.env`, "SECRET\n")
            const seen = yield* execute("PATH=/usr/bin:/bin; cat */.e*v; ls")
            assert.strictEqual(seen.stdout, "b\n")
            assert.include(seen.stderr, "b/.env: Permission denied")
          })
      ),
    60_000
  )

  for (const [name, target] of Object.entries({ out: "/etc", "within what may be written": "y" })) {
    it.live(
      `runs nothing where a link has come to the place of its directory while it started, and leads ${name}`,
      () =>
        inProject(
          {
            mount: (project) =>
              `/bin/mkdir -p ${project}/y; /bin/mv ${project}/x ${project}/z 2>/dev/null && /bin/ln -s ${target} ${project}/x; exec /usr/bin/mount "$@"`
          },
          (project) =>
            Effect.gen(function* () {
              const error = yield* Effect.flip(execute("PATH=/usr/bin:/bin; touch ran"))
              assert.include(String(error), `${project}/x was replaced, or a link led there`)
              assert.deepStrictEqual(Directory.list(project), ["x", "y", "z"])
              assert.deepStrictEqual(Directory.list(`${project}/y`), [])
            }),
          "/x"
        ),
      60_000
    )
  }

  it.live(
    "runs nothing where a directory that is allowed has come while it started, with whatever is in it",
    () => {
      // A start on trial is tried again, and then the next one comes.
      const late = (project: string) => Array.from({ length: 8 }, (_, at) => `${project}-${at}`)
      return inProject(
        {
          mount: (project) =>
            `for d in ${late(project).join(" ")}; do [[ -d $d ]] || { /bin/mkdir $d; break; }; done; exec /usr/bin/mount "$@"`
        },
        (project) =>
          Effect.gen(function* () {
            const error = yield* Effect.flip(execute(`echo > ${project}/ran`))
            assert.match(String(error), /-\d was replaced, or a link led there/)
            assert.deepStrictEqual(Directory.list(project), [])
          }).pipe(
            Effect.ensuring(
              Effect.sync(() => {
                for (const path of late(project)) Fs.rmSync(path, { recursive: true, force: true })
              })
            )
          ),
        "",
        late
      )
    },
    60_000
  )

  for (const [name, text] of Object.entries({
    "runs the shell without one": 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
    "makes another than it was told to":
      'while [ "$1" != -- ]; do shift; done; shift; exec /usr/bin/bwrap --dev-bind / / -- "$@"',
    "leaves out the filter for system calls":
      `while IFS= read -r -d '' word; do if [[ $word == --seccomp ]]; then read -r -d ''; else words+=("$word"); fi; done <&8; ` +
      'shift 2; exec /usr/bin/bwrap "${words[@]}" "$@"',
    "lets more be written":
      "while IFS= read -r -d '' word; do words+=(\"$word\"); done <&8; " +
      'shift 2; exec /usr/bin/bwrap "${words[@]}" --bind AROUND AROUND "$@"'
  })) {
    it.live(
      `runs nothing where a bwrap ${name}`,
      () =>
        inProject({ bwrap: (project) => text.replaceAll("AROUND", Path.dirname(project)) }, (project) =>
          Effect.gen(function* () {
            const error = yield* Effect.flip(execute(`echo > ${project}/ran`))
            assert.deepStrictEqual([error._tag, "kind" in error && error.kind], ["ExecutionFailed", "sandbox"])
            assert.deepStrictEqual(Directory.list(project), [])
          })
        ),
      60_000
    )
  }

  it.live(
    "hides a directory whole that holds more secrets than can be masked",
    () =>
      inProject({}, (project) =>
        Effect.gen(function* () {
          for (let n = 0; n < 4100; n++) {
            Fs.mkdirSync(`${project}/many/d${n}`, { recursive: true })
            Fs.writeFileSync(`${project}/many/d${n}/.env`, "SECRET\n")
          }
          const seen = yield* execute(
            "PATH=/usr/bin:/bin; cat many/d7/.e*; cat many/d*/.e*; echo x > made; rm -rf many"
          )
          assert.strictEqual(seen.stdout, "")
          assert.include(seen.stderr, "Permission denied")
          assert.isTrue(Fs.existsSync(`${project}/made`))
          assert.strictEqual(Fs.readFileSync(`${project}/many/d7/.env`, "utf8"), "SECRET\n")
        })
      ),
    60_000
  )
})
