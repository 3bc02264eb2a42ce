/**
 * What holds in every sandbox, whoever starts it and however it is built.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Launch from "../../../../src/sandbox/platform/linux/start/Launch.js"
import { effect, rule, type Setup } from "../../../support/sandbox/Sandboxed.js"

const write = (path: string, text = "secret\n") => {
  Fs.mkdirSync(Path.dirname(path), { recursive: true })
  Fs.writeFileSync(path, text)
}

const globs = { policy: () => ({ blacklist: [rule("/**/.env"), rule("/**/private")] }) }

export const sandboxed = (title: string, level: Launch.Level | undefined): void => {
  const options = level === undefined ? {} : { level }
  const test = (name: string, setup: Setup, run: Parameters<typeof effect>[2]) =>
    effect(name, { ...setup, options: { ...options, ...setup.options } }, run)

  describe(title, () => {
    test("writes where it may, and reads elsewhere", {}, ({ project, run }) =>
      Effect.gen(function* () {
        const said = yield* run(
          "echo text > made; cat made; echo x > /etc/made; head -c4 /etc/passwd; pwd; echo $HOME >/dev/null"
        )
        assert.deepStrictEqual(said.stdout, `text\nroot${project}\n`)
        assert.match(said.stderr, /^[^\n]*\/etc\/made: Read-only file system\n$/)
        assert.strictEqual(Fs.readFileSync(Path.join(project, "made"), "utf8"), "text\n")
      })
    )

    test(
      "masks files and directories: neither read, written, renamed, removed nor linked",
      {
        ...globs,
        prepare: ({ project }) => {
          write(`${project}/a/.env`)
          write(`${project}/node_modules/.hidden/.env`)
          write(`${project}/b/private/key`)
        }
      },
      ({ project, run, wrapped }) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(
            wrapped.masks.map(({ kind, path, rule }) => [Path.relative(project, path), kind, rule.pattern]).sort(),
            [
              ["a/.env", "file", "/**/.env"],
              ["b/private", "directory", "/**/private"],
              ["node_modules/.hidden/.env", "file", "/**/.env"]
            ]
          )
          const attempts = [
            ["cat a/.env", "Permission denied"],
            ["cat < node_modules/.hidden/.env", "Permission denied"],
            ["echo x > a/.env", "Read-only file system|Permission denied"],
            ["chmod 600 a/.env", "Read-only file system"],
            ["rm -f a/.env", "Device or resource busy"],
            ["mv a/.env a/env", "Device or resource busy"],
            ["ln a/.env a/env", "Invalid cross-device link|Operation not permitted"],
            ["mv b/private b/public", "Device or resource busy"],
            ["ls b/private", "Permission denied"],
            ["cat b/private/key", "Permission denied"],
            ["touch b/private/new", "Permission denied"],
            ["chmod 700 b/private", "Read-only file system"],
            ["umount a/.env", "."]
          ] as const
          for (const [command, expected] of attempts) {
            const { code, stderr, stdout } = yield* run(command)
            assert.deepStrictEqual([command, stdout], [command, ""])
            assert.notStrictEqual(code, 0)
            assert.match(stderr, new RegExp(expected))
          }
          // The directory around it may be renamed: the mask goes with it.
          const moved = yield* run("mv a a2 && cat a2/.env")
          assert.match(moved.stderr, /^cat: a2\/\.env: Permission denied/)
          assert.strictEqual(Fs.readFileSync(`${project}/a2/.env`, "utf8"), "secret\n")
        })
    )

    test(
      "masks what a rule leads to by links, and nothing that is not there",
      {
        prepare: ({ project }) => {
          write(`${project}/real/file`)
          write(`${project}/other/dev.env`)
          Fs.symlinkSync("real", `${project}/link`)
          Fs.symlinkSync("../other/dev.env", `${project}/real/.env`)
          Fs.symlinkSync("nowhere", `${project}/dangling`)
          Fs.symlinkSync("loop", `${project}/loop`)
          Fs.mkdirSync(`${project}/trap`)
          Fs.symlinkSync("..", `${project}/trap/.env`)
        },
        policy: ({ project }) => ({
          blacklist: [
            rule(`${project}/link/file`),
            rule("/**/.env"),
            ...["dangling", "loop", "missing", "missing/deeper"].map((name) => rule(`${project}/${name}`))
          ]
        })
      },
      ({ project, run, wrapped }) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(wrapped.masks.map((mask) => Path.relative(project, mask.path)).sort(), [
            "other/dev.env",
            "real/file"
          ])
          const said = yield* run("cat link/file; cat real/file; cat real/.env; cat other/dev.env; ls -A")
          assert.strictEqual(said.stdout, "dangling\nlink\nloop\nother\nreal\ntrap\n")
          assert.strictEqual(said.stderr.match(/Permission denied/g)?.length, 4)
          assert.deepStrictEqual(Fs.readdirSync(project).sort(), ["dangling", "link", "loop", "other", "real", "trap"])
        })
    )

    test(
      "masks the other names of a file, also of one in a masked directory",
      {
        prepare: ({ project }) => {
          write(`${project}/.env`)
          write(`${project}/private/key`)
          write(`${project}/plain`, "plain\n")
          Fs.linkSync(`${project}/.env`, `${project}/innocent`)
          Fs.linkSync(`${project}/private/key`, `${project}/harmless`)
          Fs.linkSync(`${project}/plain`, `${project}/plain2`)
        },
        ...globs
      },
      ({ run }) =>
        Effect.gen(function* () {
          const said = yield* run("cat innocent; cat harmless; cat plain2")
          assert.strictEqual(said.stdout, "plain\n")
          assert.strictEqual(said.stderr.match(/Permission denied/g)?.length, 2)
        })
    )

    test(
      "keeps the names of the directories above a rule, and lets files move between them",
      {
        prepare: ({ project }) => {
          write(`${project}/pkg/conf/key`)
          write(`${project}/pkg/conf/other`)
        },
        policy: ({ project }) => ({ blacklist: [rule(`${project}/pkg/conf/key`), rule(`${project}/pkg/conf/later`)] })
      },
      ({ run }) =>
        Effect.gen(function* () {
          const said = yield* run(
            "mv pkg/conf/other o2 && ln o2 pkg/o3; mv pkg p2; mv pkg/conf c2; rm -rf pkg/conf; cat pkg/conf/key; ls . pkg"
          )
          assert.strictEqual(said.stderr.match(/Device or resource busy/g)?.length, 3)
          assert.match(said.stderr, /key: Permission denied/)
          assert.strictEqual(said.stdout, ".:\no2\npkg\n\npkg:\nconf\no3\n")
        })
    )

    test(
      "copes with any name",
      {
        prepare: ({ project }) => {
          for (const name of names) write(`${project}/${name}/.env`)
        },
        ...globs
      },
      ({ run, wrapped }) =>
        Effect.gen(function* () {
          assert.strictEqual(wrapped.masks.length, names.length)
          const said = yield* run("cat -- */.env")
          assert.deepStrictEqual(said.stdout, "")
          assert.strictEqual(said.stderr.match(/Permission denied/g)?.length, names.length)
        })
    )

    test(
      "keeps read-only what the policy protects, there or not",
      {
        prepare: ({ project }) => write(`${project}/own/policy.json`, "{}"),
        policy: ({ project }) => ({
          readonly: [rule(`${project}/own/policy.json`, "own"), rule(`${project}/home/sandbox.json`, "own")]
        })
      },
      ({ project, run }) =>
        Effect.gen(function* () {
          const said = yield* run(
            "cat own/policy.json; echo x > own/policy.json; mv own o2; echo x > home/sandbox.json; mv home h2"
          )
          assert.strictEqual(said.stdout, "{}")
          assert.strictEqual(said.stderr.match(/Read-only file system|Device or resource busy/g)?.length, 4)
          assert.deepStrictEqual(Fs.readdirSync(`${project}/home`), [])
        })
    )

    test(
      "lets through what was granted against a rule, and nothing beside it",
      {
        prepare: ({ project }) => {
          write(`${project}/private/config`, "config\n")
          write(`${project}/private/key`)
          write(`${project}/.env`, "granted\n")
        },
        policy: ({ project }) => ({
          ...globs.policy(),
          granted: [rule(`${project}/private/config`), rule(`${project}/.env`)]
        })
      },
      ({ run }) =>
        Effect.gen(function* () {
          const said = yield* run("cat .env private/config; cat private/key; touch private/new; chmod 777 private")
          assert.strictEqual(said.stdout, "granted\nconfig\n")
          assert.match(said.stderr, /key: No such file.*\n.*new'?: (Read-only|Permission).*\n.*private'?: Read-only/)
        })
    )

    test(
      "hides what a rule names in a directory that only its owner could open",
      {
        prepare: ({ project }) => {
          write(`${project}/closed/key`)
          Fs.chmodSync(`${project}/closed`, 0)
        },
        policy: ({ project }) => ({ blacklist: [rule(`${project}/closed/key`)] })
      },
      ({ project, run }) =>
        Effect.gen(function* () {
          const { stderr, stdout } = yield* run("chmod 700 closed; cat closed/key")
          assert.strictEqual(stdout, "")
          assert.match(stderr, /Permission denied|Read-only/)
        }).pipe(Effect.ensuring(Effect.sync(() => Fs.chmodSync(`${project}/closed`, 0o700))))
    )

    test(
      "refuses a whitelisted link that leads out of what is writable",
      {
        prepare: ({ project }) => Fs.symlinkSync("/etc", `${project}/out`),
        policy: ({ project }) => ({
          whitelist: [rule(project, "cwd"), { ...rule(`${project}/out`), real: "/etc" }, rule(`${project}/not/there`)]
        })
      },
      ({ project, run, wrapped }) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(
            wrapped.layout.refused.map((one) => one.path),
            [`${project}/out`]
          )
          const said = yield* run("echo x > out/made")
          assert.match(said.stderr, /Read-only file system/)
        })
    )
  })
}

const names = [
  "a b",
  "quote'\"",
  "new\nline",
  "tab\t",
  "star*[x]?",
  "back\\slash",
  "\\040",
  "#hash",
  "ünï",
  "-dash",
  "\u00a0",
  "a,b=c"
]
