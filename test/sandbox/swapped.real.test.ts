/** What a person has allowed is not what a command puts in its place: while the question is open, and afterwards. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { make } from "../../src/promise.js"
import { isSandboxed } from "../support/sandbox/Bubblewrap.js"
import * as Temporary from "../support/Temporary.js"

type Answer = "allow_once" | "allow_session"

/** Runs commands in a project with two secrets, below a home with a third; only the first may be read. */
const inProject = (
  answer: Answer,
  whileAsked: (project: string, home: string) => void,
  use: (run: (command: string, restart?: boolean) => Promise<string>, project: string, home: string) => Promise<void>
) =>
  Temporary.using(async (home) => {
    const project = path.join(home, "work")
    const secrets = { ".ssh/id": "PRIVATE", "work/a/.env": "FIRST", "work/b/.env": "SECOND" }
    for (const [name, text] of Object.entries(secrets)) {
      fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true })
      fs.writeFileSync(path.join(home, name), text)
    }
    const synapse = await make({
      cwd: project,
      sandbox: { home: path.join(home, ".synapse"), deny: [path.join(home, ".ssh")] },
      onPermission: async ({ resource }) => {
        if (resource !== path.join(project, "a/.env")) return "deny"
        whileAsked(project, home)
        return answer
      }
    })
    let id = 0
    try {
      await use(
        async (command, restart = false) => {
          const call = { id: String(id++), name: "Bash", arguments: JSON.stringify({ command, restart }) }
          return (await synapse.handle(call)).output
        },
        project,
        home
      )
    } finally {
      await synapse.dispose()
    }
  })

/** Ways to put something else in the place of `a/.env`. */
const swaps: Readonly<Record<string, (project: string, home: string) => string>> = {
  "a link to another secret": () => "mv a a0; mkdir a; ln -s ../b/.env a/.env",
  "a link to a directory that holds one": (_, home) => `mv a a0; mkdir a; ln -s '${home}/.ssh' a/.env`,
  "a link to all that holds them": (_, home) => `mv a a0; mkdir a; ln -s '${home}' a/.env`,
  "a link in place of its directory": () => "mv a a0; ln -s b a",
  "another directory": () => "mv a a0; mv b a"
}

const readAll = (project: string, home: string) =>
  `for f in '${home}'/.ss?/id b/.e?v a/.e?v a0/.e?v; do head -c 20 "$f"; done 2>/dev/null; tail -c 99 '${project}'/a/.e*/id`

describe.skipIf(!isSandboxed)("what was allowed", () => {
  for (const [name, swap] of Object.entries(swaps)) {
    for (const answer of ["allow_once", "allow_session"] as const) {
      it(`is not ${name} that came while the question was open (${answer})`, () =>
        inProject(
          answer,
          (project, home) => {
            // As another process would; what is masked is no place of it.
            const moves = swap(project, home).split("; ")
            for (const move of moves) {
              const [program = "", ...words] = move.replaceAll("'", "").split(" ")
              const at = words.filter((word) => !word.startsWith("-")).map((word) => path.resolve(project, word))
              const [from = "", to = ""] = at
              if (program === "mkdir") fs.mkdirSync(from)
              else if (program === "mv") fs.renameSync(from, to)
              else fs.symlinkSync(words[1] ?? "", to)
            }
          },
          async (run, project, home) => {
            const shown = [await run("cat a/.env"), await run(readAll(project, home))].join("\n")
            assert.notMatch(shown, /PRIVATE|SECOND/)
            assert.match(await run("echo on"), /^on$/m)
          }
        ))
    }
    it(`is not ${name} that came afterwards, in a later sandbox`, () =>
      inProject(
        "allow_session",
        () => {},
        async (run, project, home) => {
          assert.strictEqual(await run("cat a/.env"), "FIRST")
          await run(swap(project, home))
          assert.match(await run("echo on", true), /^on$/m)
          assert.notMatch(await run(readAll(project, home)), /PRIVATE|SECOND/)
        }
      ))
  }
})
